"""The position of a plan, the position after a rollback, and the records that move there."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from msgspec.structs import replace

from cleveragents.application.ports.records import Transaction
from cleveragents.domain.checkpoints.checkpoint import (
    Checkpoint,
    CheckpointGroup,
    CheckpointType,
    EffectiveRecords,
)
from cleveragents.domain.checkpoints.number_ranges import Ranges, followed_by, holds, ranges_of
from cleveragents.domain.checkpoints.operation import Operation, Position
from cleveragents.domain.plans.choices import resolve_choices
from cleveragents.domain.plans.plan import (
    Plan,
    PlanAction,
    PlanState,
    step_sequence,
    transition,
)
from cleveragents.domain.tools.tool import ToolCall

INVALIDATED = "its parent was rolled back to before it was spawned"


@dataclass(frozen=True)
class PositionDifference:
    """What changes in the records when a plan moves from one position to another."""

    decisions_gone: Collection[str]
    decisions_back: Collection[str]
    calls_undone: Collection[ToolCall]
    calls_back: Collection[ToolCall]
    groups_aside: Collection[CheckpointGroup]
    groups_back: Collection[CheckpointGroup]
    children_gone: Collection[Plan]
    children_back: Collection[Plan]


def present(transaction: Transaction, plan: Plan) -> Position:
    """Returns the present position of the plan."""
    effective = transaction.checkpoints.effective_records(plan.id)
    return Position(
        phase=plan.phase,
        state=plan.state,
        attempt=plan.attempt,
        last_completed_step=plan.last_completed_step,
        last_checkpoint_id=plan.last_checkpoint_id,
        choices=plan.choices,
        error=plan.error,
        cancel_reason=plan.cancel_reason,
        finished_at=plan.finished_at,
        calls=effective.calls,
        decisions=effective.decisions,
        groups=effective.groups,
        children={child.id: child.state for child in transaction.plans.descendants(plan.id)},
    )


def at(
    transaction: Transaction, plan: Plan, checkpoint: Checkpoint, group: CheckpointGroup
) -> Position:
    """Returns the position of the plan after a rollback to a checkpoint."""
    phase, state = plan.moved_by(PlanAction.ROLL_BACK)
    if plan.is_running_session:  # Its program goes on.
        phase, state = plan.phase, plan.state
    known = known_at(transaction, checkpoint, group)
    choices = group.way.choices if group.way else plan.choices
    if choices is None:  # There were none, or an older version did not store what no one corrected.
        choices = resolve_choices(plan.definition, plan.arguments) if plan.choices else {}
    done = checkpoint.metadata.last_completed_step
    finished = None
    has_run = done + 1 == len([*step_sequence(plan.definition.steps, choices)])
    if has_run and not plan.is_running_session:
        # Nothing is left to run, so the result can be applied at once.
        phase, state = transition(phase, state, PlanAction.FINISH)
        finished = checkpoint.created_at if plan.session is None else plan.finished_at
    return Position(
        phase=phase,
        state=state,
        attempt=plan.attempt,
        last_completed_step=done,
        last_checkpoint_id=checkpoint.id,
        choices=choices,
        error=None,
        cancel_reason=None,
        finished_at=finished,
        calls=known.calls,
        decisions=known.decisions,
        groups=known.groups,
        children=children_at(transaction, plan.id, known.decisions),
    )


def of_session(plan: Plan, wanted: Position) -> Position:
    """Returns a position of a session in which its program runs if it runs now, and else not."""
    if plan.is_running_session:
        place = plan.phase, plan.state
    elif wanted.state is PlanState.PROCESSING:
        place = transition(wanted.phase, wanted.state, PlanAction.FINISH)
    else:
        return wanted
    return replace(wanted, phase=place[0], state=place[1], finished_at=plan.finished_at)


def children_at(transaction: Transaction, plan_id: str, decisions: Ranges) -> dict[str, PlanState]:
    """Returns the states of the plans below one.

    Without the decision that spawned it, a child is cancelled, and what it spawned with it.
    """
    standing = {
        decision.id
        for decision in transaction.decisions.list(plan_id, superseded=True)
        if holds(decisions, decision.sequence)
    }
    states: dict[str, PlanState] = {}
    for child in transaction.plans.descendants(plan_id):
        own = child.parent_plan_id == plan_id
        is_in_effect = (
            child.spawn_decision_id in standing
            if own
            else states.get(child.parent_plan_id or "") is not PlanState.CANCELLED
        )
        states[child.id] = child.state if is_in_effect else PlanState.CANCELLED
    return states


def difference(transaction: Transaction, plan_id: str, wanted: Position) -> PositionDifference:
    """Returns what has to change in the records for the plan to be there."""
    decisions = transaction.decisions.list(plan_id, superseded=True)
    calls = transaction.tool_calls.list(plan_id)
    groups = transaction.checkpoints.groups(plan_id)
    below = transaction.plans.descendants(plan_id)
    # Safety checkpoints stay visible: the user may want to return to one.
    saved = {
        checkpoint.group_id
        for checkpoint in transaction.checkpoints.list(plan_id, set_aside=True)
        if checkpoint.checkpoint_type is CheckpointType.SAFETY
    }
    return PositionDifference(
        decisions_gone=[
            item.id
            for item in decisions
            if item.superseded_by is None and not holds(wanted.decisions, item.sequence)
        ],
        decisions_back=[
            item.id
            for item in decisions
            if item.superseded_by is not None and holds(wanted.decisions, item.sequence)
        ],
        calls_undone=[
            item
            for item in calls
            if item.undone_by is None and not holds(wanted.calls, item.sequence)
        ],
        calls_back=[
            item
            for item in calls
            if item.undone_by is not None and holds(wanted.calls, item.sequence)
        ],
        groups_aside=[
            item
            for item in groups
            if item.set_aside_by is None
            and item.id not in saved
            and not holds(wanted.groups, item.sequence)
        ],
        groups_back=[
            item
            for item in groups
            if item.set_aside_by is not None and holds(wanted.groups, item.sequence)
        ],
        children_gone=[
            child
            for child in below
            if wanted.children.get(child.id) is PlanState.CANCELLED
            and child.state is not PlanState.CANCELLED
        ],
        children_back=[
            child
            for child in below
            if wanted.children.get(child.id, PlanState.CANCELLED) is not PlanState.CANCELLED
            and child.state is PlanState.CANCELLED
        ],
    )


def move(
    transaction: Transaction,
    plan_id: str,
    wanted: Position,
    operation_id: str,
    superseded_by: str,
    now: datetime,
) -> tuple[Plan, PositionDifference]:
    """Moves the records to a position of the plan.

    Args:
        transaction: The one to do it in.
        plan_id: The plan.
        wanted: Its new position.
        operation_id: What undoes calls and sets groups aside.
        superseded_by: What takes the place of decisions.
        now: The time.
    """
    changes = difference(transaction, plan_id, wanted)
    transaction.tool_calls.make_effective(plan_id, wanted.calls, operation_id)
    if changes.decisions_gone:
        transaction.decisions.supersede(changes.decisions_gone, superseded_by)
    if changes.decisions_back:
        transaction.decisions.reinstate(changes.decisions_back)
    transaction.checkpoints.set_aside([item.id for item in changes.groups_aside], operation_id)
    transaction.checkpoints.set_aside([item.id for item in changes.groups_back], None)
    for child in transaction.plans.descendants(plan_id):
        state = wanted.children.get(child.id, child.state)
        if state is not child.state:
            reason = INVALIDATED if state is PlanState.CANCELLED else None
            update = {"state": state, "cancel_reason": reason, "updated_at": now}
            transaction.plans.save(replace(child, **update))
    plan = replace(
        transaction.plans.get(plan_id),
        phase=wanted.phase,
        state=wanted.state,
        attempt=wanted.attempt,
        last_completed_step=wanted.last_completed_step,
        last_checkpoint_id=wanted.last_checkpoint_id,
        choices=wanted.choices,
        error=wanted.error,
        cancel_reason=wanted.cancel_reason,
        finished_at=wanted.finished_at,
        updated_at=now,
    )
    transaction.plans.save(plan)
    placed = [item for item in transaction.decisions.list(plan_id) if item.place is not None]
    if placed:
        # The step sequence may have changed, and with it the numbers of the decisions' steps.
        steps = {item.step_path: index for index, item in enumerate(plan.step_sequence)}
        for decision in placed:
            index = steps.get(decision.place or "", decision.step_index)
            if index != decision.step_index:
                transaction.decisions.save(replace(decision, step_index=index))
    return plan, changes


def known_at(
    transaction: Transaction, checkpoint: Checkpoint, group: CheckpointGroup
) -> EffectiveRecords:
    """Returns what was in effect when a checkpoint was made; older records say it less directly."""
    calls = checkpoint.metadata.effective_calls
    if calls is None:
        known = transaction.tool_calls.list(checkpoint.plan_id)
        calls = ranges_of(call.sequence for call in known if checkpoint.metadata.knows(call))
    if group.way is not None:
        groups = followed_by(group.way.groups, group.sequence)
        return EffectiveRecords(tuple(calls), group.way.decisions, groups)
    done = checkpoint.metadata.last_completed_step
    decisions = ranges_of(
        decision.sequence
        for decision in transaction.decisions.list(checkpoint.plan_id)
        if decision.step_index is None or decision.step_index <= done
    )
    groups = ranges_of(
        other.sequence
        for other in transaction.checkpoints.groups(group.plan_id)
        if other.sequence <= group.sequence and other.set_aside_by in (None, group.set_aside_by)
    )
    return EffectiveRecords(tuple(calls), tuple(decisions), tuple(groups))


def meant_by(transaction: Transaction, operation: Operation) -> Position:
    """Returns where an operation leads that an older program began, which did not write it down."""
    plan = transaction.plans.get(operation.plan_id)
    checkpoint = transaction.checkpoints.get(operation.target_checkpoint_id)
    group = transaction.checkpoints.get_group(operation.target_group_id)
    return at(transaction, plan, checkpoint, group)
