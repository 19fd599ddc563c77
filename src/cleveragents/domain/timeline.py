"""Which checkpoints are on the way to the present, and which a rollback went past."""

from __future__ import annotations

from collections.abc import Sequence

from cleveragents.domain.checkpoint import CheckpointGroup, Operation, OperationStatus


def set_aside_and_back(
    target: CheckpointGroup,
    groups: Sequence[CheckpointGroup],
    operations: Sequence[Operation],
) -> tuple[set[str], set[str]]:
    """Returns the groups a rollback to `target` sets aside, and those it brings back.

    Everything later than the target is set aside. A target that was itself set
    aside by an earlier rollback, or is the state that rollback started from,
    brings back what was on the way to it.
    """
    later = {
        group.id
        for group in groups
        if group.sequence > target.sequence and group.set_aside_by is None
    }
    cause = target.set_aside_by or next(
        (
            operation.id
            for operation in operations
            if operation.safety_group_id == target.id
            and operation.status is OperationStatus.COMPLETED
        ),
        None,
    )
    back = {
        group.id
        for group in groups
        if cause is not None and group.set_aside_by == cause and group.sequence <= target.sequence
    }
    return later - back, back
