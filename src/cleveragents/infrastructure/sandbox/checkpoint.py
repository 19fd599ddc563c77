"""CheckpointManager: the snapshots of every sandbox, whatever its strategy."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager

from cleveragents.application.ports.locks import PlanLease
from cleveragents.application.ports.sandboxes import LockedSandbox, OpenSandbox, SnapshotStore
from cleveragents.domain.errors import SnapshotError
from cleveragents.domain.sandboxes.change import PathChange
from cleveragents.domain.sandboxes.merge import MergeNames, MergeReport, MergeStrategy
from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import (
    RestorePreview,
    RestoreReport,
    SandboxCheckpoint,
    SandboxRef,
    TreeDiff,
)
from cleveragents.infrastructure.sandbox.files.engine_protocol import SnapshotEngine
from cleveragents.infrastructure.sandbox.files.known_copies import CopyComparison
from cleveragents.infrastructure.sandbox.files.sandbox import FileSandbox
from cleveragents.infrastructure.sandbox.files.scan import FileSystemTime
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.no_isolation import NoSnapshots
from cleveragents.infrastructure.sandbox.sqlite.snapshots import SqliteSnapshots
from cleveragents.infrastructure.sandbox.store.limits import Limits

__all__ = ["CheckpointManager", "SandboxCheckpoint"]


class CheckpointManager(SnapshotStore):
    """Opens sandboxes, each with the engine that fits its strategy."""

    def __init__(self, git: Git, limits: Limits) -> None:
        self._git = git
        self._limits = limits
        self._watched: dict[str, SnapshotEngine] = {}

    @contextmanager
    def watched(self, sandboxes: Sequence[SandboxRef]) -> Generator[None]:
        new = [sandbox for sandbox in sandboxes if sandbox.id not in self._watched]
        try:
            for sandbox in new:
                engine = self._watched[sandbox.id] = self._engine(sandbox)
                engine.watch()
            yield
        finally:
            for sandbox in new:
                engine = self._watched.pop(sandbox.id, None)
                if engine is not None:
                    engine.close()

    @contextmanager
    def open(self, sandbox: SandboxRef) -> Generator[OpenSandbox]:
        with self.use(sandbox) as engine:
            yield engine

    @contextmanager
    def lock(self, sandbox: SandboxRef, lease: PlanLease) -> Generator[LockedSandbox]:
        lease.check()
        with self.use(sandbox) as engine:
            yield engine

    @contextmanager
    def use(self, sandbox: SandboxRef) -> Generator[SnapshotEngine]:
        """Yields the engine that watches the sandbox, or one for this act alone.

        For a sandbox that is being created: no plan has it yet, so nobody holds a lease.
        """
        watching = self._watched.get(sandbox.id)
        if watching is not None:
            yield watching
            return
        engine = self._engine(sandbox)
        try:
            yield engine
        finally:
            engine.close()

    def compare_copy(
        self, sandbox: SandboxRef, snapshot_id: str, since: FileSystemTime
    ) -> CopyComparison | None:
        """Compares a sandbox of files with a snapshot; None if it changed since a moment."""
        with self.use(sandbox) as engine:
            return (
                engine.compare_copy(snapshot_id, since) if isinstance(engine, FileSandbox) else None
            )

    # The methods below are being replaced by `open` and `lock`.

    def recheck(self, sandbox: SandboxRef) -> Sequence[str]:
        with self.use(sandbox) as engine:
            return engine.recheck()

    def create_checkpoint(self, sandbox: SandboxRef) -> SandboxCheckpoint:
        with self.use(sandbox) as engine:
            return engine.snapshot()

    def preview(
        self, sandbox: SandboxRef, snapshot_id: str, paths: Collection[str] | None = None
    ) -> RestorePreview:
        with self.use(sandbox) as engine:
            return engine.preview(snapshot_id, paths)

    def rollback_to(
        self, sandbox: SandboxRef, snapshot_id: str, sparing: str | None = None
    ) -> RestoreReport:
        with self.use(sandbox) as engine:
            return engine.restore(snapshot_id, sparing)

    def verify(self, sandbox: SandboxRef, snapshot_id: str) -> None:
        with self.use(sandbox) as engine:
            engine.verify(snapshot_id)

    def list_checkpoints(self, sandbox: SandboxRef) -> Sequence[str]:
        with self.use(sandbox) as engine:
            return engine.ids()

    def delete_checkpoint(self, sandbox: SandboxRef, snapshot_ids: Collection[str]) -> None:
        with self.use(sandbox) as engine:
            engine.delete(snapshot_ids)

    def diff(self, sandbox: SandboxRef, old: str, new: str, prefix: str = "") -> TreeDiff:
        with self.use(sandbox) as engine:
            return engine.diff(old, new, prefix)

    def sizes(self, sandbox: SandboxRef, hashes: Collection[str]) -> Mapping[str, int]:
        with self.use(sandbox) as engine:
            return engine.sizes(hashes)

    def changes(self, sandbox: SandboxRef, old: str, new: str) -> Sequence[PathChange]:
        with self.use(sandbox) as engine:
            return engine.changes(old, new)

    def changes_since(self, sandbox: SandboxRef, snapshot_id: str) -> Sequence[PathChange]:
        with self.use(sandbox) as engine:
            return engine.changes_since(snapshot_id)

    def combine(
        self, sandbox: SandboxRef, base: str, other: str, paths: Collection[str]
    ) -> SandboxCheckpoint:
        with self.use(sandbox) as engine:
            return engine.combine(base, other, paths)

    def merge(
        self,
        sandbox: SandboxRef,
        mine: str,
        base: str,
        theirs: str,
        strategy: MergeStrategy,
        names: MergeNames,
    ) -> MergeReport:
        with self.use(sandbox) as engine:
            return engine.merge(mine, base, theirs, strategy, names)

    def place(self, sandbox: SandboxRef, snapshot_id: str, paths: Collection[str]) -> None:
        with self.use(sandbox) as engine:
            engine.restore_paths(snapshot_id, paths)

    def _engine(self, sandbox: SandboxRef) -> SnapshotEngine:
        match sandbox.strategy:
            case SandboxStrategy.TRANSACTION_ROLLBACK:
                return SqliteSnapshots(sandbox, self._git)
            case SandboxStrategy.NONE:
                return NoSnapshots(sandbox)
            case _:
                try:
                    return FileSandbox(sandbox, self._git, self._limits)
                except OSError as error:
                    raise SnapshotError(
                        f"The private repository {sandbox.store} cannot be used: {error.strerror}",
                        hint="Restore it, or give yourself permission to use it",
                        store=sandbox.store,
                    ) from error
