"""What a database promises about going back: what is in effect, influences, corrections, children.

Part of `cleveragents.testing.records.CONTRACT`.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from cleveragents.domain.checkpoints.operation import OperationKind
from cleveragents.domain.decisions.correction import CorrectionState
from cleveragents.domain.errors import CorrectionNotFoundError, DuplicateError, NotFoundError
from cleveragents.domain.plans.events import DecisionReinstated, DecisionSuperseded
from cleveragents.testing import sample_records as sample
from cleveragents.testing.expectations import expect
from cleveragents.testing.records.database import MakeDatabase, expect_exactly, with_plan


def what_is_in_effect_is_told_as_ranges(make_database: MakeDatabase) -> None:
    """Numbers that follow each other are one range; what is marked is in none."""
    database = with_plan(make_database)
    with database.write() as transaction:
        store = transaction.checkpoints
        nothing = store.effective_records("PLAN1")
        expect((nothing.calls, nothing.decisions, nothing.groups), ((), (), ()))
        for number in range(1, 10):
            marked = "OPERATION1" if number in (1, 4, 5, 7) else None
            call = replace(sample.tool_call(number), undone_by=marked)
            transaction.tool_calls.add(call)
        for number in range(1, 6):
            marked = "OPERATION1" if number in (2, 5) else None
            decision = replace(sample.decision(number), superseded_by=marked)
            transaction.decisions.add(decision)
        for number in range(1, 4):
            store.add_group(sample.group(number), [])
        store.set_aside([sample.group(3).id], "OPERATION1")
        found = store.effective_records("PLAN1")
        expect(found.calls, ((2, 3), (6, 6), (8, 9)))
        expect(found.decisions, ((1, 1), (3, 4)))
        expect(found.groups, ((1, 2),))
        expect(store.effective_records("PLAN2"), nothing)


def decisions_are_superseded_and_reinstated(make_database: MakeDatabase) -> None:
    """What replaced a decision first stays named; each change that is one is told once."""
    database = with_plan(make_database)
    ids = ["DECISION1", "DECISION2"]
    with database.write() as transaction:
        for number in (1, 2):
            transaction.decisions.add(sample.decision(number))
    with database.write() as transaction:
        transaction.decisions.supersede(ids[1:], "OPERATION1")
        transaction.decisions.supersede(ids, "OPERATION2")
        found = transaction.decisions.list("PLAN1", superseded=True)
        expect([item.superseded_by for item in found], ["OPERATION2", "OPERATION1"])
        told = [item.data["decision_id"] for item in transaction.events.added()]
        expect(told, ["DECISION2", "DECISION1"])
        expect({item.type for item in transaction.events.added()}, {DecisionSuperseded.type})
    with database.write() as transaction:
        transaction.decisions.reinstate(ids)
        transaction.decisions.reinstate(ids)
        expect([item.id for item in transaction.decisions.list("PLAN1")], ids)
        told = [(item.type, item.data["decision_id"]) for item in transaction.events.added()]
        expect(told, [(DecisionReinstated.type, each) for each in ids])


def saved_decisions_replace_every_field(make_database: MakeDatabase) -> None:
    """A decision can come to belong to another step; one that is not stored cannot be saved."""
    database = with_plan(make_database)
    moved = replace(sample.decision(), step_index=7, place=None)
    with database.write() as transaction:
        transaction.decisions.add(sample.decision())
        transaction.decisions.save(moved)
        expect_exactly(NotFoundError, lambda: transaction.decisions.save(sample.decision(2)))
    with database.read() as transaction:
        expect(list(transaction.decisions.list("PLAN1")), [moved])


def influences_are_kept(make_database: MakeDatabase) -> None:
    """A decision may rest on several others, of which each is kept once."""
    database = with_plan(make_database)
    with database.write() as transaction:
        decisions = transaction.decisions
        for number in (1, 2):
            decisions.add(sample.decision(number))
        decisions.add(sample.decision(3), ["DECISION2", "DECISION1", "DECISION2"])
    with database.read() as transaction:
        expect(transaction.decisions.influences("PLAN2"), {})
        found = transaction.decisions.influences("PLAN1")
        expect({key: list(value) for key, value in found.items()}, _THIRD_RESTS_ON_BOTH)


_THIRD_RESTS_ON_BOTH = {"DECISION3": ["DECISION1", "DECISION2"]}


def corrections_come_back_as_they_were(make_database: MakeDatabase) -> None:
    """Corrections are listed by plan, oldest first, and found by id, prefix and operation."""
    database = with_plan(make_database)
    first, second = sample.correction(1), sample.correction(2)
    with database.write() as transaction:
        transaction.decisions.add(sample.decision())
        store = transaction.corrections
        for attempt in (second, first):
            store.add(attempt)
        expect_exactly(DuplicateError, lambda: store.add(first))
        done = replace(
            second,
            state=CorrectionState.COMPLETE,
            completed_at=sample.moment(9),
            original_subtree=(),
            operation_id=None,
        )
        store.save(done)
    with database.read() as transaction:
        store = transaction.corrections
        expect(list(store.list("PLAN1")), [first, done])
        expect(list(store.list("PLAN2")), [])
        expect(store.get(first.id), first)
        expect(store.of_operation("OPERATION1"), first)
        expect(store.of_operation("OPERATION2"), None)
        expect(list(store.ids("CORRECTION")), [first.id, second.id])
        expect(list(store.ids("correction")), [])
        expect_exactly(CorrectionNotFoundError, lambda: store.get("CORRECTION3"))


def children_are_found_by_their_parent(make_database: MakeDatabase) -> None:
    """Plans that a plan spawned, and those below them, are listed as they were created."""
    database = with_plan(make_database)
    origin = {"parent_plan_id": "PLAN1", "spawn_decision_id": "DECISION1"}
    children = [replace(sample.plan(f"CHILD{number}", number), **origin) for number in (2, 1)]
    with database.write() as transaction:
        for child in children:
            transaction.plans.add(child)
    with database.read() as transaction:
        expect([item.id for item in transaction.plans.children("PLAN1")], ["CHILD2", "CHILD1"])
        expect(transaction.plans.get("CHILD2").spawn_decision_id, "DECISION1")
        expect(list(transaction.plans.children("CHILD1")), [])
    below = replace(sample.plan("GRANDCHILD", 3), parent_plan_id="CHILD2")
    with database.write() as transaction:
        transaction.plans.add(below)
    with database.read() as transaction:
        every = [item.id for item in transaction.plans.descendants("PLAN1")]
        expect(every, ["CHILD2", "CHILD1", "GRANDCHILD"])
        expect([item.id for item in transaction.plans.descendants("CHILD2")], ["GRANDCHILD"])
        expect(list(transaction.plans.descendants("CHILD1")), [])


def operations_know_where_the_plan_stood(make_database: MakeDatabase) -> None:
    """Where a plan stood before and after comes back as it was; older records have neither."""
    database = with_plan(make_database)
    undo = replace(sample.operation(1), kind=OperationKind.UNDO)
    older = replace(sample.operation(2), before=None, after=None, takes_back=None)
    with database.write() as transaction:
        for operation in (undo, older):
            transaction.operations.add(operation)
    with database.read() as transaction:
        expect(list(transaction.operations.list("PLAN1")), [undo, older])


CONTRACT: tuple[Callable[[MakeDatabase], None], ...] = (
    what_is_in_effect_is_told_as_ranges,
    decisions_are_superseded_and_reinstated,
    saved_decisions_replace_every_field,
    influences_are_kept,
    corrections_come_back_as_they_were,
    children_are_found_by_their_parent,
    operations_know_where_the_plan_stood,
)
