"""What becomes of a step that failed: its state is kept, then the plan's policy acts."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from cleveragents.application.events import PlanFinished, WarningIssued
from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.system import Clock, EventSink, FaultPoints, IdSource
from cleveragents.application.services.checkpoint_service import CheckpointService, Milestone
from cleveragents.application.services.checkpoints.group_recorder import Taken
from cleveragents.application.services.checkpoints.resume_point import resume_point, start_of_run
from cleveragents.application.services.execution.step import StepContext
from cleveragents.application.services.rollback.procedure import RollbackProcedure
from cleveragents.domain.checkpoints.checkpoint import (
    Checkpoint,
    CheckpointType,
    EffectiveRecords,
    Trigger,
)
from cleveragents.domain.decisions.decision import Decision, DecisionType, decision_context
from cleveragents.domain.errors import (
    BusinessRuleViolation,
    CleverAgentsError,
    ExecutionError,
    SnapshotError,
)
from cleveragents.domain.plans.events import ToolRetried
from cleveragents.domain.plans.plan import Plan, PlanAction, PlanError
from cleveragents.domain.plans.plan_file import OnFailure

NOT_STORED = "the state before the step is not stored"


class FailurePolicy:
    """Ends a failed step as its plan wants it; everything it does can be killed and repeated."""

    def __init__(
        self,
        database: Database,
        checkpoints: CheckpointService,
        rollbacks: RollbackProcedure,
        clock: Clock,
        id_source: IdSource,
        events: EventSink,
        faults: FaultPoints,
    ) -> None:
        self._database = database
        self._checkpoints = checkpoints
        self._rollbacks = rollbacks
        self._clock = clock
        self._ids = id_source
        self._events = events
        self._faults = faults

    def restore_before_retry(self, context: StepContext, attempt: int) -> None:
        """Keeps the failed state, then restores the sandboxes to before the step.

        Args:
            context: The step.
            attempt: Which retry this is for, from 1.

        Raises:
            CleverAgentsError: one of the two could not be done.
        """
        point = self._state_before(context)
        if point is None:
            raise SnapshotError(NOT_STORED)
        self._keep(context)
        self._restore(context, point)
        most = context.plan.definition.policy.max_retries_per_step
        with self._database.write(context.plan.id) as transaction:
            transaction.events.add(
                ToolRetried(context.plan.id, context.step_index, context.step.tool, attempt, most)
            )

    def end(self, context: StepContext, error: CleverAgentsError) -> ExecutionError:
        """Keeps the failed state, follows the plan's policy, and returns the error to raise."""
        message, kept, restored = error.message, None, True
        policy = context.plan.definition.policy.on_failure
        try:
            point = self._point_to_restore(context, policy)
            kept = self._keep(context)
            if point is not None:
                self._restore(context, point)
            elif policy is not OnFailure.KEEP:
                message += f"; and the sandbox was left as it is: {NOT_STORED}"
                restored = False
        except CleverAgentsError as worse:
            message += f"; and the sandbox could not be rolled back: {worse.message}"
            restored = False
        return self.errored(context, message, kept, error.hint, recoverable=restored)

    def keep_progress(self, context: StepContext, *, done: bool) -> None:
        """Sees to it that a stopped run continues where it stopped, not at an earlier step.

        Args:
            context: The step it stopped at.
            done: Whether it stopped after the step, and not within it.
        """
        try:
            if done:
                self._point_now(context, "after", self._checkpoints.take(context.lease), None)
            else:
                self._state_before(context)
        except (BusinessRuleViolation, SnapshotError) as error:
            self._events.emit(WarningIssued(error.message))

    def errored(
        self,
        context: StepContext,
        message: str,
        kept: Checkpoint | None,
        hint: str | None = None,
        *,
        recoverable: bool = True,
    ) -> ExecutionError:
        """Records that the plan failed at the step, and returns the error to raise.

        Args:
            context: The step.
            message: Why it failed.
            kept: The checkpoint of the failed state, if one was made.
            hint: What the tool suggests.
            recoverable: Whether the sandbox is as the plan's policy wants it.
        """
        plan_id = context.plan.id
        failure = PlanError(
            message=message,
            tool=context.step.tool,
            step=context.number,
            step_index=context.step_index,
            checkpoint=kept.id if kept else None,
            recoverable=recoverable,
            hint=hint,
        )
        with self._database.write(plan_id) as transaction:
            plan = transaction.plans.get(plan_id)
            transaction.decisions.add(self._recovery(transaction, context, plan, message))
            failed = plan.after(PlanAction.FAIL, self._clock.now())
            transaction.plans.save(replace(failed, error=failure))
        self._faults.reach(FaultPoint.FAILURE_RECORDED)
        self._events.emit(PlanFinished(plan_id, succeeded=False))
        return ExecutionError(
            f"Step {context.number} (`{context.step.name}`) failed: {message}",
            hint=f"Fix the cause and run `agents plan resume {plan_id}` to continue, "
            f"or `agents plan errors {plan_id}` to see what else can be done",
            plan_id=plan_id,
            step=context.number,
            tool=context.step.tool,
        )

    def refused(
        self, plan: Plan, step_index: int, error: CleverAgentsError, *, before_start: bool
    ) -> None:
        """Records that a run was refused before a step, so that the user sees why.

        Args:
            plan: The plan in `execute/processing`.
            step_index: The first step that was not run.
            error: Why it was refused.
            before_start: Whether the next run starts again instead of continuing.
        """
        failure = PlanError(
            message=error.message,
            tool=None,
            step=f"{step_index + 1} of {len(plan.step_sequence)}",
            step_index=step_index,
            checkpoint=None,
            recoverable=True,
            hint=error.hint,
            before_start=before_start,
        )
        failed = plan.after(PlanAction.FAIL, self._clock.now())
        with self._database.write(plan.id) as transaction:
            transaction.plans.save(replace(failed, error=failure))
        self._faults.reach(FaultPoint.FAILURE_RECORDED)

    def _keep(self, context: StepContext) -> Checkpoint | None:
        moment = Milestone(
            CheckpointType.AUTOMATIC,
            label=f"failed: {context.step.name}",
            reason=f"trigger {Trigger.ON_ERROR.value}",
            step_index=context.step_index,
            trigger=Trigger.ON_ERROR,
            source_tool=context.step.tool,
        )
        kept = self._checkpoints.auto_create_if_configured(
            context.lease, Trigger.ON_ERROR, context.plan, moment
        )
        self._faults.reach(FaultPoint.FAILED_STATE_KEPT)
        return kept

    def _restore(self, context: StepContext, point: Checkpoint) -> None:
        self._rollbacks.restore_during_run(context.lease, point)
        self._faults.reach(FaultPoint.FAILURE_TAKEN_BACK)

    def _point_to_restore(self, context: StepContext, policy: OnFailure) -> Checkpoint | None:
        if policy is OnFailure.ROLLBACK_PLAN:
            with self._database.read() as transaction:
                return start_of_run(transaction, context.plan.id)
        before = self._state_before(context)  # Also if it stays: the next run continues there.
        return None if policy is OnFailure.KEEP else before

    def _state_before(self, context: StepContext) -> Checkpoint | None:
        """Returns a checkpoint of the finished steps and of nothing else; None if none is stored.

        An older one would not do: it would throw away finished steps.
        """
        return self._point_now(context, "before", context.before.taken, context.effective)

    def _point_now(
        self,
        context: StepContext,
        when: str,
        taken: Sequence[Taken] | None,
        effective: EffectiveRecords | None,
    ) -> Checkpoint | None:
        """Returns the checkpoint of all finished steps; makes it of `taken` if there is none."""
        with self._database.read() as transaction:
            plan = transaction.plans.get(context.plan.id)
            point = resume_point(transaction, plan)
        if point is not None and point.metadata.last_completed_step >= plan.last_completed_step:
            return point
        done = context.step_index if when == "after" else context.step_index - 1
        if taken is None or plan.last_completed_step != done:
            return None
        moment = Milestone(
            CheckpointType.AUTOMATIC,
            label=f"{when} {context.step.name}",
            reason="the run ended here, and no checkpoint held its finished steps",
            step_index=context.step_index,
            source_tool=context.step.tool,
            effective=effective,
        )
        return self._checkpoints.create_as_required(context.lease, plan, moment, taken=taken)

    def _recovery(
        self, transaction: Transaction, context: StepContext, plan: Plan, message: str
    ) -> Decision:
        """Returns the decision that the policy made about a failure."""
        cause = message.partition("\n")[0].rstrip(":")
        return Decision(
            id=self._ids.new(),
            plan_id=plan.id,
            parent_id=plan.decision_root_id,
            sequence=transaction.decisions.next_sequence(plan.id),
            decision_type=DecisionType.ERROR_RECOVERY,
            question=f"Step {context.number} (`{context.step.name}`) failed: {cause}",
            chosen_option=plan.definition.policy.on_failure.value,
            alternatives_considered=[policy.value for policy in OnFailure],
            rationale="the plan's policy",
            context_snapshot=decision_context(context.paths, plan.last_checkpoint_id),
            step_index=context.step_index,
            created_at=self._clock.now(),
        )
