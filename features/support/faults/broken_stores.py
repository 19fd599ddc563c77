"""Stores of snapshots that break a promise, to see that the contract notices."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from functools import partial

from msgspec.structs import replace

from cleveragents.application.ports.locks import PlanLease
from cleveragents.application.ports.sandboxes import LockedSandbox
from cleveragents.domain.sandboxes.merge import MergeNames, MergeReport, MergeStrategy
from cleveragents.domain.sandboxes.sandbox import (
    RestorePreview,
    RestoreReport,
    SandboxCheckpoint,
    SandboxRef,
)
from cleveragents.infrastructure.sandbox.checkpoint import CheckpointManager
from cleveragents.infrastructure.sandbox.files.engine_protocol import SnapshotEngine
from cleveragents.infrastructure.sandbox.files.sandbox import FileSandbox
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.store.limits import Limits


class Idle(FileSandbox):
    def restore(self, snapshot_id: str, sparing: str | None = None) -> RestoreReport:
        preview = self.preview(snapshot_id)
        return RestoreReport(
            changes=preview.changes,
            left_alone=preview.left_alone,
            differences=(),
        )


class Hoarding(FileSandbox):
    def snapshot(self) -> SandboxCheckpoint:
        return replace(super().snapshot(), size_bytes=1)


class Hasty(FileSandbox):
    def preview(self, snapshot_id: str, paths: Collection[str] | None = None) -> RestorePreview:
        preview = super().preview(snapshot_id, paths)
        self.restore(snapshot_id)
        return preview


class Boastful(FileSandbox):
    def verify(self, snapshot_id: str) -> None:
        return None


class Greedy(FileSandbox):
    def combine(self, base: str, other: str, paths: Collection[str]) -> SandboxCheckpoint:
        return super().combine(base, other, ["."] if paths else [])


class Generous(FileSandbox):
    def merge(
        self, mine: str, base: str, theirs: str, strategy: MergeStrategy, names: MergeNames
    ) -> MergeReport:
        del strategy
        return super().merge(mine, base, theirs, MergeStrategy.LAST_WINS, names)


class FlawedStore(CheckpointManager):
    """A store whose sandboxes break a promise."""

    def __init__(self, flaw: type[FileSandbox], git: Git) -> None:
        super().__init__(git, Limits())
        self._flaw = flaw

    def _engine(self, sandbox: SandboxRef) -> SnapshotEngine:
        return self._flaw(sandbox, self._git, self._limits)


class Careless(CheckpointManager):
    """A store that locks a sandbox without checking the lease."""

    @contextmanager
    def lock(self, sandbox: SandboxRef, lease: PlanLease) -> Generator[LockedSandbox]:
        with self.open(sandbox) as engine:
            yield engine


FLAWED: dict[str, Callable[[Git], CheckpointManager]] = {
    "restores nothing": partial(FlawedStore, Idle),
    "cannot stop storing": partial(FlawedStore, Hoarding),
    "acts already in a preview": partial(FlawedStore, Hasty),
    "knows every snapshot": partial(FlawedStore, Boastful),
    "always combines the whole": partial(FlawedStore, Greedy),
    "never asks who has won": partial(FlawedStore, Generous),
    "locks without the lease": lambda git: Careless(git, Limits()),
}
