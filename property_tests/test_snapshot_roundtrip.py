"""Whatever an agent does to its sandbox, a rollback brings back exactly what was captured.

What was not captured is said and stays. The oracle looks at the disk and asks a plain git;
it uses nothing of the code under test but its reports.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import subprocess
import tempfile
import unittest
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from cleveragents.domain.errors import BusinessRuleViolation
from cleveragents.domain.sandbox import SandboxCheckpoint, SandboxRef
from cleveragents.infrastructure.sandbox.checkpoint import CheckpointManager
from cleveragents.infrastructure.sandbox.git import Git
from cleveragents.infrastructure.sandbox.scratch import make_repository
from cleveragents.infrastructure.sandbox.worktree import GitWorktrees
from cleveragents.infrastructure.system import SystemClock
from cleveragents.testing.sample_records import resource
from cleveragents.testing.trees import Tree, differing, read_tree

NAMES = (
    *("a", "b", "dir", "sub", "x.ign", "build", "a.txt", "A"),
    *("new\nline", " lead", "trail ", "-dash", "*glob", ":(glob)x", 'q"uote', "back\\slash"),
    *("tab\t", "\u00e9", "e\u0301", os.fsdecode(b"\xff\xfe"), "n" * 255, "git~1", "#x", "!x"),
)
MODES = (0o644, 0o600, 0o000, 0o755, 0o444, 0o4755, 0o640, 0o111)
DIRECTORY_MODES = (0o755, 0o700, 0o000, 0o555, 0o1777, 0o2775, 0o300)
IGNORE_RULES = ("", "*.ign\n", "build/\n", "*\n", "/a\n", "*.ign\n!x.ign\n", "sub\n", "dir/*\n")
GIT_COMMANDS = (
    *("add -A", "add -f -A", "commit --allow-empty -qm x", "commit -aqm x", "reset -q --hard"),
    *("reset -q --soft HEAD~1", "reset -q HEAD~1", "checkout -q -b other", "checkout -q --detach"),
    *("checkout -q other", "stash -q -u", "stash pop -q", "rm -rq --cached .", "clean -fdxq"),
    *("branch -qD other", "merge -q other", "update-index --split-index", "gc -q --prune=now"),
    *("update-index --assume-unchanged README.md", "update-index --skip-worktree src/main.py"),
    *("update-index --no-assume-unchanged README.md", "worktree prune", "pack-refs --all"),
    *("checkout -q -f HEAD -- .", "symbolic-ref HEAD refs/heads/unborn", "merge --abort"),
)

paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join) | st.sampled_from(
    ("README.md", "src/main.py", "src", "empty", "build/x.ign")
)
contents = st.sampled_from((b"", b"1", b"2", b"line\r\n", b"\0\xff", b"$Id$\n", b"large"))


@dataclass(frozen=True)
class Moment:
    """A checkpoint, and what the disk held when it was made."""

    checkpoint: SandboxCheckpoint
    tree: Tree
    git: str

    @property
    def uncaptured(self) -> frozenset[str]:
        return frozenset(item.path.rstrip("/") for item in self.checkpoint.not_captured)


class Place:
    """One project and one home directory for all examples."""

    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="cleveragents-properties-"))
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.directory),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "agent",
            "GIT_AUTHOR_EMAIL": "agent@example.invalid",
            "GIT_COMMITTER_NAME": "agent",
            "GIT_COMMITTER_EMAIL": "agent@example.invalid",
        }
        git = Git(self.environment, self.directory)
        project = self.directory / "project"
        make_repository(git, project, {"README.md": "read me\n", "src/main.py": "print()\n"})
        self.sandboxes = GitWorktrees(git, self.directory / "home", SystemClock())
        self.manager = CheckpointManager(git, SystemClock())
        self.resource = resource().model_copy(update={"path": str(project), "name": "project"})
        self._numbers = itertools.count()

    def new_sandbox(self) -> SandboxRef:
        number = f"{next(self._numbers):04}"
        return self.sandboxes.create(f"S{number}", f"P{number}", self.resource)

    def git(self, sandbox: SandboxRef, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=sandbox.path,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        return os.fsdecode(done.stdout)


class SandboxMachine(RuleBasedStateMachine):
    """An agent at work, and a user who goes back and forth."""

    place: Place
    moments = Bundle[Moment]("moments")

    def __init__(self) -> None:
        super().__init__()
        self.sandbox = self.place.new_sandbox()
        self.root = Path(self.sandbox.path)
        self.ever_captured: set[str] = set()

    def teardown(self) -> None:
        self.place.sandboxes.remove(self.sandbox)

    @rule(path=paths, content=contents)
    def write(self, path: str, content: bytes) -> None:
        if not (self.root / path).is_fifo():
            content = b"large" * 20_000 if content == b"large" else content
            self._attempt(lambda: (self.root / path).write_bytes(content))

    @rule(path=paths, content=contents)
    def replace(self, path: str, content: bytes) -> None:
        """Whatever is there, and in the way to there, becomes a file."""
        for above in (*reversed(Path(path).parents), Path(path)):
            place = self.root / above
            if place.is_symlink() or (place.exists() and not place.is_dir()) or above == Path(path):
                self._attempt(lambda place=place: _remove(place))
        self._attempt(lambda: (self.root / path).parent.mkdir(parents=True, exist_ok=True))
        self.write(path, content)

    @rule(path=paths)
    def edit_unnoticeably(self, path: str) -> None:
        """Other bytes, same size and same time."""
        place = self.root / path
        if place.is_file() and not place.is_symlink():
            status = place.stat()
            place.write_bytes(bytes(byte ^ 1 for byte in place.read_bytes()))
            os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))

    @rule(path=paths)
    def remove(self, path: str) -> None:
        self._attempt(lambda: _remove(self.root / path))

    @rule(path=paths, mode=st.sampled_from(MODES), of_directory=st.sampled_from(DIRECTORY_MODES))
    def chmod(self, path: str, mode: int, of_directory: int) -> None:
        place = self.root / path
        if not place.is_symlink():
            self._attempt(lambda: place.chmod(of_directory if place.is_dir() else mode))

    @rule(mode=st.sampled_from((0o755, 0o700, 0o555)))
    def chmod_top(self, mode: int) -> None:
        self.root.chmod(mode)

    @rule(path=paths, to=st.sampled_from((".", "..", "../outside", "a", "missing", "dir/../a")))
    def link(self, path: str, to: str) -> None:
        self._attempt(lambda: _remove(self.root / path))
        self._attempt(lambda: (self.root / path).symlink_to(to))

    @rule(path=paths, other=paths)
    def link_hard(self, path: str, other: str) -> None:
        self._attempt(lambda: os.link(self.root / path, self.root / other, follow_symlinks=False))

    @rule(path=paths, other=paths)
    def rename(self, path: str, other: str) -> None:
        self._attempt(lambda: (self.root / path).rename(self.root / other))

    @rule(path=paths)
    def make_directory(self, path: str) -> None:
        self._attempt(lambda: (self.root / path).mkdir(parents=True))

    @rule(path=paths)
    def make_fifo(self, path: str) -> None:
        self._attempt(lambda: os.mkfifo(self.root / path))

    @rule(path=paths, commits=st.booleans())
    def make_repository(self, path: str, commits: bool) -> None:
        self._attempt(lambda: (self.root / path).mkdir(parents=True, exist_ok=True))
        if (self.root / path).is_dir():
            self.place.git(self.sandbox, "init", "-q", "--", path)
        if commits:
            self.place.git(self.sandbox, "-C", path, "commit", "-qm", "x", "--allow-empty")

    @rule(rules=st.sampled_from(IGNORE_RULES), directory=st.sampled_from(("", "dir/", "src/")))
    def ignore(self, rules: str, directory: str) -> None:
        self.write(f"{directory}.gitignore", rules.encode())

    @rule(command=st.sampled_from(GIT_COMMANDS))
    def git(self, command: str) -> None:
        self.place.git(self.sandbox, *command.split())

    @rule(target=moments)
    def checkpoint(self) -> Moment:
        return self._checkpoint()

    @rule(target=moments, wanted=moments)
    def roll_back(self, wanted: Moment) -> Moment:
        """Goes back, and gives the moment before it to go back to."""
        before = self._checkpoint()
        try:
            preview = self.place.manager.preview(self.sandbox, wanted.checkpoint.snapshot_id)
            report = self.place.manager.rollback_to(self.sandbox, wanted.checkpoint.snapshot_id)
        except BusinessRuleViolation as refused:
            self._justified(refused, before)
            return before
        after = read_tree(self.root)
        left = {item.path.rstrip("/") for item in report.left_alone}
        assert report.differences == (), report.differences
        assert report.changes == preview.changes
        assert self._git_state() == wanted.git
        self._as_it_was(wanted, after, left)
        assert not differing(_only(before.tree, left), _only(after, left)), "left alone"
        unjustified = [path for path in left if not _covered(path, before.uncaptured)]
        assert all(_covered(path, wanted.uncaptured) for path in unjustified), unjustified
        return before

    @invariant()
    def nothing_is_left_behind(self) -> None:
        assert not list(self.root.glob("*cleveragents*"))

    def _checkpoint(self) -> Moment:
        tree, git = read_tree(self.root), self._git_state()
        made = self.place.manager.create_checkpoint(self.sandbox)
        assert not differing(tree, read_tree(self.root)), "taking it changed the sandbox"
        moment = Moment(made, tree, git)
        self._left_out_for_a_reason(moment)
        self.ever_captured |= {path for path in tree if not _covered(path, moment.uncaptured)}
        return moment

    def _left_out_for_a_reason(self, moment: Moment) -> None:
        ignored = self.place.git(
            self.sandbox, "ls-files", "-z", "--others", "--ignored", "--exclude-standard"
        ).split("\0")
        for item in moment.checkpoint.not_captured:
            below = [path for path in moment.tree if _covered(path, {item.path.rstrip("/")})]
            files = [path for path in below if moment.tree[path].kind != "directory"]
            if item.reason == "ignored":
                nested = [path for path in files if f"{path}/" in ignored or path in ignored]
                outside = set(files) - set(nested)
                assert all(self._in_ignored_repository(path) for path in outside), outside
            elif item.reason.startswith("special file"):
                assert moment.tree[item.path].kind == "special"
            elif item.reason == "data of a nested repository":
                assert item.path.endswith("/.git")
            else:
                assert item.path.startswith(".git"), item

    def _in_ignored_repository(self, path: str) -> bool:
        return bool(self.place.git(self.sandbox, "check-ignore", "--no-index", "--", f"./{path}"))

    def _justified(self, refused: BusinessRuleViolation, before: Moment) -> None:
        blocked = refused.details["paths"]
        assert isinstance(blocked, list) and blocked
        assert all(_covered(str(path).rstrip("/"), before.uncaptured) for path in blocked) or all(
            str(path) in before.tree for path in blocked
        )
        assert not differing(before.tree, read_tree(self.root)), "a refusal changes nothing"
        assert self._git_state() == before.git

    def _as_it_was(self, wanted: Moment, after: Tree, left: set[str]) -> None:
        """Compares all but what was not captured then and what was left alone now."""
        holding = {str(above) for path in left for above in Path(path).parents}
        then = _without(wanted.tree, wanted.uncaptured | left)
        now = _without(after, wanted.uncaptured | left)
        extra = {path for path in now if path not in then}
        assert extra <= holding, extra - holding
        assert not differing(then, {path: now[path] for path in now if path not in extra})

    def _git_state(self) -> str:
        return "".join(
            self.place.git(self.sandbox, *command)
            for command in (
                ("symbolic-ref", "HEAD"),
                ("rev-parse", "-q", "--verify", "HEAD"),
                ("ls-files", "-z", "--stage", "-v"),
            )
        )

    def _attempt(self, action: Callable[[], object]) -> None:
        with contextlib.suppress(OSError):
            action()


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _covered(path: str, by: Iterable[str]) -> bool:
    return any(path == other or path.startswith(f"{other}/") for other in by)


def _only(tree: Tree, wanted: set[str]) -> Tree:
    return {path: node for path, node in tree.items() if _covered(path, wanted)}


def _without(tree: Tree, unwanted: Iterable[str]) -> Tree:
    return {path: node for path, node in tree.items() if not _covered(path, unwanted)}


class SnapshotRoundtrip(SandboxMachine.TestCase):
    # An example is a whole working day of an agent: fewer of them than of others.
    settings = settings(max_examples=max(settings().max_examples // 3, 1), stateful_step_count=40)

    @classmethod
    def setUpClass(cls) -> None:
        SandboxMachine.place = Place()

    @classmethod
    def tearDownClass(cls) -> None:
        shutil.rmtree(SandboxMachine.place.directory)


if __name__ == "__main__":
    unittest.main()
