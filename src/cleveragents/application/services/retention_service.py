"""RetentionService: which checkpoints stay because the user says so.

What happens by itself, when a plan has too many of them, is in `_pruning`. A
checkpoint stands for its group here: all of one moment is pinned together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from cleveragents.application.ports import Database, Transaction
from cleveragents.domain.checkpoint import Checkpoint, CheckpointGroup
from cleveragents.domain.errors import CheckpointPlanMismatchError


@dataclass(frozen=True)
class Pinning:
    """What was pinned or unpinned, or had been already."""

    plan_id: str
    checkpoints: Sequence[Checkpoint]
    """All of the groups that were named, oldest first."""
    groups: Mapping[str, CheckpointGroup]
    """Those groups as they are now, by id."""
    changed: frozenset[str]
    """The ids of the groups that were not so before."""


class RetentionService:
    """Pins and unpins checkpoints."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def pin(self, plan_id: str, checkpoints: Sequence[Checkpoint]) -> Pinning:
        """Has checkpoints stay whatever the limit says; fine for those that do already.

        Needs no lease, so that it can save a checkpoint from a run that is under way.

        Raises:
            CheckpointNotFoundError: one is gone.
            CheckpointPlanMismatchError: one is another plan's.
        """
        return self._set_pinned(plan_id, checkpoints, pinned=True)

    def unpin(self, plan_id: str, checkpoints: Sequence[Checkpoint]) -> Pinning:
        """Leaves checkpoints to the limit again; raises what `pin` does."""
        return self._set_pinned(plan_id, checkpoints, pinned=False)

    def _set_pinned(
        self, plan_id: str, checkpoints: Sequence[Checkpoint], *, pinned: bool
    ) -> Pinning:
        with self._database.write() as transaction:
            before = _groups_of(transaction, plan_id, checkpoints)
            transaction.checkpoints.set_pinned(before, pinned=pinned)
            after = _groups_of(transaction, plan_id, checkpoints)
            concerned = _checkpoints_of(transaction, plan_id, before)
        changed = frozenset(group.id for group in before.values() if group != after[group.id])
        return Pinning(plan_id, concerned, after, changed)


def _groups_of(
    transaction: Transaction, plan_id: str, checkpoints: Sequence[Checkpoint]
) -> dict[str, CheckpointGroup]:
    """Returns the groups of the checkpoints, each once and oldest first, if all are there."""
    for checkpoint in checkpoints:
        present = transaction.checkpoints.get(checkpoint.id)
        if present.plan_id != plan_id:
            raise CheckpointPlanMismatchError(checkpoint.id, plan_id, present.plan_id)
    found = [
        transaction.checkpoints.get_group(group_id)
        for group_id in {checkpoint.group_id for checkpoint in checkpoints}
    ]
    return {group.id: group for group in sorted(found, key=lambda group: group.sequence)}


def _checkpoints_of(
    transaction: Transaction, plan_id: str, group_ids: Collection[str]
) -> list[Checkpoint]:
    every = transaction.checkpoints.list(plan_id, set_aside=True)
    return [checkpoint for checkpoint in every if checkpoint.group_id in group_ids]
