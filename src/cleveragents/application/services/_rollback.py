"""The rollback procedure, one function per stage.

1. the caller holds the lease            6. safety group of the present state
2. guards                                7. intent into the journal
3. preview                               8. restore every resource
4. the caller asked for confirmation     9. verify what is on disk
5. children (there are none yet)        10. one transaction: records follow the files

A failure in 8 to 10 restores every resource from 6 and leaves the records as
they were. A kill leaves a pending journal entry, which `recover` completes or
undoes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports import (
    Clock,
    Database,
    FaultPoints,
    IdSource,
    Sandboxes,
    SnapshotStore,
    Transaction,
)
from cleveragents.domain.checkpoint import (
    Checkpoint,
    CheckpointGroup,
    CheckpointType,
    Operation,
    OperationKind,
    OperationStatus,
    RollbackPreview,
    RollbackResult,
)
from cleveragents.domain.effects import Effect, effects_of
from cleveragents.domain.errors import (
    CheckpointPlanMismatchError,
    CleverAgentsError,
    ConflictError,
    PlanAppliedError,
    SnapshotCorruptError,
    SnapshotError,
)
from cleveragents.domain.events import CheckpointRestored
from cleveragents.domain.number_ranges import ranges_of
from cleveragents.domain.plan import Plan, PlanEvent, transition
from cleveragents.domain.sandbox import (
    FileChange,
    RestorePreview,
    RestoreReport,
    SandboxRef,
    SandboxState,
    Uncaptured,
)
from cleveragents.domain.timeline import set_aside_and_back


class Rollback:
    """One rollback of one plan, or the recovery of one that was killed."""

    def __init__(
        self,
        database: Database,
        snapshots: SnapshotStore,
        sandboxes: Sandboxes,
        clock: Clock,
        id_source: IdSource,
        faults: FaultPoints,
        check_lease: Callable[[str], None],
        save_present_state: Callable[[str, Checkpoint], Checkpoint],
    ) -> None:
        self._database = database
        self._snapshots = snapshots
        self._sandboxes = sandboxes
        self._clock = clock
        self._ids = id_source
        self._faults = faults
        self._check_lease = check_lease
        self._save_present_state = save_present_state

    def preview(self, plan_id: str, checkpoint: Checkpoint) -> RollbackPreview:
        """Runs the guards and says what the rollback would do."""
        sandboxes, group = self._guard(plan_id, checkpoint)
        restores = [
            self._snapshots.preview(sandbox, group.snapshots[sandbox.resource_id])
            for sandbox in sandboxes
        ]
        changes, left_alone = _united(sandboxes, restores)
        with self._database.read() as transaction:
            calls = transaction.tool_calls.list(plan_id)
            groups = transaction.checkpoints.groups(plan_id)
            visible = transaction.checkpoints.list(plan_id)
            every = transaction.checkpoints.list(plan_id, set_aside=True)
            aside, back = set_aside_and_back(group, groups, transaction.operations.list(plan_id))
            discarded = _later_decisions(transaction, checkpoint)
        undone = [
            call for call in calls if call.undone_by is None and not checkpoint.metadata.knows(call)
        ]
        after = [
            item
            for item in visible
            if item.group_id in aside and item.checkpoint_type is not CheckpointType.SAFETY
        ]
        returning = [item for item in every if item.group_id in back]
        return RollbackPreview(
            plan_id=plan_id,
            checkpoint=checkpoint,
            changes=changes,
            left_alone=left_alone,
            decisions_after=len(discarded),
            tool_calls_after=len(undone),
            child_plans_after=0,
            checkpoints_after=len(after),
            # One more is the safety checkpoint.
            checkpoints_remaining=len(visible) - len(after) + len(returning) + 1,
            effects_not_undone=effects_of(undone),
        )

    def run(self, plan_id: str, checkpoint: Checkpoint) -> RollbackResult:
        """Rolls back; afterwards everything is at the checkpoint, or everything is as before."""
        sandboxes, group = self._guard(plan_id, checkpoint)
        with self._snapshots.watched(sandboxes):
            safety = self._save_present_state(plan_id, checkpoint)
            self._faults.reach(FaultPoint.PRESENT_STATE_SAVED)
            operation = self._journal(plan_id, checkpoint, safety)
            try:
                reports = self._restore(sandboxes, group, None)
                plan, discarded, undone, remaining, effects = self._record(operation)
            except BaseException as error:
                self._undo(operation, sandboxes, error)
                raise
        changes, left_alone = _united(sandboxes, reports)
        return RollbackResult(
            plan_id=plan_id,
            checkpoint=checkpoint,
            changes=changes,
            left_alone=left_alone,
            decisions_discarded=discarded,
            tool_calls_undone=undone,
            child_plans_invalidated=0,
            checkpoints_remaining=remaining,
            effects_not_undone=effects,
            operation_id=operation.id,
            safety_checkpoint_id=safety.id,
            phase=plan.phase,
            state="queued",
            verified=True,
        )

    def recover(self, plan_id: str) -> str | None:
        """Completes a killed rollback, or undoes it if it cannot be completed; says which."""
        with self._database.read() as transaction:
            operation = transaction.operations.pending(plan_id)
            sandboxes = transaction.sandboxes.list(plan_id)
            if operation is None:
                return None
            group = transaction.checkpoints.get_group(operation.target_group_id)
            safety = transaction.checkpoints.get_group(operation.safety_group_id)
        for sandbox in sandboxes:
            self._sandboxes.check(sandbox)
        try:
            self._restore(sandboxes, group, safety)
            self._record(operation)
        except ConflictError:
            raise  # Another process has the plan now, and takes this up itself.
        except CleverAgentsError as error:
            self._undo(operation, sandboxes, error)
            return (
                f"An interrupted rollback to {operation.target_checkpoint_id} could not be "
                f"completed and was undone: {error.message}"
            )
        return f"An interrupted rollback to {operation.target_checkpoint_id} was completed"

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
            _mark_calls(transaction, checkpoint, plan_id, checkpoint.id)
            discarded = _later_decisions(transaction, checkpoint)
            transaction.decisions.supersede(discarded, checkpoint.id)
            plan = transaction.plans.get(plan_id)
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

    def _guard(
        self, plan_id: str, checkpoint: Checkpoint
    ) -> tuple[Sequence[SandboxRef], CheckpointGroup]:
        with self._database.read() as transaction:
            plan = transaction.plans.get(plan_id)
            sandboxes = transaction.sandboxes.list(plan_id)
            group = transaction.checkpoints.get_group(checkpoint.group_id)
        if checkpoint.plan_id != plan_id:
            raise CheckpointPlanMismatchError(checkpoint.id, plan_id, checkpoint.plan_id)
        if plan.is_applied:
            raise PlanAppliedError(plan_id)
        if checkpoint.metadata.state_hash not in group.state_hashes.values():
            raise SnapshotCorruptError(
                f"The record of checkpoint {checkpoint.id} is damaged",
                hint="Choose another checkpoint; nothing was changed",
                checkpoint_id=checkpoint.id,
            )
        transition(plan.phase, plan.state, PlanEvent.ROLL_BACK)
        for sandbox in sandboxes:
            self._sandboxes.check(sandbox)
        return sandboxes, group

    def _journal(self, plan_id: str, checkpoint: Checkpoint, safety: Checkpoint) -> Operation:
        operation = Operation(
            id=self._ids.new(),
            plan_id=plan_id,
            kind=OperationKind.ROLLBACK,
            status=OperationStatus.PENDING,
            target_checkpoint_id=checkpoint.id,
            target_group_id=checkpoint.group_id,
            safety_group_id=safety.group_id,
            note=f"rollback to {checkpoint.metadata.label}",
            created_at=self._clock.now(),
            finished_at=None,
        )
        with self._database.write() as transaction:
            transaction.operations.add(operation)
        self._faults.reach(FaultPoint.ROLLBACK_JOURNALED)
        return operation

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

    def _record(self, operation: Operation) -> tuple[Plan, int, int, int, tuple[Effect, ...]]:
        """Stage 10; returns the plan, how many decisions and calls went, what stays and lasts."""
        now = self._clock.now()
        with self._database.write() as transaction:
            checkpoint = transaction.checkpoints.get(operation.target_checkpoint_id)
            undone = _mark_calls(transaction, checkpoint, operation.plan_id, operation.id)
            calls = transaction.tool_calls.list(operation.plan_id)
            effects = effects_of(call for call in calls if call.undone_by == operation.id)
            discarded = _later_decisions(transaction, checkpoint)
            transaction.decisions.supersede(discarded, operation.id)
            _mark_groups(transaction, operation)
            for sandbox in transaction.sandboxes.list(operation.plan_id):
                transaction.sandboxes.save(
                    sandbox.model_copy(update={"state": SandboxState.ROLLED_BACK})
                )
            plan = (
                transaction.plans.get(operation.plan_id)
                .after(PlanEvent.ROLL_BACK, now)
                .model_copy(
                    update={
                        "last_completed_step": checkpoint.metadata.last_completed_step,
                        "last_checkpoint_id": checkpoint.id,
                        "error": None,
                        "finished_at": None,
                    }
                )
            )
            transaction.plans.save(plan)
            transaction.operations.save(_ended(operation, OperationStatus.COMPLETED, now))
            remaining = len(transaction.checkpoints.list(operation.plan_id))
        self._faults.reach(FaultPoint.ROLLBACK_RECORDED)
        return plan, len(discarded), undone, remaining, effects

    def _undo(
        self, operation: Operation, sandboxes: Sequence[SandboxRef], cause: BaseException
    ) -> None:
        """Puts every resource back from the safety group; the journal stays open if that fails."""
        with self._database.read() as transaction:
            group = transaction.checkpoints.get_group(operation.safety_group_id)
        try:
            self._restore(sandboxes, group, group)
        except ConflictError:
            raise
        except CleverAgentsError as error:
            raise SnapshotError(
                f"The rollback failed ({cause}) and what it had begun could not be taken back: "
                f"{error.message}",
                hint=f"Mend the cause, then run `agents plan execute {operation.plan_id}`: "
                "it takes this up again",
            ) from cause
        self._faults.reach(FaultPoint.COMPENSATED)
        with self._database.write() as transaction:
            ended = _ended(operation, OperationStatus.UNDONE, self._clock.now())
            transaction.operations.save(ended)


def _ended(operation: Operation, status: OperationStatus, now: object) -> Operation:
    return operation.model_copy(update={"status": status, "finished_at": now})


def _mark_calls(
    transaction: Transaction, checkpoint: Checkpoint, plan_id: str, undone_by: str
) -> int:
    """Makes the effective tool calls those the checkpoint knew; returns how many were undone."""
    wanted = checkpoint.metadata.effective_calls
    if wanted is None:
        calls = transaction.tool_calls.list(plan_id)
        wanted = ranges_of(call.sequence for call in calls if checkpoint.metadata.knows(call))
    return transaction.tool_calls.make_effective(plan_id, wanted, undone_by)


def _later_decisions(transaction: Transaction, checkpoint: Checkpoint) -> list[str]:
    """Returns the decisions made after the checkpoint that still stand."""
    done = checkpoint.metadata.last_completed_step
    return [
        decision.id
        for decision in transaction.decisions.list(checkpoint.plan_id)
        if decision.step_index is not None and decision.step_index > done
    ]


def _mark_groups(transaction: Transaction, operation: Operation) -> None:
    groups = transaction.checkpoints.groups(operation.plan_id)
    target = next(group for group in groups if group.id == operation.target_group_id)
    earlier = [item for item in transaction.operations.list(operation.plan_id) if item != operation]
    aside, back = set_aside_and_back(target, groups, earlier)
    safeties = {
        checkpoint.group_id
        for checkpoint in transaction.checkpoints.list(operation.plan_id, set_aside=True)
        if checkpoint.checkpoint_type is CheckpointType.SAFETY
    }
    transaction.checkpoints.set_aside(aside - safeties, operation.id)
    transaction.checkpoints.set_aside(back, None)


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
