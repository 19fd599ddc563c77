"""Decisions: the recorded choices of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum

from msgspec.structs import replace

from cleveragents.domain.record import JsonValue, Record

RECORD_DECISION = "record-decision"
"""The tool that records a decision."""


class DecisionType(StrEnum):
    """What a decision is about."""

    PROMPT_DEFINITION = "prompt_definition"
    """The root of a plan's tree, and only that."""
    INVARIANT_ENFORCED = "invariant_enforced"
    STRATEGY_CHOICE = "strategy_choice"
    RESOURCE_SELECTION = "resource_selection"
    SUBPLAN_SPAWN = "subplan_spawn"
    SUBPLAN_PARALLEL_SPAWN = "subplan_parallel_spawn"
    IMPLEMENTATION_CHOICE = "implementation_choice"
    TOOL_INVOCATION = "tool_invocation"
    ERROR_RECOVERY = "error_recovery"
    VALIDATION_RESPONSE = "validation_response"
    USER_INTERVENTION = "user_intervention"


RECORDED_BY_ACTORS = (
    DecisionType.STRATEGY_CHOICE,
    DecisionType.RESOURCE_SELECTION,
    DecisionType.IMPLEMENTATION_CHOICE,
    DecisionType.TOOL_INVOCATION,
    DecisionType.ERROR_RECOVERY,
    DecisionType.VALIDATION_RESPONSE,
)
"""The types that a plan file may use; only the program records the others."""


class Decision(Record):
    """One choice and its context; superseded decisions stay as records."""

    id: str
    plan_id: str
    parent_id: str | None
    sequence: int
    decision_type: DecisionType
    question: str
    chosen_option: str
    alternatives_considered: list[str] = []
    confidence: float | None = None
    rationale: str
    context_snapshot: dict[str, JsonValue]
    is_correction: bool = False
    superseded_by: str | None = None
    """The operation or decision that superseded it."""
    step_index: int | None = None
    """The step that made it; None for decisions before the first step."""
    created_at: datetime
    place: str | None = None
    """The path of its step in the plan file, as in `PlannedStep.step_path`."""
    downstream_plan_ids: list[str] = []
    actor_reasoning: str | None = None
    correction_reason: str | None = None


def decision_context(
    resources: Iterable[str], state_ref: str | None, **more: JsonValue
) -> dict[str, JsonValue]:
    """Returns the context of a decision.

    Args:
        resources: The names of the resources that it may affect.
        state_ref: The checkpoint that the plan was at.
        more: Further context.
    """
    return {
        "hot_context_hash": None,
        "relevant_resources": list(resources),
        "actor_state_ref": state_ref,
        **more,
    }


def prompt_of(
    plan_id: str,
    decision_id: str,
    prompt: str,
    resources: Sequence[str],
    steps: int,
    state_ref: str | None,
    now: datetime,
) -> Decision:
    """Returns the root of a plan's decisions: the task that the plan file describes.

    Args:
        plan_id: The plan.
        decision_id: Its id.
        prompt: The task, for people.
        resources: The names of the plan's resources.
        steps: How many steps the plan file has.
        state_ref: The checkpoint of the parent that the plan starts from, if it has one.
        now: When it was made.
    """
    return Decision(
        id=decision_id,
        plan_id=plan_id,
        parent_id=None,
        sequence=1,
        decision_type=DecisionType.PROMPT_DEFINITION,
        question="What should be done?",
        chosen_option=prompt,
        rationale="given by the plan file",
        context_snapshot=decision_context(resources, state_ref, steps=steps),
        created_at=now,
    )


def invariant_of(prompt: Decision, decision_id: str, text: str, why: str, number: int) -> Decision:
    """Returns the decision that something must stay true, whatever the plan does.

    Args:
        prompt: The root of the plan's decisions.
        decision_id: Its id.
        text: What must stay true.
        why: Who or what checks it.
        number: Its number among the invariants of the plan, from 1.
    """
    return replace(
        prompt,
        id=decision_id,
        parent_id=prompt.id,
        sequence=prompt.sequence + number,
        decision_type=DecisionType.INVARIANT_ENFORCED,
        question="What must stay true?",
        chosen_option=text,
        rationale=why,
    )


def decisions_below(decision: Decision, decisions: Sequence[Decision]) -> list[Decision]:
    """Returns the decisions below one, in order; damaged records with a cycle do no harm."""
    below: set[str] = {decision.id}
    found: list[Decision] = []
    for candidate in sorted(decisions, key=lambda item: item.sequence):
        if candidate.parent_id in below and candidate.id not in below:
            below.add(candidate.id)
            found.append(candidate)
    return found
