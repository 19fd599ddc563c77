"""The child plan that an appended correction makes, and the decision it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from msgspec.structs import replace

from cleveragents.application.ports.system import IdSource
from cleveragents.domain.decisions.decision import Decision, DecisionType, decision_context
from cleveragents.domain.plans.choices import resolve_choices
from cleveragents.domain.plans.plan import Plan, PlanAction, PlanPhase, PlanState
from cleveragents.domain.plans.plan_file import (
    PlanDefinition,
    StepDefinition,
    SubplanDefinition,
    appended_step,
)


@dataclass(frozen=True)
class AppendedPlan:
    """A plan that was just made, with the root of its decisions."""

    plan: Plan
    root: Decision


@dataclass(frozen=True)
class ExtendedPlan:
    """A plan with one more step at its end, which runs the subplan `name`."""

    plan: Plan
    name: str
    place: str
    """The path of the step."""


def extended(plan: Plan, more: PlanDefinition, guidance: str, now: datetime) -> ExtendedPlan:
    """Returns a plan that also runs the steps of `more`, in a subplan, when all others are done.

    Args:
        plan: The plan; what it has done stays done.
        more: The steps and the tools that they need.
        guidance: What the user said.
        now: The time.

    Raises:
        PlanStateError: the plan is cancelled or applied.
    """
    whole = plan.definition
    number = 1 + sum(step.is_appended for step in whole.steps)
    name, place = f"append-{number}", str(len(whole.steps))
    step = appended_step(name, SubplanDefinition(description=guidance, steps=more.steps))
    update = {
        "definition": replace(
            whole, steps=[*whole.steps, step], tools={**more.tools, **whole.tools}
        ),
        "arguments": {**default_arguments(more), **plan.arguments},
        "choices": {**plan.choices, place: name},
    }
    moved = plan.after(PlanAction.EXTEND, now)
    if moved.state is not plan.state:  # It had finished, and has something to run again.
        update |= {"finished_at": None, "error": None}
    return ExtendedPlan(replace(moved, **update), name, place)


def default_arguments(definition: PlanDefinition) -> dict[str, str]:
    return {
        name: argument.default
        for name, argument in definition.arguments.items()
        if argument.default is not None
    }


def child_of(
    parent: Plan,
    name: str | None,
    steps: list[StepDefinition],
    spawn_id: str,
    guidance: str,
    id_source: IdSource,
    now: datetime,
) -> AppendedPlan:
    """Returns a plan whose prompt is the guidance.

    Args:
        parent: The plan that it belongs to.
        name: Its name below the parent; None if it has no steps.
        steps: What it runs; with none, its steps are still to be found.
        spawn_id: The decision that it comes from.
        guidance: What the user said.
        id_source: Makes its ids.
        now: The time.
    """
    child_id, root_id = id_source.new(), id_source.new()
    own_name = parent.name if name is None else f"{parent.name}.{name}"
    definition = replace(
        parent.definition,
        name=own_name,
        description=guidance,
        steps=steps,
        definition_of_done=[],
        invariants=[],
    )
    if steps:
        definition = replace(definition, validations=[])
    plan = replace(
        parent,
        id=child_id,
        name=own_name,
        definition=definition,
        phase=PlanPhase.STRATEGIZE,
        state=PlanState.COMPLETE if steps else PlanState.QUEUED,
        attempt=1,
        last_completed_step=-1,
        last_checkpoint_id=None,
        decision_root_id=root_id,
        error=None,
        created_at=now,
        updated_at=now,
        started_at=None,
        finished_at=None,
        choices=resolve_choices(definition, parent.arguments),
        cancel_reason=None,
        parent_plan_id=parent.id,
        spawn_decision_id=spawn_id,
    )
    root = replace(
        _decision(plan, root_id, None, 1, now),
        decision_type=DecisionType.PROMPT_DEFINITION,
        question="What should be done?",
        chosen_option=guidance,
        rationale="given with a correction",
    )
    return AppendedPlan(plan, root)


def spawn_of(
    plan: Plan,
    decision: Decision,
    spawn_id: str,
    child_id: str,
    guidance: str,
    sequence: int,
    now: datetime,
) -> Decision:
    """Returns the decision to have a child plan do more about a decision."""
    return replace(
        _decision(plan, spawn_id, decision.id, sequence, now),
        question=f"What else should be done about: {decision.question}",
        chosen_option=guidance,
        rationale=guidance,
        is_correction=True,
        correction_reason=guidance,
        downstream_plan_ids=[child_id],
    )


def _decision(
    plan: Plan, decision_id: str, parent_id: str | None, sequence: int, now: datetime
) -> Decision:
    return Decision(
        id=decision_id,
        plan_id=plan.id,
        parent_id=parent_id,
        sequence=sequence,
        decision_type=DecisionType.SUBPLAN_SPAWN,
        question="",
        chosen_option="",
        rationale="",
        context_snapshot=decision_context(plan.definition.resources, plan.last_checkpoint_id),
        created_at=now,
    )
