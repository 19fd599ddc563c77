"""Which checkpoints go when there are too many, and which the plan still needs.

The records go in the transaction of the checkpoint that was one too many, the
bytes after it: a kill in between leaves snapshots no record names.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from cleveragents.application.ports import Transaction
from cleveragents.domain.checkpoint import Checkpoint, CheckpointGroup, CheckpointType, Trigger
from cleveragents.domain.operation import OperationStatus, to_redo, to_undo
from cleveragents.domain.plan import Plan, PlanState
from cleveragents.domain.plan_file import OnFailure
from cleveragents.domain.retention import CheckpointRetentionPolicy, select_for_pruning


@dataclass(frozen=True)
class Pruned:
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
) -> Pruned:
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
        return Pruned()
    needed = {*keep, *_needed(transaction, plan, made)}
    dropped = select_for_pruning(store.groups_oldest_first(plan.id), count, policy, needed)
    store.prune_groups([group.id for group in dropped])
    unused: dict[str, set[str]] = {}
    for resource_id, snapshot in {item for group in dropped for item in group.snapshots.items()}:
        if not store.is_snapshot_named(plan.id, resource_id, snapshot):
            unused.setdefault(resource_id, set()).add(snapshot)
    return Pruned(len(dropped), unused)


def prune_after(
    transaction: Transaction,
    plan: Plan,
    policy: CheckpointRetentionPolicy,
    group: CheckpointGroup,
    made: Checkpoint,
    keep: Collection[str],
) -> Pruned:
    """Prunes because `group`, whose first checkpoint is `made`, was added."""
    # Numbers count from 1: there cannot be more groups than the newest one's number says.
    if group.sequence <= policy.max_checkpoints_per_plan:
        return Pruned()
    return prune(transaction, plan, policy, {group.id, *keep}, made)


def resume_point(transaction: Transaction, plan: Plan) -> Checkpoint | None:
    """Returns the plan's last checkpoint, or the newest before it that a run can build on.

    What a failure or a rollback left is kept to be looked at, not to go on from.
    """
    newest: Checkpoint | None = None
    seen_last = plan.last_checkpoint_id is None
    for checkpoint in transaction.checkpoints.newest_first(plan.id):
        is_last = checkpoint.id == plan.last_checkpoint_id
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
    """Returns the groups that the plan, its last operation or a run under way refers to."""
    points: list[Checkpoint | None] = []
    last = made if made is not None and made.id == plan.last_checkpoint_id else None
    if last is None and plan.last_checkpoint_id is not None:
        points.append(transaction.checkpoints.get(plan.last_checkpoint_id))
    if plan.state is PlanState.PROCESSING:
        if last is None or not can_go_on_from(last):
            points.append(resume_point(transaction, plan))
        if plan.definition.policy.on_failure is OnFailure.ROLLBACK_PLAN:
            points.append(transaction.checkpoints.newest(plan.id, CheckpointType.PRE_EXECUTE))
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
    last = {item.before.last_checkpoint_id for item in on_the_way if item.before is not None}
    if last:
        every = transaction.checkpoints.list(plan.id, set_aside=True)
        groups |= {checkpoint.group_id for checkpoint in every if checkpoint.id in last}
    return groups
