"""Going back, whatever for: one procedure, one function per stage.

1. the caller holds the lease            6. safety group of the present state
2. guards                                7. intent into the journal
3. preview                               8. restore every resource
4. the caller asked for confirmation     9. verify what is on disk
5. the caller holds the leases of        10. one transaction: records follow the files
   all child plans: none runs

A failure in 8 to 10 restores every resource from 6 and leaves the records as
they were. A kill leaves a pending journal entry, which `recover` completes or
undoes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.sandboxes import Sandboxes, SnapshotStore
from cleveragents.application.ports.system import Clock, FaultPoints, IdSource
from cleveragents.application.services.rollback import positions, revert
from cleveragents.application.services.rollback.intents import Destination, Intent
from cleveragents.application.services.subplans.family import cancel
from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointGroup
from cleveragents.domain.checkpoints.number_ranges import holds
from cleveragents.domain.checkpoints.operation import (
    Operation,
    OperationKind,
    OperationStatus,
    RollbackPreview,
    RollbackResult,
)
from cleveragents.domain.errors import (
    ChildAppliedError,
    CleverAgentsError,
    ConflictError,
    PlanAppliedError,
    SandboxMissingError,
    SnapshotCorruptError,
    SnapshotError,
)
from cleveragents.domain.plans.events import CheckpointRestored
from cleveragents.domain.plans.plan import Plan, PlanState
from cleveragents.domain.sandboxes.sandbox import (
    FileChange,
    RestorePreview,
    RestoreReport,
    SandboxRef,
    SandboxState,
    Uncaptured,
)


@dataclass(frozen=True)
class RecoveryOutcome:
    """What became of an operation that a killed process had begun."""

    kind: OperationKind
    completed: bool
    sentence: str


class RollbackProcedure:
    """One operation on one plan, or the recovery of one that was killed."""

    def __init__(
        self,
        database: Database,
        snapshots: SnapshotStore,
        sandboxes: Sandboxes,
        clock: Clock,
        id_source: IdSource,
        faults: FaultPoints,
        check_lease: Callable[[str], None],
        save_present_state: Callable[[str, Destination], Checkpoint],
    ) -> None:
        self._database = database
        self._snapshots = snapshots
        self._sandboxes = sandboxes
        self._clock = clock
        self._ids = id_source
        self._faults = faults
        self._check_lease = check_lease
        self._save_present_state = save_present_state

    def preview(self, plan_id: str, intent: Intent) -> RollbackPreview:
        """Runs the guards and says what the operation would do."""
        sandboxes, destination = self._guard(plan_id, intent)
        wanted, part = destination.group.snapshots, destination.part
        restores = [
            self._snapshots.preview(
                sandbox,
                wanted[sandbox.resource_id],
                part.paths.get(sandbox.resource_id, ()) if part else None,
            )
            for sandbox in sandboxes
        ]
        changes, left_alone = _united(sandboxes, restores)
        with self._database.read() as transaction:
            moved = positions.difference(transaction, plan_id, destination.after)
            visible = transaction.checkpoints.list(plan_id)
            every = transaction.checkpoints.list(plan_id, set_aside=True)
        aside = {group.id for group in moved.groups_aside}
        back = {group.id for group in moved.groups_back}
        after = [item for item in visible if item.group_id in aside]
        returning = [item for item in every if item.group_id in back]
        combined = 1 if part else 0
        return RollbackPreview(
            plan_id=plan_id,
            kind=intent.kind,
            checkpoint=destination.checkpoint,
            changes=changes,
            left_alone=left_alone,
            decisions_after=len(moved.decisions_gone),
            tool_calls_after=len(moved.calls_undone),
            child_plans_after=len(moved.children_gone),
            decisions_brought_back=len(moved.decisions_back),
            tool_calls_brought_back=len(moved.calls_back),
            child_plans_brought_back=len(moved.children_back),
            checkpoints_after=len(after),
            # One more is the safety checkpoint.
            checkpoints_remaining=len(visible) - len(after) + len(returning) + combined + 1,
            effects_not_undone=moved.effects,
            phase=destination.after.phase,
            state=destination.after.state,
            takes_back=destination.takes_back,
            label=part.label if part else destination.checkpoint.metadata.label,
            in_part=part is not None,
        )

    def run(self, plan_id: str, intent: Intent) -> RollbackResult:
        """Carries it out; afterwards everything is where it leads, or everything is as before."""
        sandboxes, destination = self._guard(plan_id, intent)
        with self._snapshots.watched(sandboxes):
            safety = self._save_present_state(plan_id, destination)
            self._faults.reach(FaultPoint.PRESENT_STATE_SAVED)
            operation, destination = self._journal(plan_id, intent, safety)
            try:
                reports = self._restore(sandboxes, destination.group, None)
                plan, moved, remaining = self._record(operation)
            except BaseException as error:
                self._compensate(operation, sandboxes, error)
                raise
        changes, left_alone = _united(sandboxes, reports)
        return RollbackResult(
            plan_id=plan_id,
            kind=intent.kind,
            checkpoint=destination.checkpoint,
            changes=changes,
            left_alone=left_alone,
            decisions_discarded=len(moved.decisions_gone),
            decisions_brought_back=len(moved.decisions_back),
            tool_calls_undone=len(moved.calls_undone),
            tool_calls_brought_back=len(moved.calls_back),
            child_plans_invalidated=len(moved.children_gone),
            child_plans_brought_back=len(moved.children_back),
            checkpoints_remaining=remaining,
            effects_not_undone=moved.effects,
            operation_id=operation.id,
            takes_back=destination.takes_back,
            safety_checkpoint_id=safety.id,
            phase=plan.phase,
            state=plan.state,
            verified=True,
        )

    def recover(self, plan_id: str) -> RecoveryOutcome | None:
        """Completes a killed operation, or undoes it if it cannot be completed; says which."""
        with self._database.read() as transaction:
            operation = transaction.operations.pending(plan_id)
            sandboxes = transaction.sandboxes.list(plan_id)
            if operation is None:
                return None
            group = transaction.checkpoints.get_group(operation.target_group_id)
            safety = transaction.checkpoints.get_group(operation.safety_group_id)
        for sandbox in sandboxes:
            self._make_if_lost(sandbox)
        what = f"An interrupted {operation.kind.value} to {operation.target_checkpoint_id}"
        try:
            self._restore(sandboxes, group, safety)
            self._record(operation)
        except ConflictError:
            raise  # Another process has the plan now, and takes this up itself.
        except CleverAgentsError as error:
            self._compensate(operation, sandboxes, error)
            sentence = f"{what} could not be completed and was undone: {error.message}"
            return RecoveryOutcome(operation.kind, completed=False, sentence=sentence)
        return RecoveryOutcome(operation.kind, completed=True, sentence=f"{what} was completed")

    def _make_if_lost(self, sandbox: SandboxRef) -> None:
        """Makes a sandbox that is gone anew and empty: it is about to be filled."""
        try:
            self._sandboxes.check(sandbox)
        except SandboxMissingError:
            self._sandboxes.reopen(sandbox)

    def return_to(self, plan_id: str, checkpoint: Checkpoint) -> None:
        """Takes the sandboxes back within a run: after a failure, or before going on with it.

        The plan stays in its state. No journal is needed: a kill leaves the plan
        in `processing`, and going on with it begins with this very act.
        """
        with self._database.read() as transaction:
            sandboxes = transaction.sandboxes.list(plan_id)
            group = transaction.checkpoints.get_group(checkpoint.group_id)
        self._restore(sandboxes, group, None)
        self._faults.reach(FaultPoint.SANDBOXES_TAKEN_BACK)
        with self._database.write() as transaction:
            plan = transaction.plans.get(plan_id)
            known = positions.known_at(transaction, checkpoint, group)
            transaction.tool_calls.make_effective(plan_id, known.calls, checkpoint.id)
            later = [
                decision.id
                for decision in transaction.decisions.list(plan_id)
                # What the user said holds for whatever is tried next.
                if decision.step_index is not None and not holds(known.decisions, decision.sequence)
            ]
            transaction.decisions.supersede(later, checkpoint.id)
            for child in transaction.plans.children(plan_id):
                if child.spawn_decision_id in later and child.state is not PlanState.CANCELLED:
                    cancel(transaction, child, positions.INVALIDATED, self._clock.now())
            transaction.plans.save(
                plan.model_copy(
                    update={
                        "last_completed_step": checkpoint.metadata.last_completed_step,
                        "last_checkpoint_id": checkpoint.id,
                        "updated_at": self._clock.now(),
                    }
                )
            )
            transaction.events.add(
                CheckpointRestored(plan_id, checkpoint.id, checkpoint.metadata.label, None, None)
            )
        self._faults.reach(FaultPoint.RETURN_RECORDED)

    def _guard(self, plan_id: str, intent: Intent) -> tuple[Sequence[SandboxRef], Destination]:
        with self._database.read() as transaction:
            plan = transaction.plans.get(plan_id)
            sandboxes = transaction.sandboxes.list(plan_id)
            if plan.is_applied:
                raise PlanAppliedError(plan_id)
            destination = intent.destination(transaction, plan)
            self._refuse_applied_children(transaction, plan, destination)
        for sandbox in sandboxes:
            self._sandboxes.check(sandbox)
        return sandboxes, destination

    def _refuse_applied_children(
        self, transaction: Transaction, plan: Plan, destination: Destination
    ) -> None:
        moved = positions.difference(transaction, plan.id, destination.after)
        applied = [child.id for child in moved.children_gone if child.state is PlanState.APPLIED]
        if applied:
            raise ChildAppliedError(plan.id, applied)

    def _journal(
        self, plan_id: str, intent: Intent, safety: Checkpoint
    ) -> tuple[Operation, Destination]:
        with self._database.read() as transaction:
            present = transaction.checkpoints.get_group(safety.group_id).snapshots
        combined = intent.combine(present)
        with self._database.write() as transaction:
            plan = transaction.plans.get(plan_id)
            before = positions.present(transaction, plan)
            destination = intent.settled(transaction, plan, combined)
            takes_back = destination.takes_back
            operation = Operation(
                id=self._ids.new(),
                plan_id=plan_id,
                kind=intent.kind,
                status=OperationStatus.PENDING,
                target_checkpoint_id=destination.checkpoint.id,
                target_group_id=destination.group.id,
                safety_group_id=safety.group_id,
                note=destination.note,
                created_at=self._clock.now(),
                finished_at=None,
                before=before,
                after=destination.after,
                takes_back=takes_back.id if takes_back else None,
            )
            intent.journal(transaction, operation)
            transaction.operations.add(operation)
        self._faults.reach(FaultPoint.ROLLBACK_JOURNALED)
        return operation, destination

    def _restore(
        self,
        sandboxes: Sequence[SandboxRef],
        group: CheckpointGroup,
        safety: CheckpointGroup | None,
    ) -> list[RestoreReport]:
        self._check_lease(group.plan_id)  # Files have no transaction that could refuse them.
        reports: list[RestoreReport] = []
        for sandbox in sandboxes:
            wanted = group.snapshots[sandbox.resource_id]
            spared = safety.snapshots[sandbox.resource_id] if safety else None
            reports.append(self._snapshots.rollback_to(sandbox, wanted, spared))
            self._faults.reach(FaultPoint.RESOURCE_RESTORED)
        wrong = [line for report in reports for line in report.differences]
        if wrong:
            raise SnapshotCorruptError(
                "What was restored is not what was stored: " + "; ".join(wrong),
                hint="End the processes that write to the sandbox, then roll back again",
                differences=wrong,
            )
        return reports

    def _record(self, operation: Operation) -> tuple[Plan, positions.PositionDifference, int]:
        """Stage 10; returns the plan, what changed in the records, and the checkpoints left."""
        now = self._clock.now()
        with self._database.write() as transaction:
            after = operation.after or positions.meant_by(transaction, operation)
            attempt = transaction.corrections.of_operation(operation.id)
            successor = attempt.new_decision_id if attempt else operation.id
            plan, moved = positions.move(
                transaction, operation.plan_id, after, operation.id, successor, now
            )
            if attempt is not None:
                revert.complete(transaction, plan, attempt, now)
            for sandbox in transaction.sandboxes.list(operation.plan_id):
                transaction.sandboxes.save(
                    sandbox.model_copy(update={"state": SandboxState.ROLLED_BACK})
                )
            transaction.operations.save(_ended(operation, OperationStatus.COMPLETED, now))
            remaining = len(transaction.checkpoints.list(operation.plan_id))
        self._faults.reach(FaultPoint.ROLLBACK_RECORDED)
        return plan, moved, remaining

    def _compensate(
        self, operation: Operation, sandboxes: Sequence[SandboxRef], cause: BaseException
    ) -> None:
        """Puts every resource back from the safety group; the journal stays open if that fails.

        An interruption may come after the records were stored: then there is nothing to undo.
        """
        with self._database.read() as transaction:
            pending = transaction.operations.pending(operation.plan_id)
            group = transaction.checkpoints.get_group(operation.safety_group_id)
        if pending is None or pending.id != operation.id:
            return
        try:
            self._restore(sandboxes, group, group)
        except ConflictError:
            raise
        except CleverAgentsError as error:
            raise SnapshotError(
                f"The {operation.kind.value} failed ({cause}) and what it had begun could not be "
                f"taken back: {error.message}",
                hint=f"Mend the cause, then run `agents plan execute {operation.plan_id}`: "
                "it takes this up again",
            ) from cause
        self._faults.reach(FaultPoint.COMPENSATED)
        now = self._clock.now()
        with self._database.write() as transaction:
            transaction.operations.save(_ended(operation, OperationStatus.UNDONE, now))
            attempt = transaction.corrections.of_operation(operation.id)
            if attempt is not None:
                transaction.corrections.save(revert.failed(attempt, now))
            _set_aside_what_was_made_for(transaction, operation)


def _set_aside_what_was_made_for(transaction: Transaction, operation: Operation) -> None:
    """Hides the group that was put together for an operation which then came to nothing."""
    target = transaction.checkpoints.get_group(operation.target_group_id)
    safety = transaction.checkpoints.get_group(operation.safety_group_id)
    if target.sequence > safety.sequence:
        transaction.checkpoints.set_aside([target.id], operation.id)


def _ended(operation: Operation, status: OperationStatus, now: datetime) -> Operation:
    return operation.model_copy(update={"status": status, "finished_at": now})


def _united(
    sandboxes: Sequence[SandboxRef], parts: Sequence[RestorePreview | RestoreReport]
) -> tuple[tuple[FileChange, ...], tuple[Uncaptured, ...]]:
    """Returns all changes in one list; with several resources a path names its resource first."""

    def named(sandbox: SandboxRef, path: str) -> str:
        return path if len(sandboxes) == 1 else f"{sandbox.resource}/{path}"

    changes = tuple(
        change.model_copy(update={"file": named(sandbox, change.file)})
        for sandbox, part in zip(sandboxes, parts, strict=True)
        for change in part.changes
    )
    left_alone = tuple(
        item.model_copy(update={"path": named(sandbox, item.path)})
        for sandbox, part in zip(sandboxes, parts, strict=True)
        for item in part.left_alone
    )
    return changes, left_alone
