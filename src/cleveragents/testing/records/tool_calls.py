"""What a database promises about tool calls and the changes they made.

Part of `cleveragents.testing.records.CONTRACT`.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from cleveragents.application.ports.records import Database
from cleveragents.domain.errors import (
    DatabaseError,
)
from cleveragents.domain.sandboxes.change import AuthoredChange, ChangeCounts, PathChange
from cleveragents.domain.tools.tool import ToolCallStatus
from cleveragents.testing import sample_records as sample
from cleveragents.testing.expectations import expect
from cleveragents.testing.records.database import (
    MakeDatabase,
    expect_exactly,
    with_plan,
)

_MANY_CHANGES = 2_000
"""More than fit into one statement."""


def tool_calls_keep_intent_and_outcome(make_database: MakeDatabase) -> None:
    """A call is stored when it starts, and again with its outcome."""
    database = with_plan(make_database)
    ended = replace(
        sample.tool_call(),
        status=ToolCallStatus.FAILED,
        output=sample.ODD * 1000,
        error="\x00",
        undone_by="OPERATION1",
        finished_at=sample.moment(1),
    )
    with database.write() as transaction:
        for number in (2, 1):
            transaction.tool_calls.add(sample.tool_call(number))
        begun = [sample.tool_call(1), sample.tool_call(2)]
        expect(list(transaction.tool_calls.list("PLAN1")), begun)
        transaction.tool_calls.save(ended)
    with database.read() as transaction:
        expect(list(transaction.tool_calls.list("PLAN1")), [ended, sample.tool_call(2)])


def calls_are_numbered_within_their_plan(make_database: MakeDatabase) -> None:
    """The next number follows the calls of the plan, undone ones included."""
    database = with_plan(make_database)
    undone = replace(sample.tool_call(2), undone_by="OPERATION1")
    with database.write() as transaction:
        expect(transaction.tool_calls.next_sequence("PLAN1"), 1)
        for call in (sample.tool_call(1), undone):
            transaction.tool_calls.add(call)
        expect(transaction.tool_calls.next_sequence("PLAN1"), 3)
        expect(transaction.tool_calls.next_sequence("PLAN2"), 1)


def calls_are_undone_and_brought_back(make_database: MakeDatabase) -> None:
    """Exactly the wanted calls are effective then; the others name what undid them first."""
    database = with_plan(make_database)
    with database.write() as transaction:
        transaction.plans.add(sample.plan("PLAN2", 1))
        other = replace(sample.tool_call(9, "PLAN2"), sequence=1)
        calls = transaction.tool_calls
        for call in (*map(sample.tool_call, range(1, 6)), other):
            calls.add(call)
        expect(calls.make_effective("PLAN1", [(1, 1), (4, 5)], "OPERATION1"), 2)
        expect(calls.make_effective("PLAN1", [(2, 3)], "OPERATION2"), 3)
    with database.write() as transaction:
        calls = transaction.tool_calls
        expect(list(transaction.checkpoints.effective_records("PLAN1").calls), [(2, 3)])
        expect(list(transaction.checkpoints.effective_records("PLAN2").calls), [(1, 1)])
        expect(calls.make_effective("PLAN1", [], "OPERATION3"), 2)
        found = [call.undone_by for call in calls.list("PLAN1")]
        expect(found, ["OPERATION2", "OPERATION3", "OPERATION3", "OPERATION2", "OPERATION2"])


def _with_calls(make_database: MakeDatabase, count: int) -> Database:
    database = with_plan(make_database)
    with database.write() as transaction:
        for number in range(1, count + 1):
            transaction.tool_calls.add(sample.tool_call(number))
    return database


def _by(number: int, change: PathChange, *, undone_by: str | None = None) -> AuthoredChange:
    """Returns the change as the work of the `number`-th call."""
    call = sample.tool_call(number)
    return AuthoredChange(
        **change.model_dump(),
        resource=call.resource,
        plan_id=call.plan_id,
        call_id=call.id,
        call_sequence=call.sequence,
        step_index=call.step_index,
        tool=call.tool,
        undone_by=undone_by,
    )


def changes_have_an_author(make_database: MakeDatabase) -> None:
    """Each change comes back as it was, with its call; calls in their order, paths in theirs."""
    database = _with_calls(make_database, 2)
    paths = ("z", "a", sample.ODD)
    wanted = [_by(number, sample.change(number, path)) for number in (1, 2) for path in paths]
    with database.write() as transaction:
        for number in (2, 1):
            changes = [sample.change(number, path) for path in paths]
            transaction.changes.add("PLAN1", f"CALL{number}", sample.ODD, changes[:1])
            transaction.changes.add("PLAN1", f"CALL{number}", sample.ODD, [])
            transaction.changes.add("PLAN1", f"CALL{number}", sample.ODD, changes[1:])
    with make_database().read() as transaction:
        expect(list(transaction.changes.list("PLAN1")), wanted)
        expect(list(transaction.changes.list("PLAN2")), [])


def changes_of_one_path_are_found(make_database: MakeDatabase) -> None:
    """Paths are compared exactly, however long, and whatever they begin with."""
    database = _with_calls(make_database, 1)
    long = "".join(f"\udc80{number:04}/" for number in range(600))
    paths = ("a", "A", "a/", "%", sample.ODD, long, f"{long}x")
    with database.write() as transaction:
        changes = [sample.change(1, path) for path in paths]
        transaction.changes.add("PLAN1", "CALL1", sample.ODD, changes)
    with database.read() as transaction:
        for path in paths:
            expect(
                list(transaction.changes.list("PLAN1", path=path)), [_by(1, sample.change(1, path))]
            )
        expect(list(transaction.changes.list("PLAN1", path="b")), [])


def changes_of_undone_calls_are_hidden(make_database: MakeDatabase) -> None:
    """They stay, and are listed when asked for, or when the call is in effect again."""
    database = _with_calls(make_database, 2)
    kept, undone = (sample.change(number) for number in (1, 2))
    with database.write() as transaction:
        for number in (1, 2):
            transaction.changes.add("PLAN1", f"CALL{number}", sample.ODD, [sample.change(number)])
        transaction.tool_calls.make_effective("PLAN1", ((1, 1),), "OPERATION1")
    taken_back = _by(2, undone, undone_by="OPERATION1")
    with database.read() as transaction:
        store = transaction.changes
        expect(list(store.list("PLAN1")), [_by(1, kept)])
        expect(list(store.list("PLAN1", path=sample.ODD)), [_by(1, kept)])
        expect(list(store.list("PLAN1", effective_only=False)), [_by(1, kept), taken_back])
        found = store.list("PLAN1", path=sample.ODD, effective_only=False)
        expect(list(found), [_by(1, kept), taken_back])
        expect(store.count("PLAN1"), ChangeCounts(changes=1, files=1))
    with database.write() as transaction:
        transaction.tool_calls.make_effective("PLAN1", ((1, 2),), "OPERATION2")
        expect(list(transaction.changes.list("PLAN1")), [_by(1, kept), _by(2, undone)])


def changes_are_counted(make_database: MakeDatabase) -> None:
    """A file counts once for all calls, in each resource; a directory is not a file."""
    database = _with_calls(make_database, 2)
    with database.write() as transaction:
        store = transaction.changes
        expect(store.count("PLAN1"), ChangeCounts(changes=0, files=0))
        store.add("PLAN1", "CALL1", "one", [sample.change(1), sample.made_directory()])
        store.add("PLAN1", "CALL1", "two", [sample.change(1)])
        store.add("PLAN1", "CALL2", "one", [sample.change(2), sample.change(2, "other")])
        expect(store.count("PLAN1"), ChangeCounts(changes=5, files=3))


def many_changes_are_added_whole(make_database: MakeDatabase) -> None:
    """All that one call did is stored, or nothing of it."""
    database = _with_calls(make_database, 1)
    many = [sample.change(1, f"path {number}") for number in range(_MANY_CHANGES)]
    with database.write() as transaction:
        expect_exactly(
            DatabaseError, lambda: transaction.changes.add("PLAN1", "CALL2", "project", many)
        )
        expect_exactly(
            DatabaseError, lambda: transaction.changes.add("PLAN2", "CALL1", "project", many)
        )
        transaction.changes.add("PLAN1", "CALL1", "project", many)
    with database.read() as transaction:
        found = [change.path for change in transaction.changes.list("PLAN1")]
        expect(found, [change.path for change in many])


CONTRACT: tuple[Callable[[MakeDatabase], None], ...] = (
    tool_calls_keep_intent_and_outcome,
    calls_are_numbered_within_their_plan,
    calls_are_undone_and_brought_back,
    changes_have_an_author,
    changes_of_one_path_are_found,
    changes_of_undone_calls_are_hidden,
    changes_are_counted,
    many_changes_are_added_whole,
)
