"""Which checkpoints go when there are too many, and which the plan still needs.

The records go in the transaction of the checkpoint that was one too many, the
bytes after it: a kill in between leaves snapshots no record names.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from cleveragents.application.ports.records import Transaction
from cleveragents.application.services.checkpoints.resume_point import (
    can_resume_from,
    choose_resume_point,
    resume_point,
    start_of_run,
)
from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointType
from cleveragents.domain.checkpoints.number_ranges import holds
from cleveragents.domain.checkpoints.operation import OperationStatus, Position, to_redo, to_undo
from cleveragents.domain.checkpoints.retention import (
    CheckpointRetentionPolicy,
    RetentionSummary,
    select_for_pruning,
)
from cleveragents.domain.plans.plan import Plan, PlanState
from cleveragents.domain.plans.plan_file import OnFailure


@dataclass(frozen=True)
class PruneResult:
    """What pruning took."""

    groups: int = 0
    snapshots: Mapping[str, Collection[str]] = field(default_factory=dict[str, Collection[str]])
    """The snapshots, by resource id, that no group of the plan has."""


def prune(
    transaction: Transaction,
    plan: Plan,
    policy: CheckpointRetentionPolicy,
    made: Checkpoint | None = None,
) -> PruneResult:
    """Drops the records of what the policy no longer allows.

    Args:
        transaction: The one to do it in.
        plan: The plan as it is in it.
        policy: The limit.
        made: The checkpoint that this transaction has just made, if it has.
    """
    store = transaction.checkpoints
    policy = policy.of_plan(is_session=plan.session is not None)
    if store.count_states(plan.id) <= policy.max_checkpoints_per_plan:
        return PruneResult()
    needed = _needed(transaction, plan, made)
    chosen = select_for_pruning(store.counted_groups(plan.id), policy, needed)
    dropped = [store.get_group(group_id) for group_id in chosen]
    store.prune_groups(chosen)
    unused: dict[str, set[str]] = {}
    for resource_id, snapshot in {item for group in dropped for item in group.snapshots.items()}:
        if not store.is_snapshot_named(plan.id, resource_id, snapshot):
            unused.setdefault(resource_id, set()).add(snapshot)
    return PruneResult(len(dropped), unused)


def retention_summary(
    transaction: Transaction, plan_id: str, policy: CheckpointRetentionPolicy
) -> RetentionSummary:
    """Returns what the limit has left and taken of a plan's checkpoints."""
    store = transaction.checkpoints
    plan = transaction.plans.get(plan_id)
    policy = policy.of_plan(is_session=plan.session is not None)
    return RetentionSummary(
        limit=policy.max_checkpoints_per_plan,
        states=store.count_states(plan_id),
        dropped=store.count_pruned(plan_id),
        setting=policy.setting,
    )


def _needed(transaction: Transaction, plan: Plan, made: Checkpoint | None) -> set[str]:
    """Returns the groups that the plan, its operations or a run under way refers to."""
    points: list[Checkpoint | None] = []
    last = made if made is not None and made.id == plan.last_checkpoint_id else None
    if last is None and plan.last_checkpoint_id is not None:
        points.append(transaction.checkpoints.get(plan.last_checkpoint_id))
    if plan.state in _UNDER_WAY:
        if last is None or not can_resume_from(plan, last):
            points.append(resume_point(transaction, plan))
        if plan.definition.policy.on_failure is OnFailure.ROLLBACK_PLAN:
            points.append(start_of_run(transaction, plan.id))
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
    points = [choose_resume_point(plan, position.last_checkpoint_id, newest_first)]
    if plan.definition.policy.on_failure is OnFailure.ROLLBACK_PLAN:
        starts = (
            item for item in newest_first if item.checkpoint_type is CheckpointType.PRE_EXECUTE
        )
        points.append(next(starts, None))
    return {point.group_id for point in points if point is not None}


_UNDER_WAY = (PlanState.PROCESSING, PlanState.ERRORED)
"""States from which a plan continues its run."""
