"""Which checkpoints a user may delete, and what can no longer be done without them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum

from cleveragents.domain.checkpoints.checkpoint import CheckpointGroup
from cleveragents.domain.checkpoints.operation import Operation, to_redo, to_undo
from cleveragents.domain.errors import CheckpointInUseError, CheckpointPinnedError


class DeletionBlocker(StrEnum):
    """Why a group cannot go, as the end of a sentence."""

    PLACE = "the plan is at it"
    RUN = "a run of the plan goes on from it"
    FAILURE = "a run of the plan goes back to it when a step fails"
    OPERATION = "an operation that is not finished needs it"


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
    """Lets groups be deleted that nothing holds.

    Args:
        plan_id: Their plan.
        groups: What the user wants to delete.
        names: The checkpoint by which the user named each, by group id.
        needs: What cannot go whatever the user wants, by group id.

    Raises:
        CheckpointPinnedError: some are pinned.
        CheckpointInUseError: the plan needs one of them.
    """
    doomed = list(groups)
    pinned = [names[group.id] for group in doomed if group.pinned]
    if pinned:
        raise CheckpointPinnedError(plan_id, pinned)
    for group in doomed:
        need = needs.get(group.id)
        if need is not None:
            hint = _HINTS[need].format(plan=plan_id)
            raise CheckpointInUseError(names[group.id], need.value, hint=hint)


def no_longer_undoable(
    operations: Sequence[Operation], group_ids: Collection[str]
) -> tuple[Operation, ...]:
    """Returns the operations that could be undone, or redone, only with one of these groups."""
    return tuple(
        operation
        for operation in (*to_undo(operations), *to_redo(operations))
        if operation.safety_group_id in group_ids
    )
