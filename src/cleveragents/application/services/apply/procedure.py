"""Writing a plan's result into all of its resources or none, and undoing that just so.

1. The caller holds the lease, has planned every resource, and has stored that in the journal.
2. Lock every resource, and check that it is as it was found.
3. Write every resource.
4. Settle every resource: from here on the result counts.
5. One transaction records that the plan is applied and the operation completed.

The undo of an apply is the same with a journal that is the other way around. Before its last
stage, the sandboxes that the apply removed are made again from the last checkpoint.

A failure in 2 to 5 undoes every resource. A kill leaves a pending journal entry, which
`recover` completes, or undoes where it cannot be completed. ADR 0017 has the reasons.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from datetime import datetime

from msgspec.structs import replace

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.locks import PlanLease
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.system import Clock, FaultPoints
from cleveragents.application.ports.targets import Targets
from cleveragents.application.services.execution.sandbox_setup import SandboxSetup
from cleveragents.domain.checkpoints.operation import (
    Operation,
    OperationKind,
    OperationStatus,
    RecoveryOutcome,
)
from cleveragents.domain.errors import (
    BusinessRuleViolation,
    CleverAgentsError,
    ConflictError,
    InterruptedByUserError,
    MergeConflictError,
    SnapshotError,
    TargetChangedError,
)
from cleveragents.domain.plans.apply import Target
from cleveragents.domain.plans.plan import Plan, PlanAction, PlanError, PlanPhase, PlanState
from cleveragents.domain.plans.subplan_merge import merged_children
from cleveragents.domain.sandboxes.sandbox import SandboxState

_REFUSALS = (BusinessRuleViolation, ConflictError, InterruptedByUserError, MergeConflictError)


class ApplyProcedure:
    """One apply that is in the journal, or the recovery of one that was killed."""

    def __init__(
        self,
        database: Database,
        targets: Targets,
        workplace: SandboxSetup,
        clock: Clock,
        faults: FaultPoints,
    ) -> None:
        self._database = database
        self._targets = targets
        self._workplace = workplace
        self._clock = clock
        self._faults = faults

    def run(self, lease: PlanLease, operation: Operation) -> None:
        """Carries it out; afterwards every resource has the result, or is as it was."""
        try:
            self._faults.reach(FaultPoint.APPLY_JOURNALED)
            self._go_forward(lease, operation)
        except BaseException as error:
            self._undo(lease, operation, error)
            raise

    def recover(self, lease: PlanLease, *, complete: bool) -> RecoveryOutcome | None:
        """Completes a killed apply, or undoes it if it cannot be completed; says which.

        Without `complete` it is undone: the user wants to give the plan up.
        """
        with self._database.read() as transaction:
            operation = transaction.operations.pending(lease.plan_id)
        if operation is None or operation.apply is None:
            return None
        what = "An interrupted apply"
        if operation.kind is not OperationKind.APPLY:
            what = f"An interrupted {operation.kind.value} of an apply"
        if not complete:
            self._undo(lease, operation, InterruptedByUserError("The plan is being cancelled"))
            sentence = f"{what} was undone"
            return RecoveryOutcome(operation.kind, completed=False, sentence=sentence)
        try:
            self._go_forward(lease, operation)
        except CleverAgentsError as error:
            if isinstance(error, ConflictError) and not isinstance(error, TargetChangedError):
                raise  # Another process has the plan now, and recovers it itself.
            self._undo(lease, operation, error)
            sentence = f"{what} could not be completed and was undone: {error}"
            return RecoveryOutcome(operation.kind, completed=False, sentence=sentence)
        sentence = f"{what} was completed"
        return RecoveryOutcome(operation.kind, completed=True, sentence=sentence)

    def _go_forward(self, lease: PlanLease, operation: Operation) -> None:
        lease.check()  # Files have no transaction that could refuse them.
        with ExitStack() as opened:
            targets = [
                opened.enter_context(self._targets.open(target)) for target in _touched(operation)
            ]
            # Each stage ends for all resources before the next begins: what is most likely to be
            # refused comes first, while undoing is still cheap.
            for target in targets:
                target.lock()
                self._faults.reach(FaultPoint.TARGET_LOCKED)
            for target in targets:
                target.write()
                self._faults.reach(FaultPoint.TARGET_WRITTEN)
            lease.check()
            for target in targets:
                target.settle()
                self._faults.reach(FaultPoint.TARGET_SETTLED)
            if operation.kind is OperationKind.UNDO:
                self._rebuild_sandboxes(lease)
            for target in targets:
                target.release()
            self._record(operation)
            for target in targets:
                target.finish()

    def _rebuild_sandboxes(self, lease: PlanLease) -> None:
        """Makes the sandboxes again that the apply removed.

        They are recorded as not whole first, and stay so until they are filled.
        """
        with self._database.write(lease.plan_id) as transaction:
            for sandbox in transaction.sandboxes.list(lease.plan_id):
                if sandbox.state is SandboxState.CLEANED_UP:
                    transaction.sandboxes.save(replace(sandbox, state=SandboxState.ERRORED))
        self._workplace.ready(lease)
        self._faults.reach(FaultPoint.SANDBOXES_REBUILT)

    def _record(self, operation: Operation) -> None:
        now = self._clock.now()
        with self._database.write() as transaction:
            remove = operation.apply is not None and operation.apply.remove_sandboxes
            plan = transaction.plans.get(operation.plan_id)
            children = transaction.plans.descendants(plan.id)
            if operation.kind is OperationKind.UNDO:
                _record_unapplied(transaction, plan, children, operation, now)
            else:
                if operation.kind is OperationKind.REDO:
                    plan = plan.after(PlanAction.APPLY, now)
                plan = plan.after(PlanAction.FINISH, now)
                transaction.plans.save(replace(plan, finished_at=now, error=None))
                _commit(transaction, plan.id, remove=remove)
                # A long plan has many calls to read, and most plans have no children.
                merged = merged_children(transaction.tool_calls.list(plan.id)) if children else {}
                for child in children:
                    if child.id in merged:
                        merged |= merged_children(transaction.tool_calls.list(child.id))
                        applied = child.after(PlanAction.APPLY, now).after(PlanAction.FINISH, now)
                        transaction.plans.save(applied)
                        _commit(transaction, child.id, remove=remove)
            ended = {"status": OperationStatus.COMPLETED, "finished_at": now}
            transaction.operations.save(replace(operation, **ended))
        self._faults.reach(FaultPoint.APPLY_RECORDED)

    def _undo(self, lease: PlanLease, operation: Operation, cause: BaseException) -> None:
        """Undoes every resource; the journal stays open if that fails.

        An interruption may come after the records were stored: then the apply counts.
        """
        with self._database.read() as transaction:
            pending = transaction.operations.pending(operation.plan_id)
        if pending is None or pending.id != operation.id:
            return
        lease.check()
        problems: list[str] = []
        for planned in reversed(_touched(operation)):
            try:
                # Opened again: a failed act may have left an open target in any state.
                with self._targets.open(planned) as target:
                    target.undo()
            except CleverAgentsError as error:
                problems.append(error.message)  # The others are undone all the same.
            self._faults.reach(FaultPoint.TARGET_UNDONE)
        if problems:
            raise SnapshotError(
                f"The apply failed ({cause}) and could not be undone: {'; '.join(problems)}",
                hint="Fix the cause, then run `agents doctor --fix`, "
                f"or `agents plan apply {operation.plan_id}` to try again",
            ) from cause
        now = self._clock.now()
        with self._database.write(operation.plan_id) as transaction:
            ended = {"status": OperationStatus.UNDONE, "finished_at": now}
            transaction.operations.save(replace(operation, **ended))
            if operation.kind is OperationKind.UNDO and operation.apply is not None:
                # The plan is still applied: what was rebuilt may go again.
                remove = operation.apply.remove_sandboxes
                _commit(transaction, operation.plan_id, remove=remove)
            end_unapplied(transaction, transaction.plans.get(operation.plan_id), cause, now)


def _record_unapplied(
    transaction: Transaction,
    plan: Plan,
    children: Sequence[Plan],
    operation: Operation,
    now: datetime,
) -> None:
    """Makes the plan, and the children applied with it, complete again and ready to apply."""
    finished = plan.finished_at if operation.after is None else operation.after.finished_at
    complete = plan.after(PlanAction.UNAPPLY, now)
    transaction.plans.save(replace(complete, finished_at=finished))
    for sandbox in transaction.sandboxes.list(plan.id):
        if sandbox.state is SandboxState.COMMITTED:
            transaction.sandboxes.save(replace(sandbox, state=SandboxState.ACTIVE))
    for child in children:
        if child.state is PlanState.APPLIED:
            transaction.plans.save(child.after(PlanAction.UNAPPLY, now))


def end_unapplied(
    transaction: Transaction, plan: Plan, cause: BaseException, now: datetime
) -> None:
    """Stores that nothing of a plan was applied: refused or stopped, or because something failed.

    What was refused can be tried again as if nothing had been; a failure is kept with the plan.
    """
    if (plan.phase, plan.state) != (PlanPhase.APPLY, PlanState.PROCESSING):
        return
    if not isinstance(cause, CleverAgentsError) or isinstance(cause, _REFUSALS):
        transaction.plans.save(plan.after(PlanAction.POSTPONE, now))
        return
    error = PlanError(
        message=cause.message,
        tool=None,
        step="apply",
        step_index=plan.last_completed_step,
        checkpoint=plan.last_checkpoint_id,
        recoverable=True,
        hint=cause.hint,
    )
    failed = plan.after(PlanAction.FAIL, now)
    transaction.plans.save(replace(failed, error=error))


def _commit(transaction: Transaction, plan_id: str, *, remove: bool) -> None:
    """Records that the project has what the sandboxes hold, and whether they will be removed."""
    for sandbox in transaction.sandboxes.list(plan_id):
        # What is not private is the resource itself, which is never removed.
        given_up = remove and sandbox.strategy.is_private
        state = SandboxState.CLEANED_UP if given_up else SandboxState.COMMITTED
        transaction.sandboxes.save(replace(sandbox, state=state))


def _touched(operation: Operation) -> Sequence[Target]:
    record = operation.apply
    return [] if record is None else [item for item in record.targets if item.document]
