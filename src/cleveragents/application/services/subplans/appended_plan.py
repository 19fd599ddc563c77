"""The child plan that an appended correction makes, and the decision it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from cleveragents.application.ports.system import IdSource
from cleveragents.domain.decisions.decision import Decision, DecisionType, decision_context
from cleveragents.domain.plans.plan import Plan, PlanPhase, PlanState


@dataclass(frozen=True)
class AppendedPlan:
    """A plan that was just made, with the root of its decisions."""

    plan: Plan
    root: Decision


def child_of(
    parent: Plan, spawn_id: str, guidance: str, id_source: IdSource, now: datetime
) -> AppendedPlan:
    """Returns a plan whose prompt is the guidance; its steps are still to be found."""
    child_id, root_id = id_source.new(), id_source.new()
    definition = parent.definition.model_copy(
        update={"description": guidance, "steps": [], "name": parent.name}
    )
    plan = parent.model_copy(
        update={
            "id": child_id,
            "definition": definition,
            "phase": PlanPhase.STRATEGIZE,
            "state": PlanState.QUEUED,
            "attempt": 1,
            "reversion_count": 0,
            "last_completed_step": -1,
            "last_checkpoint_id": None,
            "decision_root_id": root_id,
            "error": None,
            "created_at": now,
            "updated_at": now,
            "started_at": None,
            "finished_at": None,
            "choices": {},
            "cancel_reason": None,
            "parent_plan_id": parent.id,
            "spawn_decision_id": spawn_id,
        }
    )
    root = _decision(plan, root_id, None, 1, now).model_copy(
        update={
            "decision_type": DecisionType.PROMPT_DEFINITION,
            "question": "What should be done?",
            "chosen_option": guidance,
            "rationale": "given with a correction",
        }
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
    return _decision(plan, spawn_id, decision.id, sequence, now).model_copy(
        update={
            "question": f"What else should be done about: {decision.question}",
            "chosen_option": guidance,
            "rationale": guidance,
            "is_correction": True,
            "correction_reason": guidance,
            "downstream_plan_ids": [child_id],
        }
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
