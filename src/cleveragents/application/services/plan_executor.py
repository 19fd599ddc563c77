"""PlanExecutor: runs the steps of a plan, durable before and after each."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from msgspec.structs import replace as replace_fields

from cleveragents.application.events import (
    PlanFinished,
    PlanStarted,
    StepFinished,
    StepStarted,
    WarningIssued,
)
from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.locks import Locks, PlanLease
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.sandboxes import Sandboxes, SnapshotStore
from cleveragents.application.ports.system import (
    Clock,
    EventSink,
    FaultPoints,
    IdSource,
    Interruption,
)
from cleveragents.application.services.checkpoint_service import (
    CheckpointService,
    Milestone,
    Records,
)
from cleveragents.application.services.checkpoints.resume_point import resume_point
from cleveragents.application.services.execution.failure_policy import FailurePolicy
from cleveragents.application.services.execution.sandbox_setup import SandboxSetup
from cleveragents.application.services.execution.step import StepContext
from cleveragents.application.services.recovery import Recovery
from cleveragents.application.services.rollback.procedure import RollbackProcedure
from cleveragents.application.services.subplans.runner import SubplanRunner
from cleveragents.application.services.tool_runner import ToolRunner
from cleveragents.domain.checkpoints.checkpoint import (
    Checkpoint,
    CheckpointGroup,
    CheckpointType,
    Trigger,
)
from cleveragents.domain.errors import (
    BusinessRuleViolation,
    CheckpointRequiredError,
    CleverAgentsError,
    ConflictError,
    DatabaseError,
    InterruptedByUserError,
    PlanStateError,
    RepeatedEffectError,
    SnapshotError,
    SubplanConflictError,
)
from cleveragents.domain.plans.plan import Plan, PlanAction, PlanPhase, PlanState
from cleveragents.domain.plans.plan_file import work_places
from cleveragents.domain.plans.subplan_merge import open_conflicts
from cleveragents.domain.sandboxes.sandbox import SandboxRef, SandboxState
from cleveragents.domain.tools.tool import repeated_by


class PlanExecutor:
    """Starts plans, and continues those that were rolled back, failed or were interrupted."""

    def __init__(
        self,
        database: Database,
        checkpoints: CheckpointService,
        rollbacks: RollbackProcedure,
        recovery: Recovery,
        tools: ToolRunner,
        subplans: SubplanRunner,
        sandboxes: Sandboxes,
        snapshots: SnapshotStore,
        locks: Locks,
        clock: Clock,
        id_source: IdSource,
        events: EventSink,
        faults: FaultPoints,
        interruption: Interruption,
    ) -> None:
        self._database = database
        self._checkpoints = checkpoints
        self._rollbacks = rollbacks
        self._recovery = recovery
        self._tools = tools
        self._subplans = subplans
        self._snapshots = snapshots
        self._locks = locks
        self._clock = clock
        self._events = events
        self._faults = faults
        self._interruption = interruption
        self._workplace = SandboxSetup(database, sandboxes, snapshots, id_source, events, faults)
        self._failing = FailurePolicy(
            database, checkpoints, rollbacks, clock, id_source, events, faults
        )

    def execute(self, plan_id: str, *, repeat_effects: bool = False) -> Plan:
        """Runs the plan to its end; one that is complete is left as it is.

        Args:
            plan_id: The plan.
            repeat_effects: Whether irreversible effects may be repeated.

        Raises:
            ExecutionError: a step failed. The plan is errored, its policy was followed.
            InterruptedByUserError: the user stopped it between two durable steps.
            RepeatedEffectError: something irreversible would happen again; nothing was done.
            SubplanConflictError: changes of subplans conflict, and the user has to resolve them.
            CheckpointRequiredError: the first checkpoint of the run could not be made, and the
                plan requires it. No step was run; the plan is errored.
            ConflictError: another process holds the plan, or too many plans run for too long.
            PlanStateError: the plan cannot be executed in its state.
        """
        with (
            self._locks.turn(plan_id),
            self._locks.hold(plan_id) as lease,
            self._interruption.listening(),
        ):
            self._faults.reach(FaultPoint.LEASE_TAKEN)
            recovered = self._recovery.finish(plan_id)
            if recovered is not None:
                self._events.emit(WarningIssued(recovered.sentence))
            with self._database.read() as transaction:
                plan = transaction.plans.get(plan_id)
                conflicts = open_conflicts(transaction.tool_calls.list(plan_id))
            if conflicts:
                raise SubplanConflictError(
                    plan_id, [(item.name, item.conflict.path) for item in conflicts]
                )
            if (plan.phase, plan.state) == (PlanPhase.EXECUTE, PlanState.COMPLETE):
                return plan
            self._begun(plan)  # Refused before anything is made.
            self._refuse_repetition(plan, allowed=repeat_effects)
            return self._run(lease, plan, repeat_effects=repeat_effects)

    def rebuild_discarded(self, plan_id: str) -> None:
        """Creates discarded sandboxes of a plan again, as its last checkpoint has them."""
        with self._locks.hold(plan_id) as lease:
            with self._database.read() as transaction:
                plan = transaction.plans.get(plan_id)
                sandboxes = transaction.sandboxes.list(plan_id)
            discarded = any(item.state is SandboxState.CLEANED_UP for item in sandboxes)
            if discarded and plan.state is not PlanState.APPLIED:
                self._workplace.ready(lease)

    def _refuse_repetition(self, plan: Plan, *, allowed: bool) -> None:
        with self._database.read() as transaction:
            calls = transaction.tool_calls.list(plan.id)
        effects = repeated_by(calls, plan.last_completed_step + 1, plan.tools)
        if effects and not allowed:
            raise RepeatedEffectError(plan.id, [str(effect) for effect in effects])

    def _run(self, lease: PlanLease, plan: Plan, *, repeat_effects: bool) -> Plan:
        going_on = _is_under_way(plan)
        sandboxes = self._workplace.ready(lease)
        with self._snapshots.watched(sandboxes):
            with self._database.read() as transaction:
                point = resume_point(transaction, transaction.plans.get(plan.id))
            if going_on and point is not None:
                plan = self._go_on(lease, plan, point, sandboxes)
            else:
                plan, going_on = self._start(lease, plan), False
            self._checkpoints.keep_start(lease)
            self._faults.reach(FaultPoint.START_KEPT)
            made = {sandbox.resource: sandbox.path for sandbox in sandboxes}
            context = StepContext(
                lease=lease,
                plan=plan,
                step_index=plan.last_completed_step + 1,
                step_sequence=plan.step_sequence,
                sandboxes=sandboxes,
                paths=work_places(plan.definition.resources, made),
                repeated=going_on,
                repeat_effects=repeat_effects,
            )
            return self._run_steps(context, going_on=going_on)

    def _run_steps(self, context: StepContext, *, going_on: bool) -> Plan:
        plan, first, steps = context.plan, context.step_index, context.step_sequence
        self._events.emit(PlanStarted(plan.id, first, len(steps)))
        if going_on and first > 0:
            # A process may have been killed after a step and before what follows it.
            last = replace(context, step_index=first - 1)
            with self._failing_at(last):
                self._trigger(Trigger.AFTER_STEP, last)
        for index in range(first, len(steps)):
            self._step(replace(context, step_index=index, repeated=going_on and index == first))
            if self._interruption.requested():
                self._failing.keep_progress(replace(context, step_index=index), done=True)
                raise InterruptedByUserError(f"Stopped after a step; all of it is kept: {plan.id}")
        self._workplace.recheck(context.sandboxes)
        with self._failing_at(replace(context, step_index=len(steps) - 1)):
            plan = self._finish(context.lease, plan)
        self._events.emit(PlanFinished(plan.id, succeeded=True))
        return plan

    @contextmanager
    def _failing_at(self, context: StepContext) -> Generator[None]:
        """Records a refusal inside the block as a failure of the plan at a step that is done."""
        try:
            yield
        except BusinessRuleViolation as error:
            raise self._failing.errored(context, error.message, None, error.hint) from error

    def _go_on(
        self, lease: PlanLease, plan: Plan, point: Checkpoint, sandboxes: Sequence[SandboxRef]
    ) -> Plan:
        """Restores the sandboxes to the last durable group; what was there is kept."""
        with self._database.write(plan.id) as transaction:
            latest = transaction.plans.get(plan.id)
            transaction.plans.save(self._started(transaction, latest))
        self._faults.reach(FaultPoint.GOING_ON_RECORDED)
        with self._database.read() as transaction:
            group = transaction.checkpoints.get_group(point.group_id)
        try:
            if any(self._has_drifted(sandbox, group) for sandbox in sandboxes):
                self._save_drift(lease, plan, point)
            self._rollbacks.restore_during_run(lease, point)
        except (BusinessRuleViolation, SnapshotError) as error:
            step_index = min(point.metadata.last_completed_step + 1, len(plan.step_sequence) - 1)
            self._failing.refused(self._latest(plan.id), step_index, error, before_start=False)
            raise
        return self._latest(plan.id)

    def _has_drifted(self, sandbox: SandboxRef, group: CheckpointGroup) -> bool:
        with self._snapshots.open(sandbox) as opened:
            return bool(opened.preview(group.snapshots[sandbox.resource_id]).changes)

    def _save_drift(self, lease: PlanLease, plan: Plan, point: Checkpoint) -> None:
        found = self._checkpoints.create_checkpoint(
            lease,
            Milestone(
                CheckpointType.SAFETY,
                label="found when going on",
                reason="the sandbox was not as the last checkpoint left it",
                step_index=max(plan.last_completed_step, 0),
            ),
        )
        self._faults.reach(FaultPoint.DRIFT_SAVED)
        self._events.emit(
            WarningIssued(
                f"The sandbox differed from the checkpoint `{point.metadata.label}` and was "
                f"restored; `agents plan rollback {plan.id} {found.id}` brings back "
                "what was there"
            )
        )

    def _step(self, context: StepContext) -> None:
        plan, index, name = context.plan, context.step_index, context.step.name
        steps, attempts = len(context.step_sequence), 0
        self._events.emit(StepStarted(plan.id, index, steps, name, context.step.tool))
        while True:
            try:
                before = self._tools.look(context)
                with self._database.read() as transaction:
                    effective = transaction.checkpoints.effective_records(plan.id)
                context = replace(context, before=before, effective=effective)
                self._attempt(context)
                break
            except InterruptedByUserError:
                self._failing.keep_progress(context, done=False)
                raise
            except (DatabaseError, ConflictError):
                raise  # Nothing more is recorded: the next run finds an interrupted plan.
            except CleverAgentsError as error:
                attempts += 1
                again = self._restored(context, attempts)
                if again is None:
                    self._events.emit(StepFinished(plan.id, index, steps, name, succeeded=False))
                    raise self._failing.end(context, error) from error
                context = again
        self._events.emit(StepFinished(plan.id, index, steps, name, succeeded=True))
        self._faults.reach(FaultPoint.STEP_ENDED)

    def _attempt(self, context: StepContext) -> None:
        self._trigger(Trigger.BEFORE_STEP, context)
        if context.step.subplans is not None:
            self._subplans.run(context, context.step.subplans)
        else:
            self._tools.run(context)
        self._trigger(Trigger.AFTER_STEP, context)

    def _restored(self, context: StepContext, attempts: int) -> StepContext | None:
        """Restores the beginning of a failed step; None if it is not to be tried again."""
        if attempts > context.plan.definition.policy.max_retries_per_step:
            return None
        if self._latest(context.plan.id).last_completed_step >= context.step_index:
            return None  # What failed came after it: once more would be twice.
        try:
            spec = self._tools.spec(context.plan, context.step.tool)
            # What cannot be undone is not done twice, unless twice is the same as once.
            if spec.is_irreversible and not spec.idempotent:
                return None
            self._failing.restore_before_retry(context, attempts)
        except CleverAgentsError:
            return None  # The failure is then ended as any other, which says what went wrong.
        return replace(context, repeated=True)

    def _trigger(self, trigger: Trigger, context: StepContext) -> None:
        """Makes the checkpoint around a step, if the configuration asks for it."""
        when = "before" if trigger is Trigger.BEFORE_STEP else "after"
        moment = Milestone(
            CheckpointType.AUTOMATIC,
            label=f"{when} step {context.step_index + 1}: {context.step.name}",
            reason=f"trigger {trigger.value}",
            step_index=context.step_index,
            trigger=trigger,
            source_tool=context.step.tool,
            repeated=context.repeated,
        )
        taken = context.before.taken if trigger is Trigger.BEFORE_STEP else None
        self._checkpoints.auto_create_if_configured(
            context.lease, trigger, context.plan, moment, taken=taken
        )

    def _start(self, lease: PlanLease, plan: Plan) -> Plan:
        moment = Milestone(
            CheckpointType.PRE_EXECUTE,
            label="before execution",
            reason="the plan is about to run",
            step_index=min(plan.last_completed_step + 1, len(plan.step_sequence) - 1),
        )
        try:
            return self._at_milestone(lease, plan, moment, self._started)
        except CheckpointRequiredError as error:
            begun = self._begun(plan)
            self._failing.refused(begun, moment.step_index, error, before_start=True)
            raise

    def _finish(self, lease: PlanLease, plan: Plan) -> Plan:
        def finished(_: Transaction, latest: Plan) -> Plan:
            now = self._clock.now()
            return replace_fields(latest.after(PlanAction.FINISH, now), finished_at=now)

        moment = Milestone(
            CheckpointType.POST_EXECUTE,
            label="after execution",
            reason="all steps are done",
            step_index=len(plan.step_sequence) - 1,
        )
        return self._at_milestone(lease, plan, moment, finished)

    def _at_milestone(
        self, lease: PlanLease, plan: Plan, moment: Milestone, change: Records
    ) -> Plan:
        """Changes the plan together with a checkpoint, and returns the changed plan."""
        self._checkpoints.create_as_required(lease, plan, moment, change)
        return self._latest(plan.id)

    def _latest(self, plan_id: str) -> Plan:
        with self._database.read() as transaction:
            return transaction.plans.get(plan_id)

    def _started(self, transaction: Transaction, plan: Plan) -> Plan:
        """Returns the plan as one that runs; its sandboxes are marked as in use."""
        for sandbox in transaction.sandboxes.list(plan.id):
            transaction.sandboxes.save(replace_fields(sandbox, state=SandboxState.ACTIVE))
        return replace_fields(
            self._begun(plan), error=None, started_at=plan.started_at or self._clock.now()
        )

    def _begun(self, plan: Plan) -> Plan:
        """Returns the plan as one that runs; a corrected one strategizes first.

        What is left to strategize then is which options are taken, and the correction has said so.
        """
        now = self._clock.now()
        if not plan.definition.steps:
            raise PlanStateError(
                "be executed: it has no steps yet",
                plan.phase.value,
                plan.state.value,
                hint=f"Run `agents plan status {plan.id}` to see its prompt",
                plan_id=plan.id,
            )
        if (plan.phase, plan.state) == (PlanPhase.STRATEGIZE, PlanState.QUEUED):
            plan = plan.after(PlanAction.STRATEGIZE, now).after(PlanAction.FINISH, now)
        return plan.after(PlanAction.EXECUTE, now)


def _is_under_way(plan: Plan) -> bool:
    """Returns whether a run of the plan has started and not ended."""
    if plan.error is not None and plan.error.before_start:
        return False
    return plan.state in (PlanState.ERRORED, PlanState.PROCESSING)
