"""The checkpoint that a run continues from."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from cleveragents.application.ports.records import Transaction
from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointType, Trigger
from cleveragents.domain.plans.plan import Plan


def resume_point(transaction: Transaction, plan: Plan) -> Checkpoint | None:
    """Returns the checkpoint that the plan continues from, or None before the first.

    It is the plan's last checkpoint, or the newest one before it that a run can build on.
    """
    newest_first = transaction.checkpoints.newest_first(plan.id)
    return choose_resume_point(plan, plan.last_checkpoint_id, newest_first)


def choose_resume_point(
    plan: Plan, last: str | None, newest_first: Iterable[Checkpoint]
) -> Checkpoint | None:
    """Returns the checkpoint to continue from if `last` is the id of the plan's last one."""
    newest: Checkpoint | None = None
    seen_last = last is None
    for _, group in groupby(newest_first, key=lambda item: item.group_id):
        rows = list(group)
        final = next((row for row in rows if row.id == last), None)
        seen_last = seen_last or final is not None
        # A group is as partial as the worst of its resources.
        if all(can_resume_from(plan, row) for row in rows):
            newest = final or newest or rows[0]
        if seen_last and newest is not None:
            break
    return newest


def can_resume_from(plan: Plan, checkpoint: Checkpoint) -> bool:
    """Returns whether a run of the plan can build on a checkpoint.

    What a failure or a rollback left is kept for people to look at. A plan that requires
    checkpoints does not rely on a partial one, which earlier versions recorded all the same.
    """
    return (
        checkpoint.checkpoint_type is not CheckpointType.SAFETY
        and checkpoint.metadata.trigger != Trigger.ON_ERROR
        and not (checkpoint.metadata.partial and plan.definition.policy.require_checkpoints)
    )


def start_of_run(transaction: Transaction, plan_id: str) -> Checkpoint | None:
    """Returns the checkpoint that was made before the plan's latest run, if there is one."""
    return transaction.checkpoints.newest(plan_id, CheckpointType.PRE_EXECUTE)
