"""Which events follow from a stored record: pure functions of the record before and after.

The repositories call them where they write, so that an event is stored if and
only if the change that it describes is stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointGroup
from cleveragents.domain.checkpoints.operation import Operation
from cleveragents.domain.decisions.decision import Decision
from cleveragents.domain.plans.events import (
    CheckpointCreated,
    CheckpointRestored,
    DecisionCreated,
    PlanApplied,
    PlanCancelled,
    PlanCreated,
    PlanErrored,
    PlanEventRecord,
    PlanPhaseChanged,
    PlanStateChanged,
    SandboxCommitted,
    SandboxCreated,
    SandboxRolledBack,
    ToolCompleted,
    ToolErrored,
    ToolInvoked,
    ValidationFailed,
    ValidationPassed,
)
from cleveragents.domain.plans.plan import Plan, PlanState
from cleveragents.domain.plans.validation import ValidationResult, ValidationStatus
from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.domain.tools.tool import ToolCall, ToolCallStatus


def of_new_plan(plan: Plan) -> Iterator[PlanEventRecord]:
    yield PlanCreated(plan.id, plan.name, plan.project, plan.phase.value, plan.state.value)


def of_plan(before: Plan, after: Plan) -> Iterator[PlanEventRecord]:
    if before.phase is not after.phase:
        yield PlanPhaseChanged(after.id, before.phase.value, after.phase.value)
    if (before.phase, before.state) != (after.phase, after.state):
        phase = after.phase.value
        yield PlanStateChanged(after.id, phase, before.state.value, after.state.value)
    error = after.error if after.state is PlanState.ERRORED else None
    if error is not None and (before.state, before.error) != (after.state, error):
        yield PlanErrored(
            after.id, error.message, error.tool, error.step, error.step_index, error.checkpoint
        )
    if after.state is PlanState.CANCELLED and before.state is not PlanState.CANCELLED:
        yield PlanCancelled(after.id, after.cancel_reason or "")


def of_new_decision(decision: Decision) -> Iterator[PlanEventRecord]:
    yield DecisionCreated(
        decision.plan_id,
        decision.id,
        decision.decision_type.value,
        decision.question,
        decision.chosen_option,
        decision.step_index,
    )


def of_new_tool_call(call: ToolCall) -> Iterator[PlanEventRecord]:
    yield ToolInvoked(call.plan_id, call.id, call.step_index, call.tool, call.resource)


def of_tool_call(before: str, after: ToolCall) -> Iterator[PlanEventRecord]:
    if before == after.status:
        return
    facts = (after.plan_id, after.id, after.step_index, after.tool, after.resource)
    if after.status is ToolCallStatus.SUCCEEDED:
        yield ToolCompleted(*facts, _milliseconds(after))
    elif after.status is ToolCallStatus.FAILED:
        yield ToolErrored(*facts, _milliseconds(after), after.error or "")


def _milliseconds(call: ToolCall) -> int | None:
    if call.finished_at is None:
        return None
    return round((call.finished_at - call.started_at).total_seconds() * 1000)


def of_new_sandbox(sandbox: SandboxRef) -> Iterator[PlanEventRecord]:
    yield SandboxCreated(
        sandbox.plan_id,
        sandbox.id,
        sandbox.resource,
        sandbox.strategy.value,
        sandbox.path,
        sandbox.branch,
    )


def of_new_group(
    group: CheckpointGroup, checkpoints: Sequence[Checkpoint]
) -> Iterator[PlanEventRecord]:
    """Yields one event for the group, however many resources it has checkpoints of."""
    for first in checkpoints[:1]:
        yield CheckpointCreated(
            group.plan_id,
            first.id,
            group.id,
            first.metadata.label,
            first.checkpoint_type.value,
            first.metadata.trigger,
            first.metadata.step_index,
            tuple(checkpoint.metadata.resource for checkpoint in checkpoints),
        )


def of_done_operation(
    operation: Operation, label: str, sandboxes: Sequence[SandboxRef]
) -> Iterator[PlanEventRecord]:
    plan_id, target = operation.plan_id, operation.target_checkpoint_id
    if operation.apply is not None:
        done = operation.apply
        commits = tuple(item.commit for item in done.targets if item.commit is not None)
        yield PlanApplied(plan_id, operation.id, done.mode.value, commits)
        for sandbox in sandboxes:
            yield SandboxCommitted(plan_id, sandbox.id, sandbox.resource, operation.id)
        return
    yield CheckpointRestored(plan_id, target, label, operation.id, operation.kind.value)
    for sandbox in sandboxes:
        yield SandboxRolledBack(plan_id, sandbox.id, sandbox.resource, target, operation.id)


def of_validation(result: ValidationResult) -> Iterator[PlanEventRecord]:
    facts = (result.plan_id, result.id, result.name, result.mode.value, result.duration_ms)
    if result.status is ValidationStatus.PASSED:
        yield ValidationPassed(*facts)
    else:
        yield ValidationFailed(*facts, result.message or "")
