"""Reverting to before a decision, so that another course can be taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from msgspec.structs import replace

from cleveragents.application.ports.records import Transaction
from cleveragents.application.services.checkpoints.resume_point import can_resume_from
from cleveragents.application.services.rollback import positions
from cleveragents.application.services.rollback.intents import Destination, group_to_restore
from cleveragents.domain.checkpoints.checkpoint import Checkpoint
from cleveragents.domain.checkpoints.number_ranges import chosen, ranges_of
from cleveragents.domain.checkpoints.operation import OperationKind, Position
from cleveragents.domain.decisions.correction import (
    CorrectionAttempt,
    CorrectionMode,
    CorrectionState,
    RevertedDecision,
    affected_by,
)
from cleveragents.domain.decisions.decision import Decision, DecisionType, decision_context
from cleveragents.domain.errors import (
    DecisionSupersededError,
    NoEarlierCheckpointError,
    UsageError,
)
from cleveragents.domain.names import nearest
from cleveragents.domain.plans.events import DecisionCorrected
from cleveragents.domain.plans.plan import Plan, PlanAction
from cleveragents.domain.plans.plan_file import OptionDefinition
from cleveragents.domain.sandboxes.change import AuthoredChange


@dataclass(frozen=True)
class CorrectionRequest:
    """What the user wants instead."""

    attempt_id: str
    new_decision_id: str
    guidance: str
    choose: str | None
    now: datetime


@dataclass(frozen=True)
class Revert:
    """Back to before a decision; what depends on it falls, everything else stays decided."""

    decision: Decision
    request: CorrectionRequest

    def destination(self, transaction: Transaction, plan: Plan) -> Destination:
        decision = transaction.decisions.get(self.decision.id)
        if decision.superseded_by is not None:
            raise DecisionSupersededError(decision.id, plan.id)
        phase, state = plan.moved_by(PlanAction.REVERT)
        first_step = _first_step(decision)
        choices = _choices(plan, decision, self.request.choose, affected(transaction, decision))
        checkpoint = _point_before(transaction, plan, decision, first_step)
        group = group_to_restore(transaction, plan, checkpoint)
        there = positions.at(transaction, plan, checkpoint, group)
        fallen = reverted(transaction, plan, decision)
        gone = {item.decision_id for item in fallen}
        standing = transaction.decisions.list(plan.id)
        decisions = ranges_of(item.sequence for item in standing if item.id not in gone)
        after = replace(
            there,
            phase=phase,
            state=state,
            attempt=plan.attempt + 1,
            choices=choices,
            last_completed_step=min(there.last_completed_step, first_step - 1),
            calls=_calls_before(transaction, plan, there, first_step),
            decisions=tuple(decisions),
            children=positions.children_at(transaction, plan.id, decisions),
        )
        return Destination(
            OperationKind.CORRECTION,
            checkpoint,
            group,
            after,
            f"correction of {decision.question}",
            correction=self._attempt(plan, fallen),
        )

    def _attempt(self, plan: Plan, fallen: tuple[RevertedDecision, ...]) -> CorrectionAttempt:
        """Returns the attempt; the operation and what it archives are known with the journal."""
        return CorrectionAttempt(
            id=self.request.attempt_id,
            plan_id=plan.id,
            original_decision_id=self.decision.id,
            new_decision_id=self.request.new_decision_id,
            operation_id=None,
            mode=CorrectionMode.REVERT,
            guidance=self.request.guidance,
            choose=self.request.choose,
            attempt=plan.attempt + 1,
            state=CorrectionState.EXECUTING,
            original_subtree=fallen,
            archived_checkpoint_id=None,
            archived_artifacts_path=None,
            child_plan_id=None,
            created_at=self.request.now,
            completed_at=None,
        )


def complete(
    transaction: Transaction, plan: Plan, attempt: CorrectionAttempt, now: datetime
) -> None:
    """Records the guidance where the corrected decision was, once the plan is back there."""
    original = transaction.decisions.get(attempt.original_decision_id)
    transaction.decisions.add(intervention(transaction, plan, original, attempt, now))
    done = {"state": CorrectionState.COMPLETE, "completed_at": now}
    transaction.corrections.save(replace(attempt, **done))
    transaction.events.add(
        DecisionCorrected(
            plan.id,
            original.id,
            attempt.id,
            attempt.mode.value,
            attempt.guidance,
            attempt.choose,
        )
    )


def guidance_of(
    transaction: Transaction, plan: Plan, decision_id: str, text: str, now: datetime
) -> Decision:
    """Returns the decision that carries what the user said about the plan as a whole."""
    return Decision(
        id=decision_id,
        plan_id=plan.id,
        parent_id=plan.decision_root_id,
        sequence=transaction.decisions.next_sequence(plan.id),
        decision_type=DecisionType.USER_INTERVENTION,
        question="What guidance applies from here on?",
        chosen_option=text,
        rationale="given by the user",
        context_snapshot=decision_context(plan.definition.resources, plan.last_checkpoint_id),
        created_at=now,
    )


def failed(attempt: CorrectionAttempt, now: datetime) -> CorrectionAttempt:
    return replace(attempt, state=CorrectionState.FAILED, completed_at=now)


def intervention(
    transaction: Transaction,
    plan: Plan,
    original: Decision,
    attempt: CorrectionAttempt,
    now: datetime,
) -> Decision:
    """Returns the decision that carries the guidance, and what was tried before it."""
    return Decision(
        id=attempt.new_decision_id,
        plan_id=plan.id,
        parent_id=original.parent_id or original.id,
        sequence=transaction.decisions.next_sequence(plan.id),
        decision_type=DecisionType.USER_INTERVENTION,
        question=original.question,
        chosen_option=attempt.choose or attempt.guidance,
        alternatives_considered=original.alternatives_considered,
        rationale=attempt.guidance,
        context_snapshot=decision_context(
            plan.definition.resources,
            plan.last_checkpoint_id,
            tried=[item.model_dump(mode="json") for item in attempt.original_subtree],
        ),
        is_correction=True,
        created_at=now,
        correction_reason=attempt.guidance,
    )


def affected(transaction: Transaction, decision: Decision) -> list[Decision]:
    """Returns the decisions that fall with one."""
    standing = transaction.decisions.list(decision.plan_id)
    return affected_by(decision, standing, transaction.decisions.influences(decision.plan_id))


def reverted(
    transaction: Transaction, plan: Plan, decision: Decision
) -> tuple[RevertedDecision, ...]:
    """Returns what falls with a decision, with what had come of it."""
    changes = transaction.changes.list(plan.id)
    return tuple(
        RevertedDecision(
            decision_id=item.id,
            question=item.question,
            chosen=item.chosen_option,
            artifacts=tuple(artifacts_of(item, plan, changes)),
        )
        for item in affected(transaction, decision)
    )


def artifacts_of(decision: Decision, plan: Plan, changes: Sequence[AuthoredChange]) -> list[str]:
    """Returns the paths that steps of a decision's option changed.

    With several resources a path names its resource first.
    """
    if decision.place is None:
        return []
    several = sum(item.shared is None for item in plan.definition.resources.values()) > 1
    inside = {
        index
        for index, step in enumerate(plan.step_sequence)
        if step.step_path.startswith(f"{decision.place}/")
    }
    return sorted(
        {
            f"{item.resource}/{item.path}" if several else item.path
            for item in changes
            if item.step_index in inside
        }
    )


def _first_step(decision: Decision) -> int:
    """Returns the first step that has to run again."""
    if decision.parent_id is None:
        return 0
    if decision.step_index is None:
        raise UsageError(
            f"The decision {decision.id} was not made in a step, so there is nothing to revert",
            hint="Correct the decision that it is about, or use `--mode append`",
        )
    return decision.step_index


def option_of(plan: Plan, decision: Decision, choose: str) -> OptionDefinition:
    """Returns one option of a decision of the plan file.

    Raises:
        UsageError: it has no such option.
    """
    steps = {step.step_path: step.step for step in plan.step_sequence}
    step = steps.get(decision.place or "")
    options = step.decision.options if step and step.decision else {}
    if choose not in options:
        known = f"The decision `{decision.question}` has no option `{choose}`"
        raise UsageError(
            known if options else f"The decision `{decision.question}` has no options in the plan",
            hint=nearest(choose, options) if options else "Leave out `--choose`",
        )
    return options[choose]


def _choices(
    plan: Plan, decision: Decision, choose: str | None, fallen: Sequence[Decision]
) -> dict[str, str]:
    """Returns the choices after the correction; what was appended to a fallen decision falls."""
    gone = {item.place for item in fallen}
    appended = {item.step_path for item in plan.step_sequence if item.step.is_appended}
    kept = {path: name for path, name in plan.choices.items() if path not in appended & gone}
    if choose is None:
        return kept
    option_of(plan, decision, choose)
    return {**kept, decision.place or "": choose}


def _point_before(
    transaction: Transaction, plan: Plan, decision: Decision, first_step: int
) -> Checkpoint:
    """Returns the newest checkpoint that has nothing of the decision.

    The one made with the decision has the same files: it serves where no other has them.
    """
    visible = transaction.checkpoints.list(plan.id)
    made = [item for item in visible if item.decision_id == decision.id]
    # One that another correction left standing is made again whenever the plan comes by.
    own = next((item for item in made if item.group_id == made[-1].group_id), None)
    before = [
        item
        for item in visible
        if item.metadata.last_completed_step < first_step
        and can_resume_from(plan, item)
        and (own is None or item.sequence < own.sequence)
    ]
    if decision.parent_id is None:
        before = before[:1]
    if not before and own is None:
        raise NoEarlierCheckpointError(decision.id, plan.id)
    if own is None or not before:
        return own or before[-1]
    wanted = transaction.checkpoints.get_group(own.group_id).snapshots
    found = transaction.checkpoints.get_group(before[-1].group_id).snapshots
    return before[-1] if found == wanted else own


def _calls_before(
    transaction: Transaction, plan: Plan, there: Position, first_step: int
) -> tuple[tuple[int, int], ...]:
    """Returns the calls that the sandboxes hold there, without any of the steps that run again."""
    later = {
        call.sequence
        for call in transaction.tool_calls.list(plan.id)
        if call.step_index >= first_step
    }
    return chosen(there.calls, lambda number: number not in later)
