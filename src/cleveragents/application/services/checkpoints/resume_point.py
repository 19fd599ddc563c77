"""The checkpoint that a run continues from."""

from __future__ import annotations

from collections.abc import Iterable

from cleveragents.application.ports.records import Transaction
from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointType, Trigger
from cleveragents.domain.plans.plan import Plan


def resume_point(transaction: Transaction, plan: Plan) -> Checkpoint | None:
    """Returns the checkpoint that the plan continues from, or None before the first.

    It is the plan's last checkpoint, or the newest one before it that a run can build on.
    """
    newest_first = transaction.checkpoints.newest_first(plan.id)
    return choose_resume_point(plan.last_checkpoint_id, newest_first)


def choose_resume_point(last: str | None, newest_first: Iterable[Checkpoint]) -> Checkpoint | None:
    """Returns the checkpoint to continue from if `last` is the id of the plan's last one."""
    newest: Checkpoint | None = None
    seen_last = last is None
    for checkpoint in newest_first:
        is_last = checkpoint.id == last
        seen_last = seen_last or is_last
        if can_resume_from(checkpoint):
            newest = checkpoint if is_last else newest or checkpoint
        if seen_last and newest is not None:
            break
    return newest


def can_resume_from(checkpoint: Checkpoint) -> bool:
    """Returns whether a run can build on it.

    What a failure or a rollback left is kept for people to look at.
    """
    return (
        checkpoint.checkpoint_type is not CheckpointType.SAFETY
        and checkpoint.metadata.trigger != Trigger.ON_ERROR
    )


def start_of_run(transaction: Transaction, plan_id: str) -> Checkpoint | None:
    """Returns the checkpoint that was made before the plan's latest run, if there is one."""
    return transaction.checkpoints.newest(plan_id, CheckpointType.PRE_EXECUTE)
