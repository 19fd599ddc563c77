"""What a database promises about checkpoints and decisions.

Part of `cleveragents.testing.records.CONTRACT`.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from cleveragents.domain.checkpoints.checkpoint import CheckpointType
from cleveragents.domain.errors import (
    CheckpointNotFoundError,
    DuplicateError,
)
from cleveragents.testing import sample_records as sample
from cleveragents.testing.expectations import expect
from cleveragents.testing.records.database import (
    MakeDatabase,
    expect_exactly,
    with_groups,
    with_plan,
)


def checkpoints_come_back_as_they_were(make_database: MakeDatabase) -> None:
    """A group and its checkpoints are stored with every field."""
    database = with_plan(make_database)
    decided = replace(sample.checkpoint(2, group_number=1), decision_id="DECISION1")
    with database.write() as transaction:
        transaction.decisions.add(sample.decision())
        transaction.checkpoints.add_group(sample.group(), [sample.checkpoint(), decided])
    with make_database().read() as transaction:
        expect(transaction.checkpoints.get(sample.checkpoint().id), sample.checkpoint())
        expect(transaction.checkpoints.get_group(sample.group().id), sample.group())
        expect(list(transaction.checkpoints.list("PLAN1")), [sample.checkpoint(), decided])


def groups_are_added_whole(make_database: MakeDatabase) -> None:
    """When one checkpoint of a group is refused, nothing of the group is stored."""
    database = with_groups(make_database, 1)
    with database.write() as transaction:
        new, taken = sample.checkpoint(2), replace(sample.checkpoint(1), sequence=3)
        expect_exactly(
            DuplicateError,
            lambda: transaction.checkpoints.add_group(sample.group(2), [new, taken]),
        )
    with database.read() as transaction:
        expect(list(transaction.checkpoints.groups("PLAN1")), [sample.group()])
        expect(list(transaction.checkpoints.list("PLAN1")), [sample.checkpoint()])


def sequences_count_each_plan_from_one(make_database: MakeDatabase) -> None:
    """The next numbers follow what the plan has, and no number is given twice."""
    database = with_plan(make_database)
    with database.write() as transaction:
        expect(transaction.checkpoints.next_group("PLAN1")[:2], (1, 1))
        both = [sample.checkpoint(1), sample.checkpoint(2, group_number=1)]
        transaction.checkpoints.add_group(sample.group(), both)
        expect(transaction.checkpoints.next_group("PLAN1")[:2], (2, 3))
        expect(transaction.checkpoints.next_group("PLAN2")[:2], (1, 1))
        again = replace(sample.group(2), sequence=1)
        expect_exactly(DuplicateError, lambda: transaction.checkpoints.add_group(again, []))


def set_aside_groups_are_hidden(make_database: MakeDatabase) -> None:
    """What a rollback went past stays stored, and is listed only when asked for."""
    database = with_groups(make_database, 3)
    aside = replace(sample.group(3), set_aside_by="OPERATION1")
    with database.write() as transaction:
        transaction.checkpoints.get_group(sample.group(3).id)
        transaction.checkpoints.set_aside([sample.group(3).id], "OPERATION1")
        transaction.checkpoints.set_aside([], "OPERATION2")
        expect(transaction.checkpoints.get_group(aside.id), aside)
    with database.read() as transaction:
        store = transaction.checkpoints
        kept, all_of_them = [sample.group(1), sample.group(2)], [1, 2, 3]
        expect(list(store.groups("PLAN1", set_aside=False)), kept)
        expect(list(store.groups("PLAN1")), [*kept, aside])
        expect([found.sequence for found in store.list("PLAN1")], [1, 2])
        expect([found.sequence for found in store.list("PLAN1", set_aside=True)], all_of_them)


def set_aside_groups_can_be_brought_back(make_database: MakeDatabase) -> None:
    """Undoing a rollback shows again what it went past."""
    database = with_groups(make_database, 2)
    with database.write() as transaction:
        transaction.checkpoints.set_aside([sample.group(2).id], "OPERATION1")
        transaction.checkpoints.set_aside([sample.group(2).id], None)
    with database.read() as transaction:
        found = list(transaction.checkpoints.groups("PLAN1", set_aside=False))
        expect(found, [sample.group(1), sample.group(2)])


def groups_are_given_oldest_first(make_database: MakeDatabase) -> None:
    """Groups are given by sequence as far as wanted, counted, and found by a checkpoint."""
    database = with_groups(make_database, 3)
    aside = replace(sample.group(3), set_aside_by="OPERATION1")
    with database.write() as transaction:
        store = transaction.checkpoints
        store.set_aside([aside.id], "OPERATION1")
        given = store.groups_oldest_first("PLAN1")
        expect([next(given), next(given)], [sample.group(1), sample.group(2)])
        expect(store.group_of(sample.checkpoint(3).id), aside)
        expect_exactly(CheckpointNotFoundError, lambda: store.group_of("NOBODY"))
        expect(dict(store.group_counts()), {"PLAN1": 3})
        expect(set(store.group_ids("PLAN1")), {sample.group(number).id for number in (1, 2, 3)})
        expect(list(store.group_ids("PLAN2")), [])
        expect([*given], [aside])


def groups_that_count_toward_the_limit(make_database: MakeDatabase) -> None:
    """All but safety checkpoints count, groups of one state once; what was pruned is counted."""
    database = with_groups(make_database, 3)
    again = replace(sample.group(4), state_hashes=sample.group(2).state_hashes)
    with database.write() as transaction:
        store = transaction.checkpoints
        safety = {"checkpoint_type": CheckpointType.SAFETY}
        store.add_group(again, [sample.checkpoint(4)])
        store.add_group(sample.group(5), [replace(sample.checkpoint(5), **safety)])
        store.set_pinned([sample.group(3).id], pinned=True)
        counted = [(item.id, item.pinned) for item in store.counted_groups("PLAN1")]
        numbers = (1, 2, 3, 4)
        expect(counted, [(sample.group(number).id, number in (1, 3)) for number in numbers])
        states = [item.state for item in store.counted_groups("PLAN1")]
        expect((states[1] == states[3], len(set(states))), (True, 3))
        expect((store.count_states("PLAN1"), store.count_pruned("PLAN1")), (3, 0))
        store.prune_groups([sample.group(1).id])
        store.delete_groups([sample.group(3).id])
        expect((store.count_states("PLAN1"), store.count_pruned("PLAN1")), (1, 1))


def checkpoints_are_given_newest_first(make_database: MakeDatabase) -> None:
    """What a rollback went past is left out, and one can ask for a type."""
    database = with_groups(make_database, 4)
    with database.write() as transaction:
        store = transaction.checkpoints
        store.set_aside([sample.group(4).id], "OPERATION1")
        given = store.newest_first("PLAN1")
        expect(next(given), sample.checkpoint(3))
        expect([found.sequence for found in given], [2, 1])
        expect(store.newest("PLAN1", CheckpointType.AUTOMATIC), sample.checkpoint(3))
        expect(store.newest("PLAN1", CheckpointType.MANUAL), None)


def named_snapshots_are_recognised(make_database: MakeDatabase) -> None:
    """A snapshot is named by its resource and its id, both exactly, in groups of the plan."""
    with with_groups(make_database, 2).read() as transaction:
        is_named = transaction.checkpoints.is_snapshot_named
        expect(is_named("PLAN1", "RESOURCE1", "snapshot 2"), True)
        expect(is_named("PLAN1", sample.ODD, sample.ODD), True)
        expect(is_named("PLAN2", "RESOURCE1", "snapshot 2"), False)
        for resource_id, snapshot_id in (
            ("RESOURCE1", "snapshot"),
            ("RESOURCE1", "napshot 2"),
            ("RESOURCE1", "SNAPSHOT 2"),
            ("RESOURCE1", sample.ODD),
            (sample.ODD, "snapshot 2"),
        ):
            expect(is_named("PLAN1", resource_id, snapshot_id), False)


def decisions_are_listed_by_sequence(make_database: MakeDatabase) -> None:
    """Decisions come back as they were; superseded ones are listed only when asked for."""
    database = with_plan(make_database)
    root, child = sample.decision(1), sample.decision(2, parent_id="DECISION1")
    with database.write() as transaction:
        transaction.decisions.add(root)
        transaction.decisions.add(child)
        expect(list(transaction.decisions.list("PLAN1")), [root, child])
        transaction.decisions.supersede([child.id], "OPERATION1")
    with database.read() as transaction:
        replaced = replace(child, superseded_by="OPERATION1")
        expect(list(transaction.decisions.list("PLAN1")), [root])
        expect(list(transaction.decisions.list("PLAN1", superseded=True)), [root, replaced])


CONTRACT: tuple[Callable[[MakeDatabase], None], ...] = (
    checkpoints_come_back_as_they_were,
    groups_are_added_whole,
    sequences_count_each_plan_from_one,
    set_aside_groups_are_hidden,
    set_aside_groups_can_be_brought_back,
    groups_are_given_oldest_first,
    groups_that_count_toward_the_limit,
    checkpoints_are_given_newest_first,
    named_snapshots_are_recognised,
    decisions_are_listed_by_sequence,
)
