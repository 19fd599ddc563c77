"""Sandboxes of git projects: worktrees of the project's private mirror."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from cleveragents.application.ports import Clock, Sandboxes
from cleveragents.domain.errors import SandboxMissingError
from cleveragents.domain.sandbox import (
    ProjectFacts,
    Resource,
    SandboxRef,
    SandboxState,
    SandboxStrategy,
)
from cleveragents.infrastructure.files import exclusive, write_durably
from cleveragents.infrastructure.sandbox.git import Git
from cleveragents.infrastructure.sandbox.mirror import refresh_mirror
from cleveragents.infrastructure.sandbox.project import find_repository, inspect_repository

_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def branch_of(plan_id: str) -> str:
    return f"cleveragents/plan-{plan_id}"


def admin_directory(sandbox: SandboxRef) -> Path:
    """Where git keeps HEAD and index of the sandbox; the sandbox's `.git` points there."""
    return Path(sandbox.store) / "worktrees" / f"{sandbox.plan_id}-{sandbox.resource}"


def _draft(sandbox: SandboxRef) -> Path:
    return Path(sandbox.path).parent / admin_directory(sandbox).name


class GitWorktrees(Sandboxes):
    """Makes and removes worktrees of private mirrors under one home directory."""

    def __init__(self, git: Git, home: Path, clock: Clock) -> None:
        self._git = git
        self._home = home
        self._clock = clock

    def inspect(self, path: Path) -> ProjectFacts:
        home = self._git.environment.get("HOME")
        repository = find_repository(path, Path(home).resolve() if home else None)
        return inspect_repository(repository, self._git)

    def create(self, sandbox_id: str, plan_id: str, resource: Resource) -> SandboxRef:
        facts = self.inspect(Path(resource.path))
        repository = find_repository(Path(facts.root), None)
        mirror = refresh_mirror(repository, self._git, self._home / "mirrors", facts.head_commit)
        path = self._home / "sandboxes" / plan_id / resource.name
        sandbox = SandboxRef(
            id=sandbox_id,
            plan_id=plan_id,
            resource_id=resource.id,
            resource=resource.name,
            strategy=SandboxStrategy.GIT_WORKTREE,
            path=str(path),
            branch=branch_of(plan_id),
            store=str(mirror),
            base_commit=facts.head_commit,
            state=SandboxState.CREATED,
            created_at=self._clock.now(),
        )
        self.remove(sandbox)  # What a killed attempt may have left: there is no record of it.
        with exclusive(mirror.with_suffix(".lock")):
            self._on_failure_remove(sandbox, lambda: self._check_out(sandbox))
        return sandbox

    def check(self, sandbox: SandboxRef) -> None:
        path = Path(sandbox.path)
        if path.is_symlink() or not path.is_dir():
            raise SandboxMissingError(sandbox.path, "is not there any more")
        pointer = admin_directory(sandbox) / "gitdir"
        try:
            belongs = os.fsdecode(pointer.read_bytes()).rstrip("\n") == f"{sandbox.path}/.git"
        except OSError:
            belongs = False
        if not belongs:
            raise SandboxMissingError(sandbox.path, "is not known to its private repository")

    def remove(self, sandbox: SandboxRef) -> None:
        path = Path(sandbox.path)
        for place in (path, _draft(sandbox)):
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place, onerror=_make_writable_and_retry)
        shutil.rmtree(admin_directory(sandbox), ignore_errors=True)
        with suppress(OSError):
            path.parent.rmdir()

    def _check_out(self, sandbox: SandboxRef) -> None:
        git = self._git.at(Path(sandbox.store)).without_filters()
        path = Path(sandbox.path)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        start = sandbox.base_commit or self._empty_commit(git)
        keep = f"refs/cleveragents/base/{sandbox.plan_id}/{sandbox.resource}"
        git.run("update-ref", keep, start)
        # git names a worktree after its directory: make it under a unique name, then move it.
        named = _draft(sandbox)
        git.run("worktree", "add", "--quiet", "--no-checkout", "--detach", str(named), start)
        named.rename(path)
        admin = admin_directory(sandbox)
        write_durably(admin / "gitdir", os.fsencode(f"{path}/.git\n"), mode=0o644)
        write_durably(admin / "locked", b"in use by a CleverAgents plan\n", mode=0o644)
        inside = git.at(admin).without_filters()
        inside.run("symbolic-ref", "HEAD", f"refs/heads/{sandbox.branch}")
        if sandbox.base_commit is None:
            inside.run("update-ref", "-d", f"refs/heads/{sandbox.branch}")
            return
        inside.run("update-ref", f"refs/heads/{sandbox.branch}", sandbox.base_commit)
        inside.with_variables(GIT_WORK_TREE=str(path)).run("reset", "--hard", "--quiet")

    def _empty_commit(self, git: Git) -> str:
        git.run("hash-object", "-t", "tree", "-w", "--stdin", stdin=b"")
        made = git.with_variables(GIT_AUTHOR_DATE="@0 +0000", GIT_COMMITTER_DATE="@0 +0000").run(
            "commit-tree", _EMPTY_TREE, "-m", "empty project"
        )
        return os.fsdecode(made).strip()

    def _on_failure_remove(self, sandbox: SandboxRef, act: Callable[[], None]) -> None:
        try:
            act()
        except BaseException:
            self.remove(sandbox)
            raise


def _make_writable_and_retry(function: Callable[..., object], path: str, _error: object) -> None:
    """Agents leave read-only directories behind; their content can go all the same."""
    os.chmod(os.path.dirname(path), 0o700)
    if os.path.isdir(path) and not os.path.islink(path):
        os.chmod(path, 0o700)
    function(path)
