"""PlanExecutor: runs the steps of a plan, durable before and after each."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from cleveragents.application.events import (
    PlanFinished,
    PlanStarted,
    Stage,
    StepFinished,
    StepStarted,
    Warned,
)
from cleveragents.application.ports import (
    Clock,
    Database,
    EventSink,
    IdSource,
    Locks,
    Sandboxes,
    SnapshotStore,
    Transaction,
)
from cleveragents.application.services.checkpoint_service import CheckpointService, Moment
from cleveragents.application.services.tool_runner import StepContext, ToolRunner
from cleveragents.domain.checkpoint import Checkpoint, CheckpointType, Trigger
from cleveragents.domain.errors import (
    BusinessRuleViolation,
    CleverAgentsError,
    ConflictError,
    DatabaseError,
    ExecutionError,
)
from cleveragents.domain.plan import Plan, PlanError, PlanEvent, PlanPhase, PlanState
from cleveragents.domain.plan_file import OnFailure
from cleveragents.domain.sandbox import SandboxRef, SandboxState, SandboxStrategy


class PlanExecutor:
    """Starts plans, and goes on with those that were rolled back, failed or were interrupted."""

    def __init__(
        self,
        database: Database,
        checkpoints: CheckpointService,
        tools: ToolRunner,
        sandboxes: Sandboxes,
        snapshots: SnapshotStore,
        locks: Locks,
        clock: Clock,
        id_source: IdSource,
        events: EventSink,
    ) -> None:
        self._database = database
        self._checkpoints = checkpoints
        self._tools = tools
        self._sandboxes = sandboxes
        self._snapshots = snapshots
        self._locks = locks
        self._clock = clock
        self._ids = id_source
        self._events = events

    def execute(self, plan_id: str) -> Plan:
        """Runs the plan to its end; one that is complete is left as it is.

        Raises:
            ExecutionError: a step failed. The plan is errored, its policy was followed.
            ConflictError: another process holds the plan.
            PlanStateError: the plan cannot be executed in its state.
        """
        with self._locks.hold(plan_id):
            recovered = self._checkpoints.recover(plan_id)
            if recovered is not None:
                self._events.emit(Warned(recovered))
            with self._database.read() as transaction:
                plan = transaction.plans.get(plan_id)
            if (plan.phase, plan.state) == (PlanPhase.EXECUTE, PlanState.COMPLETE):
                return plan
            return self._run(plan)

    def _run(self, plan: Plan) -> Plan:
        going_on = plan.state in (PlanState.ERRORED, PlanState.PROCESSING)
        plan.after(PlanEvent.EXECUTE, self._clock.now())  # Refused here, before anything is made.
        sandboxes = self._ready_sandboxes(plan)
        with self._snapshots.watched(sandboxes):
            return self._run_in(sandboxes, plan, going_on=going_on)

    def _run_in(self, sandboxes: Sequence[SandboxRef], plan: Plan, *, going_on: bool) -> Plan:
        point = self._checkpoints.resume_point(plan.id)
        if going_on and point is not None:
            self._happen(plan.id, PlanEvent.EXECUTE, None)
            plan = self._go_back_to(plan, point, sandboxes)
        else:
            plan = self._start(plan)
        steps = plan.definition.steps
        first = plan.last_completed_step + 1
        self._events.emit(PlanStarted(plan.id, first, len(steps)))
        for index in range(first, len(steps)):
            self._step(StepContext(plan, index, steps[index], sandboxes))
        self._recheck(sandboxes)
        try:
            plan = self._finish(plan)
        except BusinessRuleViolation as error:
            last = StepContext(plan, len(steps) - 1, steps[-1], sandboxes)
            raise self._errored(last, error.message, None) from error
        self._events.emit(PlanFinished(plan.id, succeeded=True))
        return plan

    def _recheck(self, sandboxes: Sequence[SandboxRef]) -> None:
        """Looks at everything once more, so that nothing the system did not tell of is missing."""
        for sandbox in sandboxes:
            missed = self._snapshots.recheck(sandbox)
            if missed:
                self._events.emit(
                    Warned(
                        f"Changes in `{sandbox.resource}` came in without notice, and only the "
                        f"last checkpoint has them: {', '.join(missed[:5])}"
                        + (f" and {len(missed) - 5} more" if len(missed) > 5 else "")
                    )
                )

    def _ready_sandboxes(self, plan: Plan) -> Sequence[SandboxRef]:
        """Returns the plan's sandboxes, made now if this is its first run."""
        with self._database.read() as transaction:
            sandboxes = transaction.sandboxes.list(plan.id)
            resources = transaction.sandboxes.resources(plan.id)
        for sandbox in sandboxes:
            self._sandboxes.check(sandbox)
        if sandboxes:
            return sandboxes
        self._events.emit(Stage("Preparing the sandbox"))
        # While git works, this process has nothing to do.
        threading.Thread(target=self._database.prepare, daemon=True).start()
        made: list[SandboxRef] = []
        try:
            for resource in resources:
                made.append(self._sandboxes.create(self._ids.new(), plan.id, resource))
        except BaseException:
            for sandbox in made:
                self._sandboxes.remove(sandbox)
            raise
        with self._database.write() as transaction:
            for sandbox in made:
                transaction.sandboxes.add(sandbox)
        for sandbox in made:
            self._tell_what_is_missing(sandbox)
        return made

    def _tell_what_is_missing(self, sandbox: SandboxRef) -> None:
        if sandbox.strategy is SandboxStrategy.NONE:
            self._events.emit(
                Warned(
                    f"The resource `{sandbox.resource}` is worked on itself, without a sandbox: "
                    f"nothing done to {sandbox.path} can be rolled back"
                )
            )
        for item in sandbox.skipped:
            self._events.emit(
                Warned(
                    f"`{item.path}` is not in the sandbox of `{sandbox.resource}`: {item.reason}"
                )
            )

    def _go_back_to(self, plan: Plan, point: Checkpoint, sandboxes: Sequence[SandboxRef]) -> Plan:
        """Brings the sandboxes to the last durable group; what was there is kept."""
        with self._database.read() as transaction:
            group = transaction.checkpoints.get_group(point.group_id)
        drifted = any(
            self._snapshots.preview(sandbox, group.snapshots[sandbox.resource_id]).changes
            for sandbox in sandboxes
        )
        if drifted:
            found = self._checkpoints.create_checkpoint(
                plan.id,
                Moment(
                    CheckpointType.SAFETY,
                    label="found when going on",
                    reason="the sandbox was not as the last checkpoint left it",
                    step_index=max(plan.last_completed_step, 0),
                ),
            )
            self._events.emit(
                Warned(
                    f"The sandbox was not as the checkpoint `{point.metadata.label}` left it and "
                    f"was taken back; `agents plan rollback {plan.id} {found.id}` gets back "
                    "what was there"
                )
            )
        self._checkpoints.return_to(plan.id, point)
        with self._database.read() as transaction:
            return transaction.plans.get(plan.id)

    def _step(self, context: StepContext) -> None:
        index, steps = context.step_index, len(context.plan.definition.steps)
        name = context.step.name
        self._events.emit(StepStarted(context.plan.id, index, steps, name, context.step.tool))

        def completed(transaction: Transaction, plan: Plan) -> Plan:
            return plan.model_copy(
                update={"last_completed_step": index, "updated_at": self._clock.now()}
            )

        try:
            self._trigger(Trigger.BEFORE_STEP, context, f"before step {index + 1}: {name}")
            self._tools.run(context, completed)
            self._trigger(Trigger.AFTER_STEP, context, f"after step {index + 1}: {name}")
        except (DatabaseError, ConflictError):
            raise  # Nothing more can be recorded: the next run finds an interrupted plan.
        except CleverAgentsError as error:
            self._events.emit(StepFinished(context.plan.id, index, steps, name, succeeded=False))
            raise self._fail(context, error) from error
        self._events.emit(StepFinished(context.plan.id, index, steps, name, succeeded=True))

    def _trigger(self, trigger: Trigger, context: StepContext, label: str) -> Checkpoint | None:
        moment = Moment(
            CheckpointType.AUTOMATIC,
            label=label,
            reason=f"trigger {trigger.value}",
            step_index=context.step_index,
            trigger=trigger,
            source_tool=context.step.tool,
        )
        return self._checkpoints.auto_create_if_configured(trigger, context.plan, moment)

    def _fail(self, context: StepContext, error: CleverAgentsError) -> ExecutionError:
        """Keeps the failed state, follows the plan's policy, and returns the error to raise."""
        message, kept = error.message, None
        point = self._point_to_return_to(context)
        try:
            kept = self._trigger(Trigger.ON_ERROR, context, f"failed: {context.step.name}")
            if point is not None:
                self._checkpoints.return_to(context.plan.id, point)
        except CleverAgentsError as worse:
            message += f"; and the sandbox could not be taken back: {worse.message}"
        return self._errored(context, message, kept)

    def _errored(
        self, context: StepContext, message: str, kept: Checkpoint | None
    ) -> ExecutionError:
        """Records that the plan failed at the step, and returns the error to raise."""
        number = f"{context.step_index + 1} of {len(context.plan.definition.steps)}"
        failure = PlanError(
            message=message,
            tool=context.step.tool,
            step=number,
            step_index=context.step_index,
            checkpoint=kept.id if kept else None,
            recoverable=True,
        )
        self._happen(context.plan.id, PlanEvent.FAIL, failure)
        self._events.emit(PlanFinished(context.plan.id, succeeded=False))
        return ExecutionError(
            f"Step {number} (`{context.step.name}`) failed: {message}",
            hint=f"Mend the cause and run `agents plan execute {context.plan.id}` to go on, "
            f"or `agents plan rollback {context.plan.id}` to see where you can go back to",
            plan_id=context.plan.id,
            step=number,
            tool=context.step.tool,
        )

    def _point_to_return_to(self, context: StepContext) -> Checkpoint | None:
        policy = context.plan.definition.policy.on_failure
        if policy is OnFailure.KEEP:
            return None
        if policy is OnFailure.ROLLBACK_PLAN:
            return self._checkpoints.start_of_run(context.plan.id)
        return self._checkpoints.resume_point(context.plan.id)

    def _start(self, plan: Plan) -> Plan:
        def started(transaction: Transaction, latest: Plan) -> Plan:
            return self._changed(transaction, latest, PlanEvent.EXECUTE, None)

        moment = Moment(
            CheckpointType.PRE_EXECUTE,
            label="before execution",
            reason="the plan is about to run",
            step_index=min(plan.last_completed_step + 1, len(plan.definition.steps) - 1),
        )
        return self._at_milestone(plan, moment, started)

    def _finish(self, plan: Plan) -> Plan:
        def finished(_: Transaction, latest: Plan) -> Plan:
            now = self._clock.now()
            return latest.after(PlanEvent.FINISH, now).model_copy(update={"finished_at": now})

        moment = Moment(
            CheckpointType.POST_EXECUTE,
            label="after execution",
            reason="all steps are done",
            step_index=len(plan.definition.steps) - 1,
        )
        return self._at_milestone(plan, moment, finished)

    def _at_milestone(
        self, plan: Plan, moment: Moment, change: Callable[[Transaction, Plan], Plan]
    ) -> Plan:
        """Changes the plan together with a checkpoint, and returns it as it is then."""
        if self._checkpoints.create_as_required(plan, moment, change) is None:
            with self._database.write() as transaction:
                transaction.plans.save(change(transaction, transaction.plans.get(plan.id)))
        with self._database.read() as transaction:
            return transaction.plans.get(plan.id)

    def _happen(self, plan_id: str, event: PlanEvent, error: PlanError | None) -> None:
        with self._database.write() as transaction:
            plan = transaction.plans.get(plan_id)
            transaction.plans.save(self._changed(transaction, plan, event, error))

    def _changed(
        self, transaction: Transaction, plan: Plan, event: PlanEvent, error: PlanError | None
    ) -> Plan:
        """Returns the plan after the event; its sandboxes are marked as in use."""
        now = self._clock.now()
        for sandbox in transaction.sandboxes.list(plan.id):
            transaction.sandboxes.save(sandbox.model_copy(update={"state": SandboxState.ACTIVE}))
        return plan.after(event, now).model_copy(
            update={"error": error, "started_at": plan.started_at or now}
        )
