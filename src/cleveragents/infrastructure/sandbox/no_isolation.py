"""The strategy `none`: the plan works on the resource itself, and nothing of it is kept."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import NoReturn

from cleveragents.application.ports.system import Clock
from cleveragents.domain.errors import NotReversibleError, SandboxMissingError
from cleveragents.domain.sandboxes.change import PathChange
from cleveragents.domain.sandboxes.merge import MergeNames, MergeReport, MergeStrategy
from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import (
    Resource,
    RestorePreview,
    RestoreReport,
    SandboxCheckpoint,
    SandboxRef,
    SandboxState,
    TreeDiff,
    Uncaptured,
)
from cleveragents.infrastructure.sandbox.create.maker import SandboxMaker
from cleveragents.infrastructure.sandbox.files.engine_protocol import SnapshotEngine
from cleveragents.infrastructure.sandbox.files.known_copies import CopyComparison

NOTHING_KEPT = "none"
"""The id and the state hash of every snapshot of such a resource."""


class NoIsolation(SandboxMaker):
    """Hands out the resource itself, and never removes it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def create(self, sandbox_id: str, plan_id: str, resource: Resource) -> SandboxRef:
        return SandboxRef(
            id=sandbox_id,
            plan_id=plan_id,
            resource_id=resource.id,
            resource=resource.name,
            strategy=SandboxStrategy.NONE,
            path=resource.path,
            branch=None,
            store="",
            base_commit=None,
            state=SandboxState.CREATED,
            created_at=self._clock.now(),
        )

    def check(self, sandbox: SandboxRef) -> None:
        if not os.path.lexists(sandbox.path):
            raise SandboxMissingError(sandbox.path, "is missing")

    def reopen(self, sandbox: SandboxRef) -> None:
        raise SandboxMissingError(sandbox.path, "is missing, and no copy of it was stored")

    def remove(self, sandbox: SandboxRef) -> None:
        """Leaves the resource where it is: it is the user's."""


class NoSnapshots(SnapshotEngine):
    """Says of every snapshot that it holds nothing, and of every restore that it cannot be."""

    def __init__(self, sandbox: SandboxRef) -> None:
        self._sandbox = sandbox

    def watch(self) -> None:
        """There is nothing to watch for."""

    def close(self) -> None:
        """Holds nothing open."""

    def snapshot(self) -> SandboxCheckpoint:
        if not os.path.lexists(self._sandbox.path):
            raise SandboxMissingError(self._sandbox.path, "is missing")
        nothing = Uncaptured(path=".", reason="strategy none keeps nothing")
        return SandboxCheckpoint(
            snapshot_id=NOTHING_KEPT,
            state_hash=NOTHING_KEPT,
            size_bytes=0,
            not_captured=(nothing,),
        )

    def preview(self, snapshot_id: str, paths: Collection[str] | None = None) -> RestorePreview:
        self._refuse()

    def restore(self, snapshot_id: str, sparing: str | None = None) -> RestoreReport:
        self._refuse()

    def verify(self, snapshot_id: str) -> None:
        self._refuse()

    def ids(self) -> Sequence[str]:
        return (NOTHING_KEPT,)

    def delete(self, snapshot_ids: Collection[str]) -> None:
        """There is nothing to delete."""

    def diff(self, old: str, new: str, prefix: str = "") -> TreeDiff:
        self._refuse()

    def changes(self, old: str, new: str) -> Sequence[PathChange]:
        return ()

    def changes_since(self, snapshot_id: str) -> Sequence[PathChange]:
        return ()

    def combine(self, base: str, other: str, paths: Collection[str]) -> SandboxCheckpoint:
        self._refuse()

    def merge(
        self, mine: str, base: str, theirs: str, strategy: MergeStrategy, names: MergeNames
    ) -> MergeReport:
        """A fork works on the same resource, so everything is there already."""
        return MergeReport(merged=(), conflicts=())

    def restore_paths(self, snapshot_id: str, paths: Collection[str]) -> None:
        self._refuse()

    def start_as(self, snapshot_id: str, source: SandboxRef, known: CopyComparison | None) -> None:
        """There is nothing to restore."""

    def _refuse(self) -> NoReturn:
        raise NotReversibleError(self._sandbox.resource, self._sandbox.path)
