"""CheckpointManager: the snapshots of every sandbox, whatever its strategy."""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager

from cleveragents.application.ports.locks import PlanLease
from cleveragents.application.ports.sandboxes import LockedSandbox, SnapshotStore
from cleveragents.domain.errors import SnapshotError
from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import SandboxCheckpoint, SandboxRef
from cleveragents.infrastructure.sandbox.files.engine_protocol import SnapshotEngine
from cleveragents.infrastructure.sandbox.files.sandbox import FileSandbox
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

    def wakeup(self, sandbox: SandboxRef) -> int | None:
        engine = self._watched.get(sandbox.id)
        return engine.wakeup() if isinstance(engine, FileSandbox) else None

    def note_changes(self, sandbox: SandboxRef) -> None:
        engine = self._watched.get(sandbox.id)
        if isinstance(engine, FileSandbox):
            engine.note_changes()

    def doubt(self, sandbox: SandboxRef, paths: Collection[str]) -> None:
        engine = self._watched.get(sandbox.id)
        if isinstance(engine, FileSandbox):
            engine.doubt(paths)

    @contextmanager
    def lock(self, sandbox: SandboxRef, lease: PlanLease) -> Generator[LockedSandbox]:
        lease.check()
        with self.open(sandbox) as engine:
            yield engine

    @contextmanager
    def open(self, sandbox: SandboxRef) -> Generator[SnapshotEngine]:
        """Yields the engine that watches the sandbox, or one for this act alone.

        Services see an `OpenSandbox`. Whoever creates a sandbox uses the rest of the engine too:
        no plan has the sandbox yet, so nobody holds a lease.
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
