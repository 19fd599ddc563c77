"""What every `CheckpointStore` must do about groups that are pinned.

Part of `repository_contract.CONTRACT`, which explains the functions.
"""

from __future__ import annotations

from collections.abc import Callable

from cleveragents.application.ports import Transaction
from cleveragents.domain.checkpoint import CheckpointGroup
from cleveragents.domain.events import (
    CheckpointPinned,
    CheckpointUnpinned,
)
from cleveragents.testing import sample_records as sample
from cleveragents.testing.expectations import MakeDatabase, expect, with_groups

_MANY = 2_000
"""More than fit into one statement."""
_NOBODY = tuple(f"NONE{number}" for number in range(_MANY))


def groups_are_pinned_and_unpinned(make_database: MakeDatabase) -> None:
    """Only what is named changes, and only in that; naming what is not there is no matter."""
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


def pins_are_told_once(make_database: MakeDatabase) -> None:
    """What is so already is no event."""
    database = with_groups(make_database, 3)
    with database.write() as transaction:
        store = transaction.checkpoints
        store.set_pinned([sample.group(1).id, sample.group(2).id], pinned=True)
        store.set_pinned([sample.group(2).id], pinned=True)
        store.set_pinned([sample.group(2).id, sample.group(3).id], pinned=False)
        expect(
            [event.happening for event in transaction.events.added()],
            [
                CheckpointPinned("PLAN1", "PLAN1-CHECKPOINT2", "PLAN1-GROUP2", sample.ODD),
                CheckpointUnpinned("PLAN1", "PLAN1-CHECKPOINT2", "PLAN1-GROUP2", sample.ODD),
            ],
        )


def _pins(transaction: Transaction) -> list[bool]:
    return [group.pinned for group in transaction.checkpoints.groups("PLAN1")]


def _pinned(number: int) -> CheckpointGroup:
    return sample.group(number).model_copy(update={"pinned": True})


CONTRACT: tuple[Callable[[MakeDatabase], None], ...] = (
    groups_are_pinned_and_unpinned,
    pins_are_told_once,
)
