"""What becomes of a step that failed: its state is kept, then the plan's policy acts."""

from __future__ import annotations

from cleveragents.application.events import PlanFinished
from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.system import Clock, EventSink, FaultPoints, IdSource
from cleveragents.application.services.checkpoint_service import CheckpointService, Milestone
from cleveragents.application.services.checkpoints.resume_point import resume_point, start_of_run
from cleveragents.application.services.execution.step import StepContext
from cleveragents.application.services.rollback.procedure import RollbackProcedure
from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointType, Trigger
from cleveragents.domain.decisions.decision import Decision, DecisionType, decision_context
from cleveragents.domain.errors import CleverAgentsError, ExecutionError
from cleveragents.domain.plans.events import ToolRetried
from cleveragents.domain.plans.plan import Plan, PlanAction, PlanError
from cleveragents.domain.plans.plan_file import OnFailure


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
        with self._database.read() as transaction:
            point = resume_point(transaction, transaction.plans.get(context.plan.id))
        self._keep(context)
        if point is not None:
            self._restore(context, point)
        most = context.plan.definition.policy.max_retries_per_step
        with self._database.write() as transaction:
            transaction.events.add(
                ToolRetried(context.plan.id, context.step_index, context.step.tool, attempt, most)
            )

    def end(self, context: StepContext, error: CleverAgentsError) -> ExecutionError:
        """Keeps the failed state, follows the plan's policy, and returns the error to raise."""
        message, kept = error.message, None
        point = self._point_to_restore(context)
        try:
            kept = self._keep(context)
            if point is not None:
                self._restore(context, point)
        except CleverAgentsError as worse:
            message += f"; and the sandbox could not be rolled back: {worse.message}"
        return self.errored(context, message, kept, error.hint)

    def errored(
        self, context: StepContext, message: str, kept: Checkpoint | None, hint: str | None = None
    ) -> ExecutionError:
        """Records that the plan failed at the step, and returns the error to raise."""
        plan_id = context.plan.id
        failure = PlanError(
            message=message,
            tool=context.step.tool,
            step=context.number,
            step_index=context.step_index,
            checkpoint=kept.id if kept else None,
            recoverable=True,
            hint=hint,
        )
        with self._database.write() as transaction:
            plan = transaction.plans.get(plan_id)
            transaction.decisions.add(self._recovery(transaction, context, plan, message))
            failed = plan.after(PlanAction.FAIL, self._clock.now())
            transaction.plans.save(failed.model_copy(update={"error": failure}))
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
            before_start: Whether the run is to be started again, and not continued.
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
        with self._database.write() as transaction:
            transaction.plans.save(failed.model_copy(update={"error": failure}))
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

    def _point_to_restore(self, context: StepContext) -> Checkpoint | None:
        policy = context.plan.definition.policy.on_failure
        if policy is OnFailure.KEEP:
            return None
        with self._database.read() as transaction:
            if policy is OnFailure.ROLLBACK_PLAN:
                return start_of_run(transaction, context.plan.id)
            return resume_point(transaction, transaction.plans.get(context.plan.id))

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
