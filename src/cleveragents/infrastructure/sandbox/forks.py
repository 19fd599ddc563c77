"""Sandboxes of child plans: each starts as a snapshot of its parent's sandbox.

Nothing of the parent's history is stored a second time: the child shares the store, and a ref of
its own keeps the snapshot that it started as. A copied sandbox is whole before it has its name;
what a kill leaves has no record, and the next attempt removes it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from cleveragents.application.ports.system import Clock
from cleveragents.domain.errors import BusinessRuleViolation, SnapshotError
from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import Resource, SandboxRef, SandboxState, Uncaptured
from cleveragents.infrastructure.sandbox.checkpoint import CheckpointManager
from cleveragents.infrastructure.sandbox.create.maker import (
    SandboxMaker,
    creation_errors,
)
from cleveragents.infrastructure.sandbox.create.tree_copy import TreeCopy
from cleveragents.infrastructure.sandbox.create.worktree import branch_of
from cleveragents.infrastructure.sandbox.files.known_copies import CopyComparison
from cleveragents.infrastructure.sandbox.files.sandbox import FileSandbox
from cleveragents.infrastructure.sandbox.files.scan import FileSystemTime
from cleveragents.infrastructure.sandbox.files.tracker import STATE, note_path
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.store.directories import drafted, reclaim, sandbox_place
from cleveragents.infrastructure.sandbox.store.refs import SnapshotRefs, mirror_use

_COPIED = (SandboxStrategy.GIT_WORKTREE, SandboxStrategy.FILESYSTEM_COPY)


@dataclass(frozen=True)
class ForkOrigin:
    """What a fork starts from."""

    source: SandboxRef
    snapshot_id: str


class SandboxForks:
    """Makes forks of sandboxes under one home directory."""

    def __init__(
        self,
        git: Git,
        home: Path,
        clock: Clock,
        snapshots: CheckpointManager,
        makers: Mapping[SandboxStrategy, SandboxMaker],
    ) -> None:
        self._git = git
        self._home = home
        self._clock = clock
        self._snapshots = snapshots
        self._makers = makers

    def fork(
        self, sandbox_id: str, plan_id: str, resource: Resource, origin: ForkOrigin
    ) -> SandboxRef:
        """Makes the sandbox of a child plan; `Sandboxes.fork` says what it must be."""
        source = origin.source
        if source.strategy is SandboxStrategy.NONE:
            return self._makers[source.strategy].create(sandbox_id, plan_id, resource)
        fork = self._reference(sandbox_id, plan_id, resource, source)
        with creation_errors(), mirror_use(Path(source.store)):
            self._remove(fork)  # What a killed attempt may have left: there is no record of it.
            reclaim(self._home / "sandboxes")
            refs = SnapshotRefs(fork, self._git)
            is_first = not refs.ids(own=False, inherited=True)
            try:
                return self._made(fork, resource, origin)
            except BaseException:
                self._remove(fork)
                if is_first:
                    refs.disown()
                raise

    def _made(self, fork: SandboxRef, resource: Resource, origin: ForkOrigin) -> SandboxRef:
        if fork.strategy is SandboxStrategy.OVERLAY:
            self._makers[fork.strategy].create(fork.id, fork.plan_id, resource)
            self._fill(fork, origin, None)
        elif fork.strategy in _COPIED and _is_there(origin.source):
            return self._copied(fork, origin)
        else:
            self._from_store(fork, origin)
        return fork

    def _reference(
        self, sandbox_id: str, plan_id: str, resource: Resource, source: SandboxRef
    ) -> SandboxRef:
        place = sandbox_place(self._home, plan_id, resource.name)
        is_database = source.strategy is SandboxStrategy.TRANSACTION_ROLLBACK
        return replace(
            source,
            id=sandbox_id,
            plan_id=plan_id,
            resource_id=resource.id,
            resource=resource.name,
            path=str(place / Path(source.path).name if is_database else place),
            branch=None if source.branch is None else branch_of(plan_id),
            state=SandboxState.CREATED,
            created_at=self._clock.now(),
            copied_by=None,
        )

    def _copied(self, fork: SandboxRef, origin: ForkOrigin) -> SandboxRef:
        source = origin.source
        copy, since = _copy(source, Path(fork.path))
        self._makers[fork.strategy].attach(fork)
        try:
            self._fill(fork, origin, self._likeness(origin, since))
        except BusinessRuleViolation:
            # What the source has come to hold, and no snapshot holds, is in the way.
            self._remove(fork)
            self._from_store(fork, origin)
            return fork
        skipped = {item.path: item for item in (*source.skipped, *copy.skipped)}
        return replace(fork, copied_by=copy.method, skipped=_sorted(skipped))

    def _from_store(self, fork: SandboxRef, origin: ForkOrigin) -> None:
        self._makers[fork.strategy].reopen(fork)
        self._fill(fork, origin, None)

    def _likeness(self, origin: ForkOrigin, since: FileSystemTime) -> CopyComparison | None:
        """A damaged source does not matter here: the fork is then read by itself."""
        try:
            with self._snapshots.open(origin.source) as engine:
                if isinstance(engine, FileSandbox):
                    return engine.compare_copy(origin.snapshot_id, since)
        except SnapshotError:
            pass
        return None

    def _remove(self, fork: SandboxRef) -> None:
        note_path(fork, STATE).unlink(missing_ok=True)
        self._makers[fork.strategy].remove(fork)

    def _fill(self, fork: SandboxRef, origin: ForkOrigin, known: CopyComparison | None) -> None:
        with self._snapshots.open(fork) as engine:
            engine.start_as(origin.snapshot_id, origin.source, known)


def _copy(source: SandboxRef, place: Path) -> tuple[TreeCopy, FileSystemTime]:
    """Copies a sandbox; returns a moment before that as well."""
    own_git = ".git" if source.strategy is SandboxStrategy.GIT_WORKTREE else None
    with drafted(place) as draft:
        since = FileSystemTime.now_in(Path(source.path).parent)
        copy = TreeCopy(Path(source.path), draft, leaving_out=own_git, is_ours=True)
        copy.run()
    return copy, since


def _is_there(sandbox: SandboxRef) -> bool:
    return os.path.isdir(sandbox.path) and not os.path.islink(sandbox.path)


def _sorted(skipped: Mapping[str, Uncaptured]) -> tuple[Uncaptured, ...]:
    return tuple(skipped[path] for path in sorted(skipped))
