"""Removing the sandboxes of a plan that has ended, as the configuration says."""

from __future__ import annotations

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports import Database, FaultPoints, Sandboxes
from cleveragents.domain.cleanup import SandboxCleanup, is_removed
from cleveragents.domain.plan import Plan
from cleveragents.domain.sandbox import SandboxState, SandboxStrategy


class Cleaning:
    """Removes sandboxes; snapshots of them stay. The caller holds the plan's lease."""

    def __init__(
        self,
        database: Database,
        sandboxes: Sandboxes,
        faults: FaultPoints,
        cleanup: SandboxCleanup,
    ) -> None:
        self._database = database
        self._sandboxes = sandboxes
        self._faults = faults
        self._cleanup = cleanup

    def end(self, plan: Plan, *, discard: bool = False) -> bool:
        """Removes the sandboxes if this end of the plan is one that does; says whether it did.

        A kill leaves some of them, which the records still call what they were.
        """
        if not is_removed(self._cleanup, plan, discard=discard):
            return False
        with self._database.read() as transaction:
            sandboxes = transaction.sandboxes.list(plan.id)
        for sandbox in sandboxes:
            if sandbox.strategy is SandboxStrategy.NONE:
                continue  # That is the user's own.
            self._sandboxes.remove(sandbox)
            self._faults.reach(FaultPoint.SANDBOX_REMOVED)
            with self._database.write() as transaction:
                gone = sandbox.model_copy(update={"state": SandboxState.CLEANED_UP})
                transaction.sandboxes.save(gone)
        return True
