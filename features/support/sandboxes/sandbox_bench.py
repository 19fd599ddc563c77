"""A project, sandboxes of it, and an agent at work in them: what the sandbox features stand on."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from behave.runner import Context
from features.support.commands import spelled_out
from features.support.sandboxes.databases import NOBODY
from features.support.world import World
from msgspec.structs import replace

from cleveragents.application.ports.sandboxes import LockedSandbox
from cleveragents.domain.errors import CleverAgentsError
from cleveragents.domain.sandboxes.sandbox import (
    ProjectFacts,
    Resource,
    RestoreReport,
    SandboxCheckpoint,
    SandboxRef,
)
from cleveragents.infrastructure.sandbox.checkpoint import CheckpointManager
from cleveragents.infrastructure.sandbox.create.worktree import WorktreeSandboxes
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.store.limits import Limits
from cleveragents.infrastructure.system import SystemClock
from cleveragents.testing.sample_records import resource
from cleveragents.testing.trees import Tree, differing, read_tree
from cleveragents.testing.workspace import single_acts

IDENTITY = {
    "GIT_AUTHOR_NAME": "Somebody",
    "GIT_AUTHOR_EMAIL": "somebody@example.invalid",
    "GIT_COMMITTER_NAME": "Somebody",
    "GIT_COMMITTER_EMAIL": "somebody@example.invalid",
}
FIRST_FILES = {"README.md": "read me\n", "src/main.py": "print()\n", "run.sh": "#!/bin/sh\n"}


@dataclass(frozen=True)
class Moment:
    """A snapshot, and the sandbox as it was then, seen by our own eyes."""

    checkpoint: SandboxCheckpoint
    tree: Tree
    git: str

    @property
    def id(self) -> str:
        return self.checkpoint.snapshot_id


class SandboxBench:
    """What a scenario about sandboxes has; nothing is made before it is needed."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.project = world.project
        self.outside = world.directory / "outside"
        self.environment = dict(world.environment)
        """What the program under test sees; the agent and the user have a git of their own."""
        self.patience = 600.0
        self.make_store: Callable[[Git], CheckpointManager] = lambda git: CheckpointManager(
            git, Limits()
        )
        self.sandboxes: dict[str, SandboxRef] = {}
        self.moments: dict[str, Moment] = {}
        self.report: RestoreReport | None = None
        self.error: CleverAgentsError | None = None
        self.facts: ProjectFacts | None = None
        self.surroundings: Callable[[], AbstractContextManager[object]] = nullcontext
        """What is true while the program works: no permission, a full disk."""

    @property
    def git(self) -> Git:
        return Git(self.environment, self.world.home, patience=self.patience)

    @property
    def maker(self) -> WorktreeSandboxes:
        return WorktreeSandboxes(self.git, self.world.home, SystemClock())

    @property
    def store(self) -> CheckpointManager:
        return self.make_store(self.git)

    def acts(self, plan_id: str = "FIRST") -> LockedSandbox:
        """The sandbox of a plan, opened by the program for each act alone."""
        return single_acts(self.store, self.sandbox_of(plan_id))

    @property
    def sandbox(self) -> SandboxRef:
        """The sandbox of the first plan, made when it is first asked for."""
        return self.sandbox_of("FIRST")

    @property
    def root(self) -> Path:
        return Path(self.sandbox.path)

    @property
    def mirror(self) -> Path:
        return Path(self.sandbox.store)

    def resource(self) -> Resource:
        return replace(resource(), path=str(self.project), name="project")

    def sandbox_of(self, plan_id: str) -> SandboxRef:
        if plan_id not in self.sandboxes:
            if not os.path.lexists(self.project / ".git"):
                self.make_project()
            made = self.maker.create(f"SANDBOX-{plan_id}", plan_id, self.resource())
            self.sandboxes[plan_id] = made
        return self.sandboxes[plan_id]

    def make_project(self) -> None:
        """A repository with one commit, its user's work."""
        for name, text in FIRST_FILES.items():
            (self.project / name).parent.mkdir(parents=True, exist_ok=True)
            (self.project / name).write_text(text)
        (self.project / "run.sh").chmod(0o755)
        self.user("git init -q -b main . && git add -A && git commit -qm Start")

    def user(self, command: str) -> str:
        """Runs a command of the user's, in the project."""
        return self._shell(command, self.project)

    def agent(self, command: str, plan_id: str = "FIRST", *, check: bool = True) -> str:
        """Runs a command of the agent's, in its sandbox."""
        return self._shell(command, Path(self.sandbox_of(plan_id).path), check=check)

    def _shell(self, command: str, place: Path, *, check: bool = True) -> str:
        self.outside.mkdir(exist_ok=True)
        done = subprocess.run(
            ["/bin/sh", "-c", f"set -e\n{spelled_out(command)}"],
            cwd=place,
            env={**self.world.environment, **IDENTITY, "OUTSIDE": str(self.outside)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0 or not check, (command, done.stderr)
        return os.fsdecode(done.stdout)

    def look(self, plan_id: str = "FIRST") -> Moment:
        """Makes a snapshot, which must not change anything."""
        tree, git = self.tree(plan_id), self.git_state(plan_id)
        made = self.acts(plan_id).snapshot()
        assert not differing(self.tree(plan_id), tree), "the snapshot changed the sandbox"
        return Moment(made, tree, git)

    def watch(self) -> None:
        """Has one program watch the sandbox from now on, as a running plan does."""
        manager = self.store
        self.make_store = lambda _: manager
        self.world.on_close.enter_context(manager.watched([self.sandbox]))

    def tree(self, plan_id: str = "FIRST") -> Tree:
        return read_tree(Path(self.sandbox_of(plan_id).path))

    def git_state(self, plan_id: str = "FIRST") -> str:
        return self.agent(
            "git symbolic-ref -q HEAD; git rev-parse -q --verify HEAD; git ls-files --stage -v",
            plan_id,
            check=False,
        )

    def attempt(self, action: Callable[[], object]) -> None:
        """Does something that may be refused, in the surroundings that were set up."""
        try:
            with self.surroundings():
                action()
        except CleverAgentsError as error:
            self.error = error

    def take(self) -> Moment:
        """Makes a snapshot of a sandbox that may be changing or closed to us."""
        made = self.acts().snapshot()
        return Moment(made, {}, "")

    def with_patience(self, seconds: float) -> SandboxBench:
        self.sandbox_of("FIRST")
        self.patience = seconds
        return self

    def go_back(self, moment: Moment, plan_id: str = "FIRST") -> None:
        """What a plan does to go back."""
        self.maker.check(self.sandbox_of(plan_id))
        self.report = self.acts(plan_id).restore(moment.id)

    def roll_back(self, moment: Moment, plan_id: str = "FIRST") -> None:
        self.attempt(lambda: self.go_back(moment, plan_id))

    def inspect(self, path: Path) -> None:
        def act() -> None:
            self.facts = self.maker.inspect(path)

        self.attempt(act)

    def expect(self, moment: Moment, plan_id: str = "FIRST") -> None:
        """The sandbox is what it was at that moment, and git in it where it was."""
        assert self.error is None, self.error.message
        assert self.report is None or self.report.differences == (), self.report
        assert not differing(self.tree(plan_id), moment.tree), differing(
            self.tree(plan_id), moment.tree
        )
        assert self.git_state(plan_id) == moment.git, (self.git_state(plan_id), moment.git)

    def remove_sandboxes(self) -> None:
        for sandbox in self.sandboxes.values():
            self.maker.remove(sandbox)
            assert not Path(sandbox.path).exists()

    def fsck(self) -> str:
        return self.fsck_of(self.mirror)

    def fsck_of(self, repository: Path) -> str:
        """What git finds wrong with a repository; dangling objects are not wrong."""
        done = subprocess.run(
            ["git", f"--git-dir={repository}", "fsck", "--full", "--no-dangling", "--no-progress"],
            env={**self.world.environment},
            capture_output=True,
            check=False,
        )
        said = os.fsdecode(done.stdout + done.stderr).splitlines()
        return "\n".join(line for line in said if not line.startswith("notice: "))

    @contextmanager
    def as_ordinary_user(self) -> Iterator[None]:
        """The superuser may do everything, which would hide what others meet."""
        if os.geteuid() != 0:
            yield
            return
        for directory, directories, files in os.walk(self.world.directory):
            for name in (".", *directories, *files):
                os.chown(Path(directory, name), NOBODY, NOBODY, follow_symlinks=False)
        os.setegid(NOBODY)
        os.seteuid(NOBODY)
        try:
            yield
        finally:
            os.seteuid(0)
            os.setegid(0)


def bench(context: Context) -> SandboxBench:
    """The scenario's bench."""
    if "sandbox_bench" not in context:
        context.sandbox_bench = SandboxBench(context.world)
    return context.sandbox_bench
