"""How many checkpoints a plan keeps, and which are removed first."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import islice

from pydantic import Field

from cleveragents.domain.checkpoints.checkpoint import CheckpointGroup
from cleveragents.domain.record import Record


class CheckpointRetentionPolicy(Record):
    """The limit counts groups: a group is kept or removed as a whole."""

    max_checkpoints_per_plan: int = Field(default=50, ge=1)


def select_for_pruning(
    groups: Iterable[CheckpointGroup],
    count: int,
    policy: CheckpointRetentionPolicy,
    needed: Collection[str],
) -> list[CheckpointGroup]:
    """Returns the groups to remove so that the limit is met, oldest first.

    The first, the newest, pinned groups and those in `needed` are kept, even if that exceeds
    the limit; with a limit of 1 the first may be removed.

    Args:
        groups: All groups of one plan, oldest first; read only as far as needed.
        count: How many there are.
        policy: The limit.
        needed: Group ids that the plan or an unfinished operation refers to.
    """
    limit = policy.max_checkpoints_per_plan
    kept_positions = {count - 1} if limit == 1 else {0, count - 1}
    droppable = (
        group
        for position, group in enumerate(groups)
        if position not in kept_positions and not group.pinned and group.id not in needed
    )
    return list(islice(droppable, max(count - limit, 0)))
