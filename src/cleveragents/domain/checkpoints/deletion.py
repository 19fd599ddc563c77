"""Which checkpoints a user may delete, and which operations need them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum

from cleveragents.domain.checkpoints.checkpoint import CheckpointGroup
from cleveragents.domain.checkpoints.operation import Operation, to_redo, to_undo
from cleveragents.domain.errors import CheckpointInUseError, CheckpointPinnedError


class DeletionBlocker(StrEnum):
    """Why a group cannot be deleted, as the end of a sentence."""

    PLACE = "it is the plan's current checkpoint"
    RUN = "a run of the plan resumes from it"
    FAILURE = "a run of the plan rolls back to it when a step fails"
    OPERATION = "an unfinished operation needs it"


_HINTS = {
    DeletionBlocker.PLACE: "Roll back to another checkpoint first, or leave this one out",
    DeletionBlocker.RUN: "Run `agents plan resume {plan}` first, or leave this one out",
    DeletionBlocker.FAILURE: "Run `agents plan resume {plan}` first, or leave this one out",
    DeletionBlocker.OPERATION: "Run `agents plan execute {plan}` first, or leave this one out",
}


def refuse_deletion(
    plan_id: str,
    groups: Iterable[CheckpointGroup],
    names: Mapping[str, str],
    needs: Mapping[str, DeletionBlocker],
) -> None:
    """Raises if one of the groups must not be deleted.

    Args:
        plan_id: Their plan.
        groups: The groups to delete.
        names: The checkpoint id with which the user named each group, by group id.
        needs: The groups that the plan needs, and why, by group id.

    Raises:
        CheckpointPinnedError: some are pinned.
        CheckpointInUseError: the plan needs one of them.
    """
    chosen = list(groups)
    pinned = [names[group.id] for group in chosen if group.pinned]
    if pinned:
        raise CheckpointPinnedError(plan_id, pinned)
    for group in chosen:
        need = needs.get(group.id)
        if need is not None:
            hint = _HINTS[need].format(plan=plan_id)
            raise CheckpointInUseError(names[group.id], need.value, hint=hint)


def no_longer_undoable(
    operations: Sequence[Operation], group_ids: Collection[str]
) -> tuple[Operation, ...]:
    """Returns the operations whose undo or redo needs one of these groups."""
    return tuple(
        operation
        for operation in (*to_undo(operations), *to_redo(operations))
        if operation.safety_group_id in group_ids
    )
