"""Stores of snapshots that break a promise, to see that the contract notices."""

from __future__ import annotations

from collections.abc import Callable, Collection

from cleveragents.domain.sandboxes.merge import MergeNames, MergeReport, MergeStrategy
from cleveragents.domain.sandboxes.sandbox import (
    RestorePreview,
    RestoreReport,
    SandboxCheckpoint,
    SandboxRef,
)
from cleveragents.infrastructure.sandbox.checkpoint import CheckpointManager
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.store.limits import Limits


class Idle(CheckpointManager):
    def rollback_to(
        self, sandbox: SandboxRef, snapshot_id: str, sparing: str | None = None
    ) -> RestoreReport:
        preview = self.preview(sandbox, snapshot_id)
        return RestoreReport(
            changes=preview.changes,
            left_alone=preview.left_alone,
            state_hash="",
            differences=(),
        )


class Hoarding(CheckpointManager):
    def create_checkpoint(self, sandbox: SandboxRef) -> SandboxCheckpoint:
        return super().create_checkpoint(sandbox).model_copy(update={"size_bytes": 1})


class Hasty(CheckpointManager):
    def preview(
        self, sandbox: SandboxRef, snapshot_id: str, paths: Collection[str] | None = None
    ) -> RestorePreview:
        preview = super().preview(sandbox, snapshot_id, paths)
        self.rollback_to(sandbox, snapshot_id)
        return preview


class Boastful(CheckpointManager):
    def verify(self, sandbox: SandboxRef, snapshot_id: str) -> None:
        return None


class Greedy(CheckpointManager):
    def combine(
        self, sandbox: SandboxRef, base: str, other: str, paths: Collection[str]
    ) -> SandboxCheckpoint:
        return super().combine(sandbox, base, other, ["."] if paths else [])


class Generous(CheckpointManager):
    def merge(
        self,
        sandbox: SandboxRef,
        mine: str,
        base: str,
        theirs: str,
        strategy: MergeStrategy,
        names: MergeNames,
    ) -> MergeReport:
        del strategy
        return super().merge(sandbox, mine, base, theirs, MergeStrategy.LAST_WINS, names)


FLAWED: dict[str, Callable[[Git], CheckpointManager]] = {
    "restores nothing": lambda git: Idle(git, Limits()),
    "cannot stop storing": lambda git: Hoarding(git, Limits()),
    "acts already in a preview": lambda git: Hasty(git, Limits()),
    "knows every snapshot": lambda git: Boastful(git, Limits()),
    "always combines the whole": lambda git: Greedy(git, Limits()),
    "never asks who has won": lambda git: Generous(git, Limits()),
}
