"""A store with one sandbox to test it on, and a way to do one act at a time on that sandbox."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

from cleveragents.application.ports.locks import PlanLease
from cleveragents.application.ports.records import Transaction
from cleveragents.application.ports.sandboxes import LockedSandbox, OpenSandbox, SnapshotStore
from cleveragents.domain.errors import ConflictError
from cleveragents.domain.sandboxes.sandbox import RestoreReport, SandboxRef
from cleveragents.testing.expectations import expect


@dataclass
class HeldLease(PlanLease):
    """A lease that no other process takes over."""

    plan_id: str

    def check(self, transaction: Transaction | None = None) -> None:
        """Never raises."""


@dataclass
class LostLease(PlanLease):
    """A lease that another process took over."""

    plan_id: str

    def check(self, transaction: Transaction | None = None) -> None:
        raise ConflictError(f"Plan {self.plan_id} was taken over", plan_id=self.plan_id)


@dataclass(frozen=True)
class StoreWorkspace:
    """A store, and a sandbox to test it on."""

    sandbox: SandboxRef
    open_store: Callable[[], SnapshotStore]
    """Opens the same store again at each call, as another process would."""

    def acts(self) -> LockedSandbox:
        """Opens the store again, for acts on the sandbox."""
        return single_acts(self.open_store(), self.sandbox)

    @contextmanager
    def watched(self) -> Generator[LockedSandbox]:
        """Has the sandbox watched during the block, for acts on it."""
        store = self.open_store()
        with store.watched([self.sandbox]):
            yield single_acts(store, self.sandbox)

    def store(self) -> str:
        return self.acts().snapshot().snapshot_id

    def restore(self, snapshot_id: str) -> RestoreReport:
        """Restores the sandbox and checks the report: nothing may differ."""
        report = self.acts().restore(snapshot_id)
        expect(report.differences, ())
        return report


def single_acts(store: SnapshotStore, sandbox: SandboxRef) -> LockedSandbox:
    """Returns a sandbox that is opened for each act alone, as services do it.

    An act that only reads opens the sandbox; every other act locks it.
    """
    return cast(LockedSandbox, _SingleActs(store, sandbox))


@dataclass(frozen=True)
class _SingleActs:
    store: SnapshotStore
    sandbox: SandboxRef

    def __getattr__(self, name: str) -> Callable[..., object]:
        def act(*arguments: Any, **options: Any) -> object:
            lease = HeldLease(self.sandbox.plan_id)
            reads = hasattr(OpenSandbox, name)
            entered = (
                self.store.open(self.sandbox) if reads else self.store.lock(self.sandbox, lease)
            )
            with entered as sandbox:
                return getattr(sandbox, name)(*arguments, **options)

        return act
