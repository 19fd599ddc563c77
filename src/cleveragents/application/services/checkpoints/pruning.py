"""Which checkpoints go when there are too many, and which the plan still needs.

The records go in the transaction of the checkpoint that was one too many, the
bytes after it: a kill in between leaves snapshots no record names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cleveragents.application.ports.records import Transaction
from cleveragents.domain.checkpoints.checkpoint import (
    Checkpoint,
    CheckpointGroup,
    CheckpointType,
    Trigger,
)
from cleveragents.domain.checkpoints.number_ranges import holds
from cleveragents.domain.checkpoints.operation import OperationStatus, Position, to_redo, to_undo
from cleveragents.domain.checkpoints.retention import CheckpointRetentionPolicy, select_for_pruning
from cleveragents.domain.plans.plan import Plan, PlanState
from cleveragents.domain.plans.plan_file import OnFailure


@dataclass(frozen=True)
class PruneResult:
    """What pruning took."""

    groups: int = 0
    snapshots: Mapping[str, Collection[str]] = field(default_factory=dict[str, Collection[str]])
    """The snapshots, by resource id, that no group of the plan has any more."""


def prune(
    transaction: Transaction,
    plan: Plan,
    policy: CheckpointRetentionPolicy,
    keep: Collection[str] = (),
    made: Checkpoint | None = None,
) -> PruneResult:
    """Drops the records of what the policy no longer allows.

    Args:
        transaction: The one to do it in.
        plan: The plan as it is in it.
        policy: The limit.
        keep: Groups that stay in any case.
        made: The checkpoint that this transaction has just made, if it has.
    """
    store = transaction.checkpoints
    count = store.count_groups(plan.id)
    if count <= policy.max_checkpoints_per_plan:
        return PruneResult()
    needed = {*keep, *_needed(transaction, plan, made)}
    dropped = select_for_pruning(store.groups_oldest_first(plan.id), count, policy, needed)
    store.prune_groups([group.id for group in dropped])
    unused: dict[str, set[str]] = {}
    for resource_id, snapshot in {item for group in dropped for item in group.snapshots.items()}:
        if not store.is_snapshot_named(plan.id, resource_id, snapshot):
            unused.setdefault(resource_id, set()).add(snapshot)
    return PruneResult(len(dropped), unused)


def prune_after(
    transaction: Transaction,
    plan: Plan,
    policy: CheckpointRetentionPolicy,
    group: CheckpointGroup,
    made: Checkpoint,
    keep: Collection[str],
) -> PruneResult:
    """Prunes because `group`, whose first checkpoint is `made`, was added."""
    # Numbers count from 1: there cannot be more groups than the newest one's number says.
    if group.sequence <= policy.max_checkpoints_per_plan:
        return PruneResult()
    return prune(transaction, plan, policy, {group.id, *keep}, made)


def resume_point(transaction: Transaction, plan: Plan) -> Checkpoint | None:
    """Returns the plan's last checkpoint, or the newest before it that a run can build on.

    What a failure or a rollback left is kept to be looked at, not to go on from.
    """
    return _resume_point(plan.last_checkpoint_id, transaction.checkpoints.newest_first(plan.id))


def _resume_point(last: str | None, newest_first: Iterable[Checkpoint]) -> Checkpoint | None:
    newest: Checkpoint | None = None
    seen_last = last is None
    for checkpoint in newest_first:
        is_last = checkpoint.id == last
        seen_last = seen_last or is_last
        if can_go_on_from(checkpoint):
            newest = checkpoint if is_last else newest or checkpoint
        if seen_last and newest is not None:
            break
    return newest


def can_go_on_from(checkpoint: Checkpoint) -> bool:
    """Returns whether a run can build on it, or it is only kept to be looked at."""
    return (
        checkpoint.checkpoint_type is not CheckpointType.SAFETY
        and checkpoint.metadata.trigger != Trigger.ON_ERROR
    )


def _needed(transaction: Transaction, plan: Plan, made: Checkpoint | None) -> set[str]:
    """Returns the groups that the plan, its operations or a run under way refers to."""
    points: list[Checkpoint | None] = []
    last = made if made is not None and made.id == plan.last_checkpoint_id else None
    if last is None and plan.last_checkpoint_id is not None:
        points.append(transaction.checkpoints.get(plan.last_checkpoint_id))
    if plan.state in _UNDER_WAY:
        if last is None or not can_go_on_from(last):
            points.append(resume_point(transaction, plan))
        if plan.definition.policy.on_failure is OnFailure.ROLLBACK_PLAN:
            points.append(transaction.checkpoints.newest(plan.id, _PRE_EXECUTE))
    needed = {point.group_id for point in points if point is not None}
    return needed | _needed_to_take_back(transaction, plan)


def _needed_to_take_back(transaction: Transaction, plan: Plan) -> set[str]:
    """Returns the groups that ending, undoing or redoing an operation leads to."""
    operations = transaction.operations.list(plan.id)
    if not operations:
        return set()
    pending = [item for item in operations if item.status is OperationStatus.PENDING]
    on_the_way = [*pending, *to_undo(operations), *to_redo(operations)]
    groups = {item.safety_group_id for item in on_the_way}
    groups |= {item.target_group_id for item in pending}
    corrected = {item.operation_id for item in transaction.corrections.list(plan.id)}
    groups |= {item.safety_group_id for item in operations if item.id in corrected}
    positions = [item.before for item in on_the_way if item.before is not None]
    return groups | _needed_at(transaction, plan, positions)


def _needed_at(transaction: Transaction, plan: Plan, positions: Sequence[Position]) -> set[str]:
    """Returns the groups that the plan would refer to if it stood at one of these again."""
    if not positions:
        return set()
    every = transaction.checkpoints.list(plan.id, set_aside=True)
    last = {position.last_checkpoint_id for position in positions}
    needed = {checkpoint.group_id for checkpoint in every if checkpoint.id in last}
    under_way = [position for position in positions if position.state in _UNDER_WAY]
    groups = transaction.checkpoints.groups(plan.id) if under_way else ()
    numbers = {group.id: group.sequence for group in groups}
    for position in under_way:
        visible = [item for item in every if holds(position.groups, numbers[item.group_id])]
        needed |= _needed_to_go_on(plan, position, visible[::-1])
    return needed


def _needed_to_go_on(
    plan: Plan, position: Position, newest_first: Sequence[Checkpoint]
) -> set[str]:
    points = [_resume_point(position.last_checkpoint_id, newest_first)]
    if plan.definition.policy.on_failure is OnFailure.ROLLBACK_PLAN:
        starts = (item for item in newest_first if item.checkpoint_type is _PRE_EXECUTE)
        points.append(next(starts, None))
    return {point.group_id for point in points if point is not None}


_PRE_EXECUTE = CheckpointType.PRE_EXECUTE
_UNDER_WAY = (PlanState.PROCESSING, PlanState.ERRORED)
"""States from which a plan goes on with the run that it was in."""
