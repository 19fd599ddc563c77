"""Recovery: finishes whatever a killed process left unfinished.

In this order, because each needs what is before it:

1. end the processes that tools of the killed run left behind, so that nothing else writes
2. remove what an interrupted validation left
3. complete the operation in the journal, or undo it
4. end a session whose process is gone, with a checkpoint of what is there
5. delete the snapshots that no record names
6. remove the sandboxes that the records have discarded

Each can be killed and repeated.
"""

from __future__ import annotations

from contextlib import suppress

from cleveragents.application.events import WarningIssued
from cleveragents.application.ports.locks import Locks, PlanLease
from cleveragents.application.ports.records import Database
from cleveragents.application.ports.sandboxes import SnapshotStore
from cleveragents.application.ports.system import EventSink
from cleveragents.application.ports.tools import ToolBackend
from cleveragents.application.services.apply.procedure import ApplyProcedure
from cleveragents.application.services.apply.sandbox_removal import SandboxRemoval
from cleveragents.application.services.execution.session_end import (
    KILLED,
    NEVER_STARTED,
    SessionEnd,
)
from cleveragents.application.services.rollback.procedure import RollbackProcedure
from cleveragents.domain.checkpoints.operation import RecoveryOutcome
from cleveragents.domain.errors import SandboxMissingError
from cleveragents.domain.plans.plan import PlanPhase, PlanState
from cleveragents.domain.wording import counted


class Recovery:
    """Makes a plan's processes, files and records agree again before anything else is done."""

    def __init__(
        self,
        database: Database,
        snapshots: SnapshotStore,
        tools: ToolBackend,
        locks: Locks,
        events: EventSink,
        applies: ApplyProcedure,
        rollbacks: RollbackProcedure,
        removal: SandboxRemoval,
        session_end: SessionEnd,
    ) -> None:
        self._database = database
        self._snapshots = snapshots
        self._tools = tools
        self._locks = locks
        self._events = events
        self._applies = applies
        self._rollbacks = rollbacks
        self._removal = removal
        self._session_end = session_end

    def finish(
        self, plan_id: str, *, complete_apply: bool = True, session_goes_on: bool = False
    ) -> RecoveryOutcome | None:
        """Finishes what killed processes left; returns the outcome of an operation, if any.

        After an error the plan is as unfinished as before, and the next call tries again.

        Args:
            plan_id: The plan.
            complete_apply: Whether an interrupted apply is completed; otherwise it is undone.
            session_goes_on: Whether this process records the session from now on.

        Raises:
            ConflictError: a process is working on the plan.
            SnapshotError: an operation could be neither completed nor undone.
        """
        with self._locks.hold(plan_id) as lease:
            with self._database.read() as transaction:
                plan = transaction.plans.get(plan_id)
                operation = transaction.operations.pending(plan_id)
            # A plan in any other state has no run that could have left a process.
            ended = self._tools.end_leftovers(plan_id) if plan.state is PlanState.PROCESSING else 0
            if ended:
                what = counted(ended, "process", "processes")
                self._events.emit(
                    WarningIssued(f"Ended {what} that the interrupted run left behind")
                )
            if plan.phase is PlanPhase.APPLY and plan.state is PlanState.PROCESSING:
                self._restore_uncaptured(lease)
            outcome = None
            if operation is not None and operation.apply is not None:
                outcome = self._applies.recover(lease, complete=complete_apply)
            elif operation is not None:
                outcome = self._rollbacks.recover(lease, operation)
            if plan.session is not None and not session_goes_on:
                self._end_session(lease)
            delete_unnamed_snapshots(self._database, self._snapshots, lease)
            self._removal.remove_given_up(plan_id)
            return outcome

    def _end_session(self, lease: PlanLease) -> None:
        with self._database.read() as transaction:
            plan = transaction.plans.get(lease.plan_id)
        if not plan.is_running_session:
            return
        if plan.last_checkpoint_id is None:  # The command starts only after the first one.
            self._session_end.call_off(plan.id, NEVER_STARTED)
        else:
            self._session_end.record(lease, plan, KILLED)

    def _restore_uncaptured(self, lease: PlanLease) -> None:
        """Removes what a killed validation left and no checkpoint holds."""
        with self._database.read() as transaction:
            sandboxes = transaction.sandboxes.list(lease.plan_id)
        for sandbox in sandboxes:
            with (
                suppress(SandboxMissingError),  # Whoever needs the sandbox reports that.
                self._snapshots.lock(sandbox, lease) as locked,
            ):
                locked.restore_uncaptured()


def delete_unnamed_snapshots(database: Database, snapshots: SnapshotStore, lease: PlanLease) -> int:
    """Deletes the snapshots of a plan that no group names, and returns how many there were.

    A kill between snapshot and record leaves them, or one while pruning. Nobody is about to
    name one while this process holds the plan's lease. Where the database may be older than
    the snapshots, they stay.
    """
    if database.is_doubted():
        return 0
    with database.read() as transaction:
        sandboxes = transaction.sandboxes.list(lease.plan_id)
        groups = transaction.checkpoints.groups(lease.plan_id)
    named = {snapshot for group in groups for snapshot in group.snapshots.values()}
    deleted = 0
    for sandbox in sandboxes:
        with snapshots.lock(sandbox, lease) as locked:
            unnamed = set(locked.ids()) - named
            if unnamed:
                locked.delete(unnamed)
        deleted += len(unnamed)
    return deleted
