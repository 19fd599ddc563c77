"""What every `Database` must do, as plain functions that raise when it does not.

Each takes `make_database`, which opens one and the same store anew at each
call, as another process would; the store is empty when the function begins.
`CONTRACT` lists them all.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from cleveragents.application.ports.records import Database
from cleveragents.domain.checkpoints.checkpoint import CheckpointType
from cleveragents.domain.checkpoints.operation import Operation, OperationStatus
from cleveragents.domain.errors import (
    CheckpointNotFoundError,
    ConflictError,
    DatabaseError,
    DuplicateError,
    NotFoundError,
    PlanNotFoundError,
)
from cleveragents.domain.plans.events import (
    CheckpointCreated,
    CheckpointPruned,
    CheckpointRestored,
    DecisionCreated,
    DecisionSuperseded,
    PlanCancelled,
    PlanCreated,
    PlanErrored,
    PlanStateChanged,
    SandboxCreated,
    SandboxRolledBack,
    ToolCompleted,
    ToolErrored,
    ToolInvoked,
    ToolRetried,
)
from cleveragents.domain.plans.plan import PlanPhase, PlanState
from cleveragents.domain.sandboxes.change import AuthoredChange, ChangeCounts, PathChange
from cleveragents.domain.sandboxes.sandbox import SandboxState
from cleveragents.domain.tools.tool import ToolCall, ToolCallStatus
from cleveragents.testing import apply_contract, history_contract, retention_contract
from cleveragents.testing import sample_records as sample
from cleveragents.testing.expectations import ContractError, MakeDatabase
from cleveragents.testing.expectations import expect as _expect
from cleveragents.testing.expectations import expect_error as _expect_error
from cleveragents.testing.expectations import with_groups as _with_groups
from cleveragents.testing.expectations import with_plan as _with_plan

__all__ = ["CONTRACT", "ContractError", "MakeDatabase"]

_WRITERS = 8
_MANY_CHANGES = 2_000
"""More than fit into one statement."""


def plans_come_back_as_they_were(make_database: MakeDatabase) -> None:
    """A plan is stored with every field, whatever its strings hold."""
    _with_plan(make_database)
    with make_database().read() as transaction:
        _expect(transaction.plans.get("PLAN1"), sample.plan())


def times_come_back_in_utc(make_database: MakeDatabase) -> None:
    """A time given in any zone comes back as the same moment in UTC, to the microsecond."""
    with _with_plan(make_database).read() as transaction:
        found = transaction.plans.get("PLAN1")
        _expect(found.updated_at.isoformat(), sample.START.isoformat())
        _expect(found.started_at and found.started_at.isoformat(), "2026-01-02T00:00:00+00:00")


def times_without_a_zone_are_refused(make_database: MakeDatabase) -> None:
    """A time that could mean any moment is not stored."""
    database = make_database()
    vague = sample.plan().model_copy(update={"created_at": sample.START.replace(tzinfo=None)})

    def store() -> None:
        with database.write() as transaction:
            transaction.plans.add(vague)

    _expect_error(DatabaseError, store)
    with database.read() as transaction:
        _expect(list(transaction.plans.ids()), [])


def saved_plans_replace_every_field(make_database: MakeDatabase) -> None:
    """Saving a plan writes all of it, also fields that become empty."""
    changed = sample.plan(number=7).model_copy(
        update={"state": PlanState.QUEUED, "error": None, "last_checkpoint_id": None, "name": ""}
    )
    database = _with_plan(make_database)
    with database.write() as transaction:
        transaction.plans.get("PLAN1")
        transaction.plans.save(changed)
        _expect(transaction.plans.get("PLAN1"), changed)
    with database.read() as transaction:
        _expect(transaction.plans.get("PLAN1"), changed)


def plans_are_listed_oldest_first(make_database: MakeDatabase) -> None:
    """The order is that of creation, and then of the ids."""
    database = make_database()
    with database.write() as transaction:
        for plan_id, number in (("C", 9), ("B", 10), ("A", 100), ("D", 9)):
            transaction.plans.add(sample.plan(plan_id, number))
    with database.read() as transaction:
        _expect([plan.id for plan in transaction.plans.list()], ["C", "D", "B", "A"])
        _expect(list(transaction.plans.ids()), ["C", "D", "B", "A"])


def subplans_are_told_from_others(make_database: MakeDatabase) -> None:
    """A plan that another one spawned is left out where that is asked for."""
    database = _with_plan(make_database)
    child = sample.plan("PLAN2", 1).model_copy(update={"parent_plan_id": "PLAN1"})
    with database.write() as transaction:
        transaction.plans.add(child)
    with database.read() as transaction:
        _expect(list(transaction.plans.ids(subplans=False)), ["PLAN1"])
        _expect(list(transaction.plans.ids("PLAN")), ["PLAN1", "PLAN2"])
        _expect(list(transaction.plans.children("PLAN1")), [child])


def plans_are_filtered(make_database: MakeDatabase) -> None:
    """Phase, state and project each narrow the list."""
    database = _with_plan(make_database)
    other = sample.plan("PLAN2", 1).model_copy(
        update={"phase": PlanPhase.STRATEGIZE, "state": PlanState.QUEUED, "project": "/other"}
    )
    with database.write() as transaction:
        transaction.plans.add(other)
        plans = transaction.plans
        _expect(list(plans.list(phase=PlanPhase.STRATEGIZE)), [other])
        _expect(list(plans.list(state=PlanState.ERRORED)), [sample.plan()])
        _expect(list(plans.list(project=sample.plan().project)), [sample.plan()])
        _expect(list(plans.list(phase=PlanPhase.APPLY, project="/other")), [])


def prefixes_are_literal(make_database: MakeDatabase) -> None:
    """Wildcards of the query language mean themselves, and case counts."""
    database = _with_groups(make_database, 2)
    with database.write() as transaction:
        for number, plan_id in enumerate(("AB1", "AB2", "A_1", "a%1"), start=1):
            transaction.plans.add(sample.plan(plan_id, number))
        ids = transaction.plans.ids
        _expect(list(ids("AB")), ["AB1", "AB2"])
        _expect(list(ids("A_")), ["A_1"])
        _expect(list(ids("a")), ["a%1"])
        _expect([text for text in ("%", "_", "ab", "AB11", sample.ODD) if ids(text)], [])
        found = transaction.checkpoints.ids
        _expect(list(found("PLAN1-")), ["PLAN1-CHECKPOINT1", "PLAN1-CHECKPOINT2"])
        _expect([text for text in ("PLAN_", "%", "plan1") if found(text)], [])


def unknown_ids_are_not_found(make_database: MakeDatabase) -> None:
    """What is not stored is said to be missing, when read and when saved."""
    with make_database().write() as transaction:
        _expect_error(PlanNotFoundError, lambda: transaction.plans.get("NONE"))
        _expect_error(PlanNotFoundError, lambda: transaction.plans.get(sample.ODD))
        _expect_error(PlanNotFoundError, lambda: transaction.plans.save(sample.plan()))
        _expect_error(CheckpointNotFoundError, lambda: transaction.checkpoints.get("NONE"))
        _expect_error(CheckpointNotFoundError, lambda: transaction.checkpoints.get_group("NONE"))
        _expect_error(NotFoundError, lambda: transaction.sandboxes.save(sample.sandbox()))
        _expect_error(NotFoundError, lambda: transaction.tool_calls.save(sample.tool_call()))
        _expect_error(NotFoundError, lambda: transaction.operations.save(sample.operation()))
        _expect(transaction.leases.get("NONE"), None)
        _expect(list(transaction.plans.list()), [])
        _expect(list(transaction.checkpoints.list("NONE")), [])


def duplicates_are_refused(make_database: MakeDatabase) -> None:
    """A taken id is refused, and the transaction can go on."""
    database = _with_groups(make_database, 1)
    with database.write() as transaction:
        transaction.sandboxes.add(sample.sandbox())
        transaction.decisions.add(sample.decision())
        transaction.tool_calls.add(sample.tool_call())
        transaction.operations.add(sample.operation())
        for action in (
            lambda: transaction.plans.add(sample.plan()),
            lambda: transaction.sandboxes.add_resource(sample.resource()),
            lambda: transaction.sandboxes.add(sample.sandbox()),
            lambda: transaction.checkpoints.add_group(sample.group(), []),
            lambda: transaction.decisions.add(sample.decision()),
            lambda: transaction.tool_calls.add(sample.tool_call()),
            lambda: transaction.operations.add(sample.operation()),
        ):
            _expect_error(DuplicateError, action)
        transaction.plans.add(sample.plan("PLAN2", 1))
    with database.read() as transaction:
        _expect(list(transaction.plans.ids()), ["PLAN1", "PLAN2"])


def records_of_unknown_plans_are_refused(make_database: MakeDatabase) -> None:
    """A record cannot refer to a plan that is not stored; that is no duplicate."""
    with make_database().write() as transaction:
        _expect_error(DatabaseError, lambda: transaction.tool_calls.add(sample.tool_call()))


def sandboxes_follow_the_order_of_resources(make_database: MakeDatabase) -> None:
    """Resources and sandboxes come back as they were, in the plan's order."""
    database = make_database()
    first, second = sample.resource("Z", position=0), sample.resource("A", position=1)
    private = sample.sandbox("SANDBOX1", resource_id="A")
    other = sample.sandbox("SANDBOX2", resource_id="Z")
    with database.write() as transaction:
        transaction.plans.add(sample.plan())
        for resource in (second, first):
            transaction.sandboxes.add_resource(resource)
        for sandbox in (private, other):
            transaction.sandboxes.add(sandbox)
        transaction.sandboxes.save(private.model_copy(update={"state": SandboxState.ACTIVE}))
    with database.read() as transaction:
        _expect(list(transaction.sandboxes.resources("PLAN1")), [first, second])
        active = private.model_copy(update={"state": SandboxState.ACTIVE})
        _expect(list(transaction.sandboxes.list("PLAN1")), [other, active])
        _expect(list(transaction.sandboxes.list("PLAN2")), [])


def checkpoints_come_back_as_they_were(make_database: MakeDatabase) -> None:
    """A group and its checkpoints are stored with every field."""
    database = _with_plan(make_database)
    decided = sample.checkpoint(2, group_number=1).model_copy(update={"decision_id": "DECISION1"})
    with database.write() as transaction:
        transaction.decisions.add(sample.decision())
        transaction.checkpoints.add_group(sample.group(), [sample.checkpoint(), decided])
    with make_database().read() as transaction:
        _expect(transaction.checkpoints.get(sample.checkpoint().id), sample.checkpoint())
        _expect(transaction.checkpoints.get_group(sample.group().id), sample.group())
        _expect(list(transaction.checkpoints.list("PLAN1")), [sample.checkpoint(), decided])


def groups_are_added_whole(make_database: MakeDatabase) -> None:
    """When one checkpoint of a group is refused, nothing of the group is stored."""
    database = _with_groups(make_database, 1)
    with database.write() as transaction:
        new, taken = sample.checkpoint(2), sample.checkpoint(1).model_copy(update={"sequence": 3})
        _expect_error(
            DuplicateError,
            lambda: transaction.checkpoints.add_group(sample.group(2), [new, taken]),
        )
    with database.read() as transaction:
        _expect(list(transaction.checkpoints.groups("PLAN1")), [sample.group()])
        _expect(list(transaction.checkpoints.list("PLAN1")), [sample.checkpoint()])


def sequences_count_each_plan_from_one(make_database: MakeDatabase) -> None:
    """The next numbers follow what the plan has, and no number is given twice."""
    database = _with_plan(make_database)
    with database.write() as transaction:
        _expect(transaction.checkpoints.next_sequence("PLAN1"), (1, 1))
        both = [sample.checkpoint(1), sample.checkpoint(2, group_number=1)]
        transaction.checkpoints.add_group(sample.group(), both)
        _expect(transaction.checkpoints.next_sequence("PLAN1"), (2, 3))
        _expect(transaction.checkpoints.next_sequence("PLAN2"), (1, 1))
        again = sample.group(2).model_copy(update={"sequence": 1})
        _expect_error(DuplicateError, lambda: transaction.checkpoints.add_group(again, []))


def set_aside_groups_are_hidden(make_database: MakeDatabase) -> None:
    """What a rollback went past stays stored, and is listed only when asked for."""
    database = _with_groups(make_database, 3)
    aside = sample.group(3).model_copy(update={"set_aside_by": "OPERATION1"})
    with database.write() as transaction:
        transaction.checkpoints.get_group(sample.group(3).id)
        transaction.checkpoints.set_aside([sample.group(3).id], "OPERATION1")
        transaction.checkpoints.set_aside([], "OPERATION2")
        _expect(transaction.checkpoints.get_group(aside.id), aside)
    with database.read() as transaction:
        store = transaction.checkpoints
        kept, all_of_them = [sample.group(1), sample.group(2)], [1, 2, 3]
        _expect(list(store.groups("PLAN1", set_aside=False)), kept)
        _expect(list(store.groups("PLAN1")), [*kept, aside])
        _expect([found.sequence for found in store.list("PLAN1")], [1, 2])
        _expect([found.sequence for found in store.list("PLAN1", set_aside=True)], all_of_them)


def set_aside_groups_can_be_brought_back(make_database: MakeDatabase) -> None:
    """Undoing a rollback shows again what it went past."""
    database = _with_groups(make_database, 2)
    with database.write() as transaction:
        transaction.checkpoints.set_aside([sample.group(2).id], "OPERATION1")
        transaction.checkpoints.set_aside([sample.group(2).id], None)
    with database.read() as transaction:
        found = list(transaction.checkpoints.groups("PLAN1", set_aside=False))
        _expect(found, [sample.group(1), sample.group(2)])


def groups_are_given_oldest_first(make_database: MakeDatabase) -> None:
    """Groups are given by sequence as far as wanted, counted, and found by a checkpoint."""
    database = _with_groups(make_database, 3)
    aside = sample.group(3).model_copy(update={"set_aside_by": "OPERATION1"})
    with database.write() as transaction:
        store = transaction.checkpoints
        store.set_aside([aside.id], "OPERATION1")
        given = store.groups_oldest_first("PLAN1")
        _expect([next(given), next(given)], [sample.group(1), sample.group(2)])
        _expect(store.group_of(sample.checkpoint(3).id), aside)
        _expect_error(CheckpointNotFoundError, lambda: store.group_of("NOBODY"))
        _expect((store.count_groups("PLAN1"), store.count_groups("PLAN2")), (3, 0))
        _expect([*given], [aside])


def checkpoints_are_given_newest_first(make_database: MakeDatabase) -> None:
    """What a rollback went past is left out, and one can ask for a type."""
    database = _with_groups(make_database, 4)
    with database.write() as transaction:
        store = transaction.checkpoints
        store.set_aside([sample.group(4).id], "OPERATION1")
        given = store.newest_first("PLAN1")
        _expect(next(given), sample.checkpoint(3))
        _expect([found.sequence for found in given], [2, 1])
        _expect(store.newest("PLAN1", CheckpointType.AUTOMATIC), sample.checkpoint(3))
        _expect(store.newest("PLAN1", CheckpointType.MANUAL), None)


def named_snapshots_are_recognised(make_database: MakeDatabase) -> None:
    """A snapshot is named by its resource and its id, both exactly, in groups of the plan."""
    with _with_groups(make_database, 2).read() as transaction:
        is_named = transaction.checkpoints.is_snapshot_named
        _expect(is_named("PLAN1", "RESOURCE1", "snapshot 2"), True)
        _expect(is_named("PLAN1", sample.ODD, sample.ODD), True)
        _expect(is_named("PLAN2", "RESOURCE1", "snapshot 2"), False)
        for resource_id, snapshot_id in (
            ("RESOURCE1", "snapshot"),
            ("RESOURCE1", "napshot 2"),
            ("RESOURCE1", "SNAPSHOT 2"),
            ("RESOURCE1", sample.ODD),
            (sample.ODD, "snapshot 2"),
        ):
            _expect(is_named("PLAN1", resource_id, snapshot_id), False)


def decisions_are_listed_by_sequence(make_database: MakeDatabase) -> None:
    """Decisions come back as they were; superseded ones are listed only when asked for."""
    database = _with_plan(make_database)
    root, child = sample.decision(1), sample.decision(2, parent_id="DECISION1")
    with database.write() as transaction:
        transaction.decisions.add(root)
        transaction.decisions.add(child)
        _expect(list(transaction.decisions.list("PLAN1")), [root, child])
        transaction.decisions.supersede([child.id], "OPERATION1")
    with database.read() as transaction:
        replaced = child.model_copy(update={"superseded_by": "OPERATION1"})
        _expect(list(transaction.decisions.list("PLAN1")), [root])
        _expect(list(transaction.decisions.list("PLAN1", superseded=True)), [root, replaced])


def tool_calls_keep_intent_and_outcome(make_database: MakeDatabase) -> None:
    """A call is stored when it starts, and again with its outcome."""
    database = _with_plan(make_database)
    ended = sample.tool_call().model_copy(
        update={
            "status": ToolCallStatus.FAILED,
            "output": sample.ODD * 1000,
            "error": "\x00",
            "undone_by": "OPERATION1",
            "finished_at": sample.moment(1),
        }
    )
    with database.write() as transaction:
        for number in (2, 1):
            transaction.tool_calls.add(sample.tool_call(number))
        begun = [sample.tool_call(1), sample.tool_call(2)]
        _expect(list(transaction.tool_calls.list("PLAN1")), begun)
        transaction.tool_calls.save(ended)
    with database.read() as transaction:
        _expect(list(transaction.tool_calls.list("PLAN1")), [ended, sample.tool_call(2)])


def calls_are_numbered_within_their_plan(make_database: MakeDatabase) -> None:
    """The next number follows the calls of the plan, undone ones included."""
    database = _with_plan(make_database)
    undone = sample.tool_call(2).model_copy(update={"undone_by": "OPERATION1"})
    with database.write() as transaction:
        _expect(transaction.tool_calls.next_sequence("PLAN1"), 1)
        for call in (sample.tool_call(1), undone):
            transaction.tool_calls.add(call)
        _expect(transaction.tool_calls.next_sequence("PLAN1"), 3)
        _expect(transaction.tool_calls.next_sequence("PLAN2"), 1)


def calls_are_undone_and_brought_back(make_database: MakeDatabase) -> None:
    """Exactly the wanted calls are effective then; the others name what undid them first."""
    database = _with_plan(make_database)
    with database.write() as transaction:
        transaction.plans.add(sample.plan("PLAN2", 1))
        other = sample.tool_call(9, "PLAN2").model_copy(update={"sequence": 1})
        calls = transaction.tool_calls
        for call in (*map(sample.tool_call, range(1, 6)), other):
            calls.add(call)
        _expect(calls.make_effective("PLAN1", [(1, 1), (4, 5)], "OPERATION1"), 2)
        _expect(calls.make_effective("PLAN1", [(2, 3)], "OPERATION2"), 3)
    with database.write() as transaction:
        calls = transaction.tool_calls
        _expect(list(transaction.checkpoints.effective_records("PLAN1").calls), [(2, 3)])
        _expect(list(transaction.checkpoints.effective_records("PLAN2").calls), [(1, 1)])
        _expect(calls.make_effective("PLAN1", [], "OPERATION3"), 2)
        found = [call.undone_by for call in calls.list("PLAN1")]
        _expect(found, ["OPERATION2", "OPERATION3", "OPERATION3", "OPERATION2", "OPERATION2"])


def _with_calls(make_database: MakeDatabase, count: int) -> Database:
    database = _with_plan(make_database)
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
        _expect(list(transaction.changes.list("PLAN1")), wanted)
        _expect(list(transaction.changes.list("PLAN2")), [])


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
            _expect(
                list(transaction.changes.list("PLAN1", path=path)), [_by(1, sample.change(1, path))]
            )
        _expect(list(transaction.changes.list("PLAN1", path="b")), [])


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
        _expect(list(store.list("PLAN1")), [_by(1, kept)])
        _expect(list(store.list("PLAN1", path=sample.ODD)), [_by(1, kept)])
        _expect(list(store.list("PLAN1", effective_only=False)), [_by(1, kept), taken_back])
        found = store.list("PLAN1", path=sample.ODD, effective_only=False)
        _expect(list(found), [_by(1, kept), taken_back])
        _expect(store.count("PLAN1"), ChangeCounts(changes=1, files=1))
    with database.write() as transaction:
        transaction.tool_calls.make_effective("PLAN1", ((1, 2),), "OPERATION2")
        _expect(list(transaction.changes.list("PLAN1")), [_by(1, kept), _by(2, undone)])


def changes_are_counted(make_database: MakeDatabase) -> None:
    """A file counts once for all calls, in each resource; a directory is no file."""
    database = _with_calls(make_database, 2)
    with database.write() as transaction:
        store = transaction.changes
        _expect(store.count("PLAN1"), ChangeCounts(changes=0, files=0))
        store.add("PLAN1", "CALL1", "one", [sample.change(1), sample.made_directory()])
        store.add("PLAN1", "CALL1", "two", [sample.change(1)])
        store.add("PLAN1", "CALL2", "one", [sample.change(2), sample.change(2, "other")])
        _expect(store.count("PLAN1"), ChangeCounts(changes=5, files=3))


def many_changes_are_added_whole(make_database: MakeDatabase) -> None:
    """All that one call did is stored, or nothing of it."""
    database = _with_calls(make_database, 1)
    many = [sample.change(1, f"path {number}") for number in range(_MANY_CHANGES)]
    with database.write() as transaction:
        _expect_error(
            DatabaseError, lambda: transaction.changes.add("PLAN1", "CALL2", "project", many)
        )
        _expect_error(
            DatabaseError, lambda: transaction.changes.add("PLAN2", "CALL1", "project", many)
        )
        transaction.changes.add("PLAN1", "CALL1", "project", many)
    with database.read() as transaction:
        found = [change.path for change in transaction.changes.list("PLAN1")]
        _expect(found, [change.path for change in many])


def unfinished_operations_are_found(make_database: MakeDatabase) -> None:
    """The journal says which operation was begun and not ended."""
    database = _with_plan(make_database)
    finished = sample.operation(1).model_copy(
        update={"status": OperationStatus.COMPLETED, "finished_at": sample.moment(9)}
    )
    with database.write() as transaction:
        _expect(transaction.operations.pending("PLAN1"), None)
        transaction.operations.add(sample.operation(2))
        transaction.operations.add(finished)
    with database.write() as transaction:
        _expect(list(transaction.operations.list("PLAN1")), [finished, sample.operation(2)])
        _expect(transaction.operations.pending("PLAN1"), sample.operation(2))
        _expect(transaction.operations.pending("PLAN2"), None)
        undone = sample.operation(2).model_copy(update={"status": OperationStatus.UNDONE})
        transaction.operations.save(undone)
        _expect(transaction.operations.pending("PLAN1"), None)


def leases_are_put_and_released(make_database: MakeDatabase) -> None:
    """A lease is replaced by the next; only its own holder ends it, and the number stays."""
    database = make_database()
    first, second = sample.lease(), sample.lease("OWNER2", 2)
    with database.write() as transaction:
        _expect(transaction.leases.get("PLAN1"), None)
        transaction.leases.release("PLAN1", "OWNER1")
        transaction.leases.put(first)
        _expect(transaction.leases.get("PLAN1"), first)
        transaction.leases.put(second)
    with database.write() as transaction:
        transaction.leases.release("PLAN1", "OWNER1")
        _expect(transaction.leases.get("PLAN1"), second)
        transaction.leases.release("PLAN1", "OWNER2")
    with database.read() as transaction:
        _expect(transaction.leases.get("PLAN1"), second.model_copy(update={"released": True}))


def leases_are_renewed_by_their_holder_only(make_database: MakeDatabase) -> None:
    """Whoever was replaced, or gave the lease back, does not get it by renewing it."""
    database = make_database()
    first, second = sample.lease(), sample.lease(fencing=2)
    later = sample.moment(9)
    with database.write() as transaction:
        _expect(transaction.leases.is_current(first), False)
        _expect(transaction.leases.renew(first, later), False)
        transaction.leases.put(first)
        _expect(transaction.leases.is_current(first), True)
        _expect(transaction.leases.renew(first, later), True)
    renewed = first.model_copy(update={"expires_at": later})
    with database.write() as transaction:
        _expect(transaction.leases.get("PLAN1"), renewed)
        transaction.leases.put(second)
        _expect(transaction.leases.is_current(renewed), False)
        _expect(transaction.leases.renew(renewed, later), False)
        _expect(transaction.leases.get("PLAN1"), second)
        _expect(transaction.leases.is_current(sample.lease("OWNER2", 2)), False)
        transaction.leases.release("PLAN1", "OWNER1")
        _expect(transaction.leases.is_current(second), False)
        _expect(transaction.leases.renew(second, later), False)


def events_follow_from_what_is_stored(make_database: MakeDatabase) -> None:
    """Each fact is entered once, in the order in which it was stored."""
    database = _with_plan(make_database)
    running = sample.plan().model_copy(update={"state": PlanState.PROCESSING, "error": None})
    errored = sample.plan()
    with database.write() as transaction:
        transaction.sandboxes.add(sample.sandbox())
        transaction.plans.save(running)
        transaction.decisions.add(sample.decision(1))
        transaction.tool_calls.add(sample.tool_call(1))
        transaction.tool_calls.add(sample.tool_call(2))
        transaction.tool_calls.save(_ended_call(1, ToolCallStatus.SUCCEEDED))
        transaction.checkpoints.add_group(
            sample.group(1), [sample.checkpoint(1), sample.checkpoint(2, group_number=1)]
        )
    with database.write() as transaction:
        failed = _ended_call(2, ToolCallStatus.FAILED)
        transaction.tool_calls.save(failed.model_copy(update={"finished_at": None}))
        transaction.plans.save(errored)
        transaction.decisions.supersede(["DECISION1"], "OPERATION1")
        transaction.operations.add(sample.operation(1))
        transaction.operations.save(_completed(1))
        transaction.checkpoints.prune_groups(["PLAN1-GROUP1"])
    with database.read() as transaction:
        found = transaction.events.list("PLAN1")
    told = [
        PlanCreated("PLAN1", sample.ODD, errored.project, "execute", "errored"),
        SandboxCreated("PLAN1", "SANDBOX1", sample.ODD, "git_worktree", sample.ODD, sample.ODD),
        PlanStateChanged("PLAN1", "execute", "errored", "processing"),
        DecisionCreated("PLAN1", "DECISION1", "prompt_definition", sample.ODD, sample.ODD, 1),
        ToolInvoked("PLAN1", "CALL1", 0, sample.ODD, sample.ODD),
        ToolInvoked("PLAN1", "CALL2", 0, sample.ODD, sample.ODD),
        ToolCompleted("PLAN1", "CALL1", 0, sample.ODD, sample.ODD, 1500),
        CheckpointCreated(
            "PLAN1",
            "PLAN1-CHECKPOINT1",
            "PLAN1-GROUP1",
            sample.ODD,
            "automatic",
            "on_error",
            1,
            (sample.ODD, sample.ODD),
        ),
        ToolErrored("PLAN1", "CALL2", 0, sample.ODD, sample.ODD, None, sample.ODD),
        PlanStateChanged("PLAN1", "execute", "processing", "errored"),
        PlanErrored("PLAN1", sample.ODD, None, "4 of 6", 3, None),
        DecisionSuperseded("PLAN1", "DECISION1", sample.ODD, "OPERATION1"),
        CheckpointRestored("PLAN1", "PLAN1-CHECKPOINT1", sample.ODD, "OPERATION1", "rollback"),
        SandboxRolledBack("PLAN1", "SANDBOX1", sample.ODD, "PLAN1-CHECKPOINT1", "OPERATION1"),
        CheckpointPruned("PLAN1", "PLAN1-CHECKPOINT1", "PLAN1-GROUP1", sample.ODD),
    ]
    for event, wanted in zip(found, told, strict=True):
        _expect(event.record, wanted)
    _expect([event.sequence for event in found], sorted({event.sequence for event in found}))
    _expect([event.created_at for event in found], sorted(event.created_at for event in found))


def _ended_call(number: int, status: ToolCallStatus) -> ToolCall:
    return sample.tool_call(number).model_copy(
        update={
            "status": status,
            "error": sample.ODD if status is ToolCallStatus.FAILED else None,
            "finished_at": sample.moment(number + 1_500_000),
        }
    )


def _completed(number: int) -> Operation:
    return sample.operation(number).model_copy(
        update={
            "status": OperationStatus.COMPLETED,
            "target_checkpoint_id": "PLAN1-CHECKPOINT1",
            "finished_at": sample.moment(9),
        }
    )


def what_did_not_change_is_no_event(make_database: MakeDatabase) -> None:
    """Storing the same again, or what no event tells of, enters nothing."""
    database = _with_plan(make_database)
    with database.write() as transaction:
        transaction.sandboxes.add(sample.sandbox())
        transaction.decisions.add(sample.decision(1))
        transaction.decisions.supersede(["DECISION1"], "OPERATION1")
        transaction.tool_calls.add(sample.tool_call(1))
        transaction.tool_calls.save(_ended_call(1, ToolCallStatus.SUCCEEDED))
        transaction.operations.add(sample.operation(1))
        transaction.operations.save(_completed(1))
    with database.write() as transaction:
        plan = transaction.plans.get("PLAN1")
        transaction.plans.save(plan)
        transaction.plans.save(plan.model_copy(update={"last_completed_step": 5}))
        transaction.sandboxes.save(sample.sandbox())
        transaction.decisions.supersede(["DECISION1"], "OPERATION2")
        transaction.tool_calls.save(_ended_call(1, ToolCallStatus.SUCCEEDED))
        transaction.tool_calls.make_effective("PLAN1", [], "OPERATION2")
        transaction.operations.save(_completed(1))
        transaction.operations.add(sample.operation(2))
        transaction.checkpoints.set_aside(["GROUP1"], "OPERATION2")
        transaction.checkpoints.set_pinned(["GROUP1"], pinned=True)
        transaction.checkpoints.prune_groups(["GROUP1"])
        transaction.checkpoints.delete_groups(["GROUP1"])
        _expect(list(transaction.events.added()), [])


def events_are_listed_as_asked(make_database: MakeDatabase) -> None:
    """One can ask for the later ones and for types; another plan has its own."""
    database = _with_plan(make_database)
    with database.write() as transaction:
        transaction.plans.add(sample.plan("PLAN2", 1))
        for number in (1, 2):
            transaction.tool_calls.add(sample.tool_call(number))
        made, *calls = transaction.events.list("PLAN1")
    with database.read() as transaction:
        events = transaction.events
        _expect([event.type for event in events.list("PLAN2")], ["plan.created"])
        _expect(list(events.list("PLAN1", after=made.sequence)), calls)
        _expect(list(events.list("PLAN1", after=calls[-1].sequence)), [])
        _expect(list(events.list("PLAN1", types={"plan.created"})), [made])
        _expect(list(events.list("PLAN1", after=made.sequence, types={"plan.created"})), [])
        _expect(list(events.list("PLAN1", types=())), [])


def what_is_told_is_what_is_stored(make_database: MakeDatabase) -> None:
    """A transaction knows its own events exactly as everybody will read them, any text too."""
    database = _with_plan(make_database)
    with database.write() as transaction:
        transaction.events.add(PlanCancelled("PLAN1", sample.ODD))
        transaction.events.add(ToolRetried("PLAN1", 0, sample.ODD, 1, 2))
        transaction.checkpoints.add_group(sample.group(1), [sample.checkpoint(1)])
        told = transaction.events.added()
    with database.read() as transaction:
        _expect(transaction.events.list("PLAN1")[1:], list(told))
        _expect(told[0].record, PlanCancelled("PLAN1", sample.ODD))
        _expect(list(transaction.events.added()), [])


def failed_transactions_have_no_events(make_database: MakeDatabase) -> None:
    """What is undone did not happen, and what was refused did not either."""
    database = _with_plan(make_database)

    def fail() -> None:
        with database.write() as transaction:
            transaction.tool_calls.add(sample.tool_call(1))
            transaction.plans.get("none")

    _expect_error(PlanNotFoundError, fail)
    with database.write() as transaction:
        _expect_error(DuplicateError, lambda: transaction.plans.add(sample.plan()))
        _expect(list(transaction.events.added()), [])
    with database.read() as transaction:
        _expect([event.type for event in transaction.events.list("PLAN1")], ["plan.created"])


def failed_transactions_leave_nothing(make_database: MakeDatabase) -> None:
    """When the block raises, nothing of it is stored, and the error comes through."""
    database = make_database()
    problem = KeyError("from the caller")
    try:
        with database.write() as transaction:
            transaction.plans.add(sample.plan())
            raise problem
    except KeyError as error:
        _expect(error is problem, True)
    with database.read() as transaction:
        _expect(list(transaction.plans.ids()), [])


def reading_keeps_nothing(make_database: MakeDatabase) -> None:
    """Changes made in a reading transaction are not kept."""
    database = make_database()
    with database.read() as transaction:
        transaction.plans.add(sample.plan())
    with database.read() as transaction:
        _expect(list(transaction.plans.ids()), [])


def reading_sees_one_moment(make_database: MakeDatabase) -> None:
    """A reading transaction does not see what is stored after its first look."""
    database, writer = make_database(), make_database()
    with database.read() as reading:
        _expect(list(reading.plans.ids()), [])
        with writer.write() as transaction:
            transaction.plans.add(sample.plan())
        _expect(list(reading.plans.ids()), [])
    with database.read() as reading:
        _expect(list(reading.plans.ids()), ["PLAN1"])


def unfinished_writing_is_invisible(make_database: MakeDatabase) -> None:
    """Others read, without waiting, what was stored before a writing transaction."""
    database, reader = make_database(), make_database()
    with database.write() as transaction:
        transaction.plans.add(sample.plan())
        with reader.read() as reading:
            _expect(list(reading.plans.ids()), [])


def a_held_write_lock_is_a_conflict(make_database: MakeDatabase) -> None:
    """A second writer waits from the start of its block, and gives up with a clear error."""
    database, other = make_database(), make_database()

    def write() -> None:
        with other.write():
            raise ContractError("two writers at once")

    with database.write():
        _expect_error(ConflictError, write)


def writers_take_turns(make_database: MakeDatabase) -> None:
    """Writers at the same time each see what the one before stored: no number is given twice."""
    _with_plan(make_database)
    together = threading.Barrier(_WRITERS)

    def add_group(writer: int) -> None:
        database = make_database()
        together.wait()
        with database.write() as transaction:
            groups, checkpoints = transaction.checkpoints.next_sequence("PLAN1")
            group = sample.group(writer).model_copy(update={"sequence": groups})
            made = sample.checkpoint(writer).model_copy(update={"sequence": checkpoints})
            transaction.checkpoints.add_group(group, [made])

    with ThreadPoolExecutor(_WRITERS) as pool:
        list(pool.map(add_group, range(1, _WRITERS + 1)))
    with make_database().read() as transaction:
        found = [group.sequence for group in transaction.checkpoints.groups("PLAN1")]
        _expect(found, list(range(1, _WRITERS + 1)))


CONTRACT: tuple[Callable[[MakeDatabase], None], ...] = (
    plans_come_back_as_they_were,
    times_come_back_in_utc,
    times_without_a_zone_are_refused,
    saved_plans_replace_every_field,
    plans_are_listed_oldest_first,
    subplans_are_told_from_others,
    plans_are_filtered,
    prefixes_are_literal,
    unknown_ids_are_not_found,
    duplicates_are_refused,
    records_of_unknown_plans_are_refused,
    sandboxes_follow_the_order_of_resources,
    checkpoints_come_back_as_they_were,
    groups_are_added_whole,
    sequences_count_each_plan_from_one,
    set_aside_groups_are_hidden,
    set_aside_groups_can_be_brought_back,
    groups_are_given_oldest_first,
    checkpoints_are_given_newest_first,
    named_snapshots_are_recognised,
    decisions_are_listed_by_sequence,
    tool_calls_keep_intent_and_outcome,
    calls_are_numbered_within_their_plan,
    calls_are_undone_and_brought_back,
    changes_have_an_author,
    changes_of_one_path_are_found,
    changes_of_undone_calls_are_hidden,
    changes_are_counted,
    many_changes_are_added_whole,
    unfinished_operations_are_found,
    leases_are_put_and_released,
    leases_are_renewed_by_their_holder_only,
    events_follow_from_what_is_stored,
    what_did_not_change_is_no_event,
    events_are_listed_as_asked,
    what_is_told_is_what_is_stored,
    failed_transactions_have_no_events,
    failed_transactions_leave_nothing,
    reading_keeps_nothing,
    reading_sees_one_moment,
    unfinished_writing_is_invisible,
    a_held_write_lock_is_a_conflict,
    writers_take_turns,
    *apply_contract.CONTRACT,
    *history_contract.CONTRACT,
    *retention_contract.CONTRACT,
)
"""Every obligation; a suite over a store runs them all."""
