"""The step under way: where it runs, what its placeholders stand for, what it decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from cleveragents.application.ports.locks import PlanLease
from cleveragents.application.services.checkpoints.group_recorder import Taken
from cleveragents.domain.checkpoints.checkpoint import EffectiveRecords
from cleveragents.domain.decisions.decision import (
    RECORD_DECISION,
    Decision,
    DecisionType,
    decision_context,
)
from cleveragents.domain.errors import ExecutionError
from cleveragents.domain.names import nearest
from cleveragents.domain.plans.plan import Plan, PlannedStep
from cleveragents.domain.plans.plan_file import StepDefinition, every_step
from cleveragents.domain.record import JsonValue
from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.domain.tools.tool import ToolCall, ToolCallStatus, input_hash


@dataclass(frozen=True)
class StoredState:
    """The sandboxes at one moment, stored."""

    taken: Sequence[Taken] | None
    snapshots: Mapping[str, str]
    problem: str | None = None
    """Why there is nothing."""


@dataclass(frozen=True)
class StepContext:
    """The step under way and the sandboxes it may touch."""

    lease: PlanLease
    plan: Plan
    step_index: int
    step_sequence: Sequence[PlannedStep]
    sandboxes: Sequence[SandboxRef]
    paths: dict[str, str]
    """The path of every resource in its sandbox, by name."""
    repeated: bool = False
    """A killed process may have begun it and made some of its checkpoints."""
    repeat_effects: bool = False
    """Whether irreversible effects may be repeated."""
    before: StoredState = StoredState(None, {}, "it was not read")
    """The sandboxes before this attempt."""
    effective: EffectiveRecords | None = None
    """The records that were in effect then."""

    @property
    def step(self) -> StepDefinition:
        return self.step_sequence[self.step_index].step

    @property
    def number(self) -> str:
        """For people: `4 of 6`."""
        return f"{self.step_index + 1} of {len(self.step_sequence)}"

    @property
    def resource(self) -> str:
        """What the tool works on: the resource that the step names, or else the first.

        Raises:
            ExecutionError: the plan has no sandbox of the resource that the step names.
        """
        wanted = self.step.resource
        for name in self.paths:
            if wanted in (None, name):
                return name
        raise ExecutionError(
            f"The plan has no sandbox of the resource `{wanted}`",
            hint="Run `agents doctor` to see what is wrong with the plan's records",
        )


def outputs_of(context: StepContext, calls: Sequence[ToolCall]) -> dict[str, str]:
    """Returns what earlier steps have saved, by name."""
    return {
        saved: call.output or ""
        for call in calls
        if call.undone_by is None and call.status is ToolCallStatus.SUCCEEDED
        if (saved := context.step_sequence[call.step_index].step.save_as) is not None
    }


def decision_of(
    context: StepContext,
    given: Mapping[str, JsonValue],
    made: Sequence[Decision],
    decision_id: str,
    sequence: int,
    now: datetime,
) -> Decision:
    """Returns the decision that a call of `record-decision` records.

    Its parent is the decision whose option the step belongs to, or else the plan's root.

    Args:
        context: The step.
        given: The call's input.
        made: The plan's decisions that still stand.
        decision_id: Its id.
        sequence: Its place in the plan's order.
        now: When it was made.
    """
    here = context.step_sequence[context.step_index]
    parents = {decision.place: decision.id for decision in made if decision.place is not None}
    definition = context.step.decision
    kind = definition.type if definition else DecisionType(str(given.get("type", _USUAL)))
    alternatives = given.get("alternatives", [])
    confidence = given.get("confidence")
    return Decision(
        id=decision_id,
        plan_id=context.plan.id,
        parent_id=parents.get(here.decision_path or "", context.plan.decision_root_id),
        sequence=sequence,
        decision_type=kind,
        question=str(given["question"]),
        chosen_option=str(given["chosen"]),
        alternatives_considered=[
            str(item) for item in (alternatives if isinstance(alternatives, list) else [])
        ],
        confidence=float(confidence) if isinstance(confidence, int | float) else None,
        rationale=str(given.get("rationale", "")),
        context_snapshot=decision_context(
            context.paths,
            context.plan.last_checkpoint_id,
            hot_context_hash=input_hash({**context.plan.arguments, "input": dict(given)}),
        ),
        step_index=context.step_index,
        created_at=now,
        place=here.step_path,
        actor_reasoning=str(given["reasoning"]) if given.get("reasoning") else None,
    )


def influences_of(
    context: StepContext, given: Mapping[str, JsonValue], made: Sequence[Decision]
) -> list[str]:
    """Returns the standing decisions that a call of `record-decision` says it rests on.

    Raises:
        ExecutionError: the plan has no such decision.
    """
    names = given.get("influenced_by", [])
    wanted = [str(name) for name in (names if isinstance(names, list) else [])]
    steps = every_step(context.plan.definition.steps)
    known = {step.name for step in steps if step.tool == RECORD_DECISION}
    for name in wanted:
        if name not in known:
            raise ExecutionError(
                f"There is no decision `{name}` that this one could depend on",
                hint=nearest(name, known),
                tool=RECORD_DECISION,
            )
    earlier = {
        item.step_path: item.step.name for item in context.step_sequence[: context.step_index]
    }
    return [decision.id for decision in made if earlier.get(decision.place or "") in wanted]


_USUAL = DecisionType.IMPLEMENTATION_CHOICE.value
