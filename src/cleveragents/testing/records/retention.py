"""What every `CheckpointStore` must do about groups that are pinned, pruned and deleted.

Part of `cleveragents.testing.records.CONTRACT`, which explains the functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from cleveragents.application.ports.records import Database, Transaction
from cleveragents.domain.checkpoints.checkpoint import CheckpointGroup
from cleveragents.domain.errors import CheckpointNotFoundError
from cleveragents.domain.plans.events import (
    CheckpointDeleted,
    CheckpointPinned,
    CheckpointPruned,
    CheckpointUnpinned,
    PlanEventRecord,
)
from cleveragents.testing import sample_records as sample
from cleveragents.testing.expectations import expect
from cleveragents.testing.records.database import MakeDatabase, expect_exactly, with_groups

_MANY = 2_000
"""More than fit into one statement."""
_NOBODY = tuple(f"NONE{number}" for number in range(_MANY))


def groups_are_deleted_with_their_checkpoints(make_database: MakeDatabase) -> None:
    """Deleting takes rows of the group and no others, however many groups are named."""
    _expect_deletion(make_database, lambda transaction: transaction.checkpoints.delete_groups)


def groups_are_pruned_with_their_checkpoints(make_database: MakeDatabase) -> None:
    """Pruning takes what deleting takes."""
    _expect_deletion(make_database, lambda transaction: transaction.checkpoints.prune_groups)


def groups_with_several_checkpoints_go_whole(make_database: MakeDatabase) -> None:
    """A group takes all its checkpoints with it, those of other resources too."""
    database = with_groups(make_database, 1)
    with database.write() as transaction:
        pair = [sample.checkpoint(2), sample.checkpoint(3, group_number=2)]
        transaction.checkpoints.add_group(sample.group(2), pair)
        transaction.checkpoints.delete_groups([sample.group(2).id])
    with database.read() as transaction:
        expect(list(transaction.checkpoints.list("PLAN1")), [sample.checkpoint(1)])
        expect(list(transaction.checkpoints.groups("PLAN1")), [sample.group(1)])


def groups_are_pinned_and_unpinned(make_database: MakeDatabase) -> None:
    """Only what is named changes, and only in that; naming what is not there does no harm."""
    database = with_groups(make_database, 3)
    with database.write() as transaction:
        transaction.checkpoints.set_pinned([sample.group(2).id, *_NOBODY], pinned=True)
        expect(_pins(transaction), [True, True, False])
    with database.write() as transaction:
        transaction.checkpoints.set_pinned({sample.group(1).id}, pinned=False)
    with database.read() as transaction:
        expect(_pins(transaction), [False, True, False])
        expect(transaction.checkpoints.get_group(sample.group(2).id), _pinned(2))
        expect(transaction.checkpoints.get(sample.checkpoint(2).id), sample.checkpoint(2))


def pins_and_deletions_are_told_apart(make_database: MakeDatabase) -> None:
    """What a user did and what the limit did are different events, and each is told once."""
    database = with_groups(make_database, 3)
    with database.write() as transaction:
        store = transaction.checkpoints
        store.set_pinned([sample.group(1).id, sample.group(2).id], pinned=True)
        store.set_pinned([sample.group(2).id], pinned=True)
        store.set_pinned([sample.group(2).id, sample.group(3).id], pinned=False)
        store.prune_groups([sample.group(2).id])
        store.delete_groups([sample.group(3).id])
        store.delete_groups([sample.group(3).id])
        _expect_told(
            transaction,
            [
                CheckpointPinned("PLAN1", "PLAN1-CHECKPOINT2", "PLAN1-GROUP2", sample.ODD),
                CheckpointUnpinned("PLAN1", "PLAN1-CHECKPOINT2", "PLAN1-GROUP2", sample.ODD),
                CheckpointPruned("PLAN1", "PLAN1-CHECKPOINT2", "PLAN1-GROUP2", sample.ODD),
                CheckpointDeleted("PLAN1", "PLAN1-CHECKPOINT3", "PLAN1-GROUP3", sample.ODD),
            ],
        )


def _expect_deletion(
    make_database: MakeDatabase,
    deleting: Callable[[Transaction], Callable[[Sequence[str]], None]],
) -> None:
    database: Database = with_groups(make_database, 3)
    with database.write() as transaction:
        transaction.checkpoints.get(sample.checkpoint(2).id)
        deleting(transaction)([sample.group(2).id, *_NOBODY])
        expect_exactly(
            CheckpointNotFoundError, lambda: transaction.checkpoints.get(sample.checkpoint(2).id)
        )
    with database.read() as transaction:
        expect([found.sequence for found in transaction.checkpoints.groups("PLAN1")], [1, 3])
        expect([found.sequence for found in transaction.checkpoints.list("PLAN1")], [1, 3])


def _expect_told(transaction: Transaction, wanted: Sequence[PlanEventRecord]) -> None:
    expect([event.record for event in transaction.events.added()], list(wanted))


def _pins(transaction: Transaction) -> list[bool]:
    return [group.pinned for group in transaction.checkpoints.groups("PLAN1")]


def _pinned(number: int) -> CheckpointGroup:
    return replace(sample.group(number), pinned=True)


CONTRACT: tuple[Callable[[MakeDatabase], None], ...] = (
    groups_are_deleted_with_their_checkpoints,
    groups_are_pruned_with_their_checkpoints,
    groups_with_several_checkpoints_go_whole,
    groups_are_pinned_and_unpinned,
    pins_and_deletions_are_told_apart,
)
