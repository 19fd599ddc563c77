"""How many checkpoints a plan keeps, and which go first."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pydantic import Field

from cleveragents.domain.checkpoint import CheckpointGroup
from cleveragents.domain.record import Record


class CheckpointRetentionPolicy(Record):
    """The limit counts groups: a group is kept or dropped whole."""

    max_checkpoints_per_plan: int = Field(default=50, ge=1)


def select_for_pruning(
    groups: Sequence[CheckpointGroup],
    policy: CheckpointRetentionPolicy,
    needed: Collection[str],
) -> list[CheckpointGroup]:
    """Returns the groups to drop, oldest first, so that the limit holds.

    The first, the newest, pinned ones and those in `needed` stay, even if that
    means keeping more than the limit; with a limit of 1 the first may go.

    Args:
        groups: All groups of one plan, oldest first.
        policy: The limit.
        needed: Group ids that the plan or an unfinished operation refers to.
    """
    excess = len(groups) - policy.max_checkpoints_per_plan
    if excess <= 0:
        return []
    kept_ends = {groups[-1].id}
    if policy.max_checkpoints_per_plan > 1:
        kept_ends.add(groups[0].id)
    droppable = [
        group
        for group in groups
        if not group.pinned and group.id not in kept_ends and group.id not in needed
    ]
    return droppable[:excess]
