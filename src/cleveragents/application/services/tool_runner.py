"""ToolRunner: one tool call, with its checkpoints around it and its record before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from cleveragents.application.events import WarningIssued
from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.system import Clock, EventSink, FaultPoints, IdSource
from cleveragents.application.ports.tools import ToolBackend
from cleveragents.application.services.checkpoint_service import (
    CheckpointService,
    Milestone,
    Records,
    ResourceChanges,
)
from cleveragents.application.services.checkpoints.group_recorder import (
    GroupRecorder,
    snapshot_ids,
)
from cleveragents.application.services.execution.step import (
    StepContext,
    StoredState,
    decision_of,
    influences_of,
    outputs_of,
)
from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointType, Trigger
from cleveragents.domain.decisions.decision import RECORD_DECISION, Decision
from cleveragents.domain.errors import (
    CheckpointRequiredError,
    CleverAgentsError,
    ExecutionError,
    InterruptedByUserError,
    SandboxMissingError,
    SnapshotError,
)
from cleveragents.domain.plans.plan import Plan, PlanPhase
from cleveragents.domain.plans.template import render_value, template_values
from cleveragents.domain.sandboxes.resource import ResourceType
from cleveragents.domain.tools.tool import (
    ToolCall,
    ToolCallStatus,
    ToolInvocation,
    ToolResult,
    ToolSpec,
    printed_by,
    validate_input,
)
from cleveragents.domain.wording import listed

__all__ = ["StepContext", "ToolRunner"]


class ToolRunner:
    """Runs tools so that each call can be undone and each change has an author."""

    def __init__(
        self,
        database: Database,
        tools: ToolBackend,
        checkpoints: CheckpointService,
        recorder: GroupRecorder,
        clock: Clock,
        id_source: IdSource,
        events: EventSink,
        faults: FaultPoints,
    ) -> None:
        self._database = database
        self._tools = tools
        self._checkpoints = checkpoints
        self._recorder = recorder
        self._clock = clock
        self._ids = id_source
        self._events = events
        self._faults = faults

    def spec(self, plan: Plan, name: str) -> ToolSpec:
        """Returns what the tool declares; the plan's own tools come before the built-in ones.

        Raises:
            ExecutionError: the tool is no longer available.
        """
        spec = plan.definition.tools.get(name) or self._tools.specs().get(name)
        if spec is None:
            raise ExecutionError(
                f"The tool `{name}` is no longer available",
                hint="Install the package that provides it, then continue",
                tool=name,
            )
        return spec

    def run(self, context: StepContext) -> None:
        """Runs the step's tool.

        The intent is stored before it starts. Its success is stored in one transaction with
        the checkpoint after it and with the plan's progress.

        Raises:
            ExecutionError: the tool failed; the call is recorded as failed.
            InterruptedByUserError: the user stopped it; the call is recorded as failed.
            CheckpointRequiredError: the checkpoint before it could not be made, so it was
                not run; or the one after it, and the call is recorded as failed.
        """
        spec = self.spec(context.plan, context.step.tool)
        if spec.writes and context.plan.phase is not PlanPhase.EXECUTE:
            raise context.plan.refusal(f"run `{spec.name}`, which writes")
        before, recorded = context.before, None
        if spec.checkpointable:
            trigger = Trigger.BEFORE_TOOL_EXECUTE
            recorded = self._checkpoint(context, spec, trigger, None, before)
        call = self._begin(context, spec)
        try:
            result = self._run(context, spec, call)
            self._faults.reach(FaultPoint.TOOL_ENDED)
            after = self.look(context)
            changes = self._changes(context, before, after)
            if changes and not spec.writes:
                raise _changed_by_reader(spec, changes)
            self._succeed(context, spec, call, result, changes, after)
        except (
            CheckpointRequiredError,
            ExecutionError,
            InterruptedByUserError,
            SandboxMissingError,
        ) as error:
            self._fail(context, call, error, before)
            raise
        if recorded is None:
            self._checkpoints.forget_unnamed(
                context.lease, context.sandboxes, before.snapshots, after.snapshots
            )

    def _run(self, context: StepContext, spec: ToolSpec, call: ToolCall) -> ToolResult:
        for problem in validate_input(spec, call.input):
            raise ExecutionError(problem.message, hint=problem.hint, tool=spec.name)
        name, paths = context.resource, context.paths
        place = paths[name]
        # A database is a file: a tool that works on it starts in the directory it is in.
        is_database = context.plan.definition.resources[name].type is ResourceType.SQLITE
        directory = place.rpartition("/")[0] if is_database else place
        return self._tools.run(
            ToolInvocation(
                spec=spec,
                input=call.input,
                directory=directory,
                resources=paths,
                database=place if is_database else None,
                plan_id=context.plan.id,
                call_id=call.id,
            )
        )

    def _succeed(
        self,
        context: StepContext,
        spec: ToolSpec,
        call: ToolCall,
        result: ToolResult,
        changes: ResourceChanges,
        after: StoredState,
    ) -> None:
        now = self._clock.now()
        update = {
            "status": ToolCallStatus.SUCCEEDED,
            "finished_at": now,
            "output": result.output,
            "stderr": result.stderr,
        }

        def succeed(transaction: Transaction, plan: Plan) -> Plan:
            transaction.tool_calls.save(replace(call, **update))
            for sandbox, found in changes:
                transaction.changes.add(plan.id, call.id, sandbox.resource, found)
            return replace(plan, last_completed_step=context.step_index, updated_at=now)

        if spec.name == RECORD_DECISION:
            self._decide(context, call, succeed, after)
        elif spec.checkpointable:
            self._checkpoint(context, spec, Trigger.AFTER_TOOL_EXECUTE, succeed, after)
        else:
            self._checkpoints.store(context.plan.id, succeed)
        self._faults.reach(FaultPoint.OUTCOME_RECORDED)

    def _decide(
        self,
        context: StepContext,
        call: ToolCall,
        succeed: Records,
        after: StoredState,
    ) -> None:
        """Records a decision with a group of its own, whatever the configuration says."""
        with self._database.read() as transaction:
            made = transaction.decisions.list(context.plan.id)
        influences = influences_of(context, call.input, made)
        kept = _kept(context, call, made)
        decision_id = kept.id if kept else self._ids.new()

        def decide(transaction: Transaction, plan: Plan) -> Plan:
            if kept is not None:
                again = replace(kept, step_index=context.step_index)
                transaction.decisions.save(again)
            else:
                decision = self._decision(transaction, context, call, decision_id)
                transaction.decisions.add(decision, influences)
            return succeed(transaction, plan)

        moment = Milestone(
            CheckpointType.DECISION,
            label=f"decided: {context.step.name}",
            reason=f"chose {call.input['chosen']}",
            step_index=context.step_index,
            source_tool=RECORD_DECISION,
            decision_id=decision_id,
        )
        self._checkpoints.create_as_required(
            context.lease, context.plan, moment, decide, after.taken
        )

    def _decision(
        self, transaction: Transaction, context: StepContext, call: ToolCall, decision_id: str
    ) -> Decision:
        return decision_of(
            context,
            call.input,
            transaction.decisions.list(context.plan.id),
            decision_id,
            transaction.decisions.next_sequence(context.plan.id),
            self._clock.now(),
        )

    def _checkpoint(
        self,
        context: StepContext,
        spec: ToolSpec,
        trigger: Trigger,
        also: Records | None,
        seen: StoredState,
    ) -> Checkpoint | None:
        before = trigger is Trigger.BEFORE_TOOL_EXECUTE
        moment = Milestone(
            CheckpointType.AUTOMATIC,
            label=f"{'before' if before else 'after'} {context.step.name}",
            reason=f"{'about to run' if before else 'ran'} {spec.name}",
            step_index=context.step_index,
            trigger=trigger,
            source_tool=spec.name,
            repeated=before and context.repeated,
        )
        return self._checkpoints.auto_create_if_configured(
            context.lease, trigger, context.plan, moment, also, seen.taken
        )

    def look(self, context: StepContext) -> StoredState:
        """Stores the sandboxes as they are now.

        Where that fails, a checkpoint that is wanted fails too, as the plan's policy says.
        """
        try:
            taken = self._recorder.take(context.lease, context.sandboxes)
        except SnapshotError as error:
            return StoredState(None, {}, error.message)
        return StoredState(taken, snapshot_ids(taken))

    def _changes(
        self, context: StepContext, before: StoredState, after: StoredState
    ) -> ResourceChanges:
        problem = before.problem or after.problem
        if problem is None:
            return self._checkpoints.changes_between(
                context.sandboxes, before.snapshots, after.snapshots
            )
        self._events.emit(
            WarningIssued(
                f"What step {context.number} (`{context.step.name}`) changed is not recorded: "
                f"{problem}"
            )
        )
        return ()

    def _begin(self, context: StepContext, spec: ToolSpec) -> ToolCall:
        """Fills the placeholders of the step's input, and stores the intent."""
        outputs: Mapping[str, str] = {}
        # Most plans save no output, and a long one has many calls to read.
        if any(item.step.save_as for item in context.step_sequence[: context.step_index]):
            with self._database.read() as transaction:
                outputs = outputs_of(context, transaction.tool_calls.list(context.plan.id))
        values = template_values(context.plan.arguments, context.paths, outputs)
        given = {name: render_value(value, values) for name, value in context.step.input.items()}
        chosen = context.step_sequence[context.step_index].chosen
        if chosen is not None:
            given["chosen"] = chosen
        with self._database.write(context.plan.id) as transaction:
            call = ToolCall.begin(
                self._ids.new(),
                context.plan.id,
                transaction.tool_calls.next_sequence(context.plan.id),
                step_index=context.step_index,
                tool=context.step.tool,
                resource=context.resource,
                given=given,
                started_at=self._clock.now(),
                side_effects=spec.side_effects,
            )
            transaction.tool_calls.add(call)
        self._faults.reach(FaultPoint.INTENT_RECORDED)
        return call

    def _fail(
        self,
        context: StepContext,
        call: ToolCall,
        error: CleverAgentsError,
        before: StoredState,
    ) -> None:
        """Records the failed call and, where that can be found out, what it changed.

        Raises:
            ConflictError: the tool had to end because the lease could not be renewed.
        """
        context.lease.check()
        changes: ResourceChanges = ()
        try:
            changes = self._changes(context, before, self.look(context))
        except CleverAgentsError as worse:  # The sandbox itself may be gone.
            self._events.emit(
                WarningIssued(f"What `{call.tool}` changed is not known: {worse.message}")
            )
        printed = printed_by(error) if "output" in error.details else None
        update = {
            "status": ToolCallStatus.FAILED,
            "finished_at": self._clock.now(),
            "error": error.message,
            "output": printed.output if printed else None,
            "stderr": printed.stderr if printed else (),
        }
        with self._database.write(call.plan_id) as transaction:
            transaction.tool_calls.save(replace(call, **update))
            for sandbox, found in changes:
                transaction.changes.add(call.plan_id, call.id, sandbox.resource, found)
        self._faults.reach(FaultPoint.CALL_FAILED)


def _kept(context: StepContext, call: ToolCall, made: Sequence[Decision]) -> Decision | None:
    """Returns the decision that a correction of another one left standing here, if it did."""
    step_path = context.step_sequence[context.step_index].step_path
    chosen = str(call.input["chosen"])
    return next(
        (item for item in made if item.place == step_path and item.chosen_option == chosen), None
    )


def _changed_by_reader(spec: ToolSpec, changes: ResourceChanges) -> ExecutionError:
    paths = [item.path for _, found in changes for item in found]
    return ExecutionError(
        f"`{spec.name}` declares that it only reads, but changed {listed(paths, most=3)}",
        hint="Declare it with `writes: true`",
        tool=spec.name,
    )
