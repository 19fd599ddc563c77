"""Sandboxes of git projects: worktrees of the project's private mirror."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from cleveragents.application.ports.system import Clock
from cleveragents.domain.errors import GitCommandError, SandboxMissingError
from cleveragents.domain.sandboxes.sandbox import (
    ProjectFacts,
    Resource,
    SandboxRef,
    SandboxStrategy,
)
from cleveragents.infrastructure.file_locks import exclusive
from cleveragents.infrastructure.sandbox.create.maker import (
    SandboxMaker,
    creation_errors,
    make_again,
    new_sandbox,
)
from cleveragents.infrastructure.sandbox.create.uncommitted import take_over
from cleveragents.infrastructure.sandbox.files.git_state import GitLinks
from cleveragents.infrastructure.sandbox.files.known_copies import adopt
from cleveragents.infrastructure.sandbox.files.tracker import STATE, load_state, note_path
from cleveragents.infrastructure.sandbox.git.command import (
    Git,
    admin_directory,
    git_on_mirror,
    git_on_sandbox,
)
from cleveragents.infrastructure.sandbox.git.repository import (
    Repository,
    find_repository,
    inspect_repository,
)
from cleveragents.infrastructure.sandbox.store.directories import remove_tree, sandbox_place
from cleveragents.infrastructure.sandbox.store.mirror import damaged_project, refresh_mirror
from cleveragents.infrastructure.sandbox.store.mirror_repair import repair_mirror
from cleveragents.infrastructure.sandbox.store.refs import SnapshotRefs, mirror_use


def branch_of(plan_id: str) -> str:
    return f"cleveragents/plan-{plan_id}"


def _lock_of(mirror: Path) -> Path:
    return mirror.with_suffix(".lock")


class WorktreeSandboxes(SandboxMaker):
    """Makes and removes worktrees of private mirrors under one home directory."""

    def __init__(self, git: Git, home: Path, clock: Clock) -> None:
        self._git = git
        self._home = home
        self._clock = clock

    def find(self, path: Path) -> Repository:
        """Returns the repository that a directory is in, if that may be a project."""
        home = self._git.environment.get("HOME")
        return find_repository(path, Path(home).resolve() if home else None)

    def inspect(self, path: Path) -> ProjectFacts:
        return inspect_repository(self.find(path), self._able_git)

    @cached_property
    def _able_git(self) -> Git:
        """Git, once it is known to be recent enough."""
        self._git.require_version()
        return self._git

    def create(self, sandbox_id: str, plan_id: str, resource: Resource) -> SandboxRef:
        facts = self.inspect(Path(resource.path))
        repository = find_repository(Path(facts.root), None)
        mirrors = self._home / "mirrors"
        with creation_errors():
            mirrors.mkdir(mode=0o700, parents=True, exist_ok=True)
            with mirror_use(mirrors / f"{facts.key}.git"):
                return self._create(sandbox_id, plan_id, resource, repository, facts.head_commit)

    def _create(
        self,
        sandbox_id: str,
        plan_id: str,
        resource: Resource,
        repository: Repository,
        head_commit: str | None,
    ) -> SandboxRef:
        mirror = refresh_mirror(repository, self._git, self._home / "mirrors", head_commit)
        sandbox = replace(
            new_sandbox(
                sandbox_id,
                plan_id,
                resource,
                SandboxStrategy.GIT_WORKTREE,
                sandbox_place(self._home, plan_id, resource.name),
                mirror,
                self._clock.now(),
            ),
            branch=branch_of(plan_id),
            base_commit=head_commit,
        )
        self.remove(sandbox)  # What a killed attempt may have left: there is no record of it.
        try:
            with exclusive(_lock_of(mirror)):
                self._check_out_whole(sandbox, repository)
            if resource.include_uncommitted:
                skipped = take_over(repository, self._git, sandbox)
                sandbox = replace(sandbox, skipped=skipped)
        except BaseException:
            self.remove(sandbox)
            raise
        return sandbox

    def check(self, sandbox: SandboxRef) -> None:
        if os.path.islink(sandbox.path) or not os.path.isdir(sandbox.path):
            raise SandboxMissingError(sandbox.path, "is missing")
        is_ours = GitLinks(sandbox).are_known() or _is_as_known(sandbox)
        if not is_ours or not os.path.isdir(sandbox.store):
            raise SandboxMissingError(sandbox.path, "is not known to its private repository")

    def reopen(self, sandbox: SandboxRef) -> None:
        with mirror_use(Path(sandbox.store)):
            make_again(Path(sandbox.path))
            self.attach(sandbox)
            with creation_errors():
                note_path(sandbox, STATE).unlink(missing_ok=True)

    def attach(self, sandbox: SandboxRef) -> None:
        with creation_errors(), exclusive(_lock_of(Path(sandbox.store))):
            GitLinks(sandbox).create()
            self._keep_base(sandbox)

    def remove(self, sandbox: SandboxRef) -> None:
        path = Path(sandbox.path)
        remove_tree(path)
        remove_tree(admin_directory(sandbox))
        # Checkpoints keep what the branch led to, and restore it. Git is asked only where there
        # is something to remove: this also runs before a sandbox is made.
        store, branch = Path(sandbox.store), f"refs/heads/{sandbox.branch}"
        packed = store / "packed-refs"
        is_packed = packed.is_file() and os.fsencode(f" {branch}\n") in packed.read_bytes()
        if is_packed or os.path.lexists(store / branch):
            git_on_mirror(self._git, store).run("update-ref", "-d", branch)
        with suppress(OSError):
            note_path(sandbox, STATE).unlink()
        with suppress(OSError):
            path.parent.rmdir()

    def _check_out_whole(self, sandbox: SandboxRef, repository: Repository) -> None:
        """Fills the sandbox; if objects of the mirror are damaged, those of the project help."""
        try:
            self._check_out(sandbox)
        except GitCommandError as error:
            repair = repair_mirror(repository, Path(sandbox.store))
            if repair.damaged_in_project:
                raise damaged_project(repository, repair.damaged_in_project) from error
            if not repair.replaced:
                raise
            self.remove(sandbox)
            self._check_out(sandbox)

    def _check_out(self, sandbox: SandboxRef) -> None:
        self._make_worktree(sandbox)
        if sandbox.base_commit is None:
            return
        self._keep_base(sandbox)
        inside = git_on_sandbox(self._git, sandbox)
        inside.run("update-ref", f"refs/heads/{sandbox.branch}", sandbox.base_commit)
        inside.run("reset", "--hard", "--quiet")
        adopt(sandbox, self._git)

    def _keep_base(self, sandbox: SandboxRef) -> None:
        if sandbox.base_commit is not None:
            name = SnapshotRefs(sandbox, self._git).base
            store = git_on_mirror(self._git, Path(sandbox.store))
            store.run("update-ref", name, sandbox.base_commit)

    def _make_worktree(self, sandbox: SandboxRef) -> None:
        """Does what `git worktree add` does, which would name it after its directory."""
        path = Path(sandbox.path)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.mkdir()
        GitLinks(sandbox).create()


def _is_as_known(sandbox: SandboxRef) -> bool:
    """Returns whether it is the directory that was last tracked, whatever is in it now."""
    known = load_state(sandbox)
    return known is not None and known.remembered.top == os.lstat(sandbox.path).st_ino
