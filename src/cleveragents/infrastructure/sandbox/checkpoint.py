"""CheckpointManager: the snapshots of every sandbox, whatever its strategy."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import assert_never

from cleveragents.application.ports import Clock, SnapshotStore
from cleveragents.domain.sandbox import (
    RestorePreview,
    RestoreReport,
    SandboxCheckpoint,
    SandboxRef,
    SandboxStrategy,
    TreeDiff,
    Uncaptured,
)
from cleveragents.infrastructure.sandbox.git import Git
from cleveragents.infrastructure.sandbox.git_snapshots import GitSnapshots
from cleveragents.infrastructure.sandbox.layout import git_on_mirror
from cleveragents.infrastructure.sandbox.manifest import Manifest
from cleveragents.infrastructure.sandbox.tree_diff import tree_diff

__all__ = ["CheckpointManager", "SandboxCheckpoint"]


class CheckpointManager(SnapshotStore):
    """Stores, restores and compares snapshots, choosing the engine by the sandbox's strategy."""

    def __init__(self, git: Git, clock: Clock) -> None:
        self._git = git
        self._clock = clock

    def create_checkpoint(self, sandbox: SandboxRef) -> SandboxCheckpoint:
        stored = self._snapshots(sandbox).store()
        return SandboxCheckpoint(
            snapshot_id=stored.snapshot_id,
            state_hash=stored.state_hash,
            size_bytes=stored.size_bytes,
            not_captured=_uncaptured(stored.manifest),
            created_at=self._clock.now(),
        )

    def preview(self, sandbox: SandboxRef, snapshot_id: str) -> RestorePreview:
        return self._snapshots(sandbox).preview(snapshot_id)

    def rollback_to(
        self, sandbox: SandboxRef, snapshot_id: str, sparing: str | None = None
    ) -> RestoreReport:
        return self._snapshots(sandbox).restore(snapshot_id, sparing)

    def verify(self, sandbox: SandboxRef, snapshot_id: str) -> None:
        self._snapshots(sandbox).verify(snapshot_id)

    def list_checkpoints(self, sandbox: SandboxRef) -> Sequence[str]:
        return self._snapshots(sandbox).ids()

    def delete_checkpoint(self, sandbox: SandboxRef, snapshot_ids: Collection[str]) -> None:
        self._snapshots(sandbox).delete(snapshot_ids)

    def diff(self, sandbox: SandboxRef, old: str, new: str) -> TreeDiff:
        snapshots = self._snapshots(sandbox)
        return tree_diff(
            git_on_mirror(self._git, Path(sandbox.store)),
            (old, snapshots.load(old)),
            (new, snapshots.load(new)),
        )

    def _snapshots(self, sandbox: SandboxRef) -> GitSnapshots:
        match sandbox.strategy:
            case SandboxStrategy.GIT_WORKTREE:
                return GitSnapshots(sandbox, self._git)
            case _ as never:
                assert_never(never)


def _uncaptured(manifest: Manifest) -> tuple[Uncaptured, ...]:
    found = [*manifest.not_captured, *((path, "ignored") for path in manifest.ignored)]
    return tuple(Uncaptured(path=path, reason=reason) for path, reason in sorted(found))
