"""What every `Database` must do, as plain functions that raise when it does not.

Each takes `make_database`, which opens one and the same store anew at each
call, as another process would; the store is empty when the function begins.
`CONTRACT` lists them all.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from cleveragents.application.ports import Database
from cleveragents.domain.checkpoint import CheckpointType, OperationStatus
from cleveragents.domain.errors import (
    CheckpointNotFoundError,
    CleverAgentsError,
    ConflictError,
    DatabaseError,
    DuplicateError,
    NotFoundError,
    PlanNotFoundError,
)
from cleveragents.domain.plan import PlanPhase, PlanState
from cleveragents.domain.sandbox import SandboxState
from cleveragents.domain.tool import ToolCallStatus
from cleveragents.testing import sample_records as sample

MakeDatabase = Callable[[], Database]
ErrorT = TypeVar("ErrorT", bound=CleverAgentsError)

_WRITERS = 8


class ContractError(AssertionError):
    """The database does not do what the ports ask for."""


def _expect(found: object, wanted: object) -> None:
    if found != wanted:
        raise ContractError(f"found {found!r}, wanted {wanted!r}")


def _expect_error(kind: type[ErrorT], action: Callable[[], object]) -> None:
    try:
        action()
    except kind as error:
        _expect(type(error), kind)
    else:
        raise ContractError(f"{kind.__name__} was not raised")


def _with_plan(make_database: MakeDatabase) -> Database:
    """Opens the database and stores a plan with a resource, for other records to refer to."""
    database = make_database()
    with database.write() as transaction:
        transaction.plans.add(sample.plan())
        transaction.sandboxes.add_resource(sample.resource())
    return database


def _with_groups(make_database: MakeDatabase, count: int) -> Database:
    database = _with_plan(make_database)
    with database.write() as transaction:
        for number in range(1, count + 1):
            transaction.checkpoints.add_group(sample.group(number), [sample.checkpoint(number)])
    return database


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
    """Groups are given by sequence as far as wanted, counted, and the last one is found."""
    database = _with_groups(make_database, 3)
    aside = sample.group(3).model_copy(update={"set_aside_by": "OPERATION1"})
    with database.write() as transaction:
        store = transaction.checkpoints
        store.set_aside([aside.id], "OPERATION1")
        given = store.groups_oldest_first("PLAN1")
        _expect([next(given), next(given)], [sample.group(1), sample.group(2)])
        _expect(store.last_group("PLAN1"), aside)
        _expect(store.last_group("PLAN2"), None)
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


def groups_are_deleted_with_their_checkpoints(make_database: MakeDatabase) -> None:
    """Deleting takes rows of the group and no others, however many groups are named."""
    database = _with_groups(make_database, 3)
    with database.write() as transaction:
        transaction.checkpoints.get(sample.checkpoint(2).id)
        named = {sample.group(2).id, *(f"NONE{number}" for number in range(2000))}
        transaction.checkpoints.delete_groups(named)
        _expect_error(
            CheckpointNotFoundError, lambda: transaction.checkpoints.get(sample.checkpoint(2).id)
        )
    with database.read() as transaction:
        _expect([found.sequence for found in transaction.checkpoints.groups("PLAN1")], [1, 3])
        _expect([found.sequence for found in transaction.checkpoints.list("PLAN1")], [1, 3])


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


def effective_calls_are_told_as_ranges(make_database: MakeDatabase) -> None:
    """Numbers that follow each other are one range, and undone calls are in none."""
    database = _with_plan(make_database)
    with database.write() as transaction:
        calls = transaction.tool_calls
        _expect(list(calls.effective("PLAN1")), [])
        for number in range(1, 10):
            undone_by = "OPERATION1" if number in (1, 4, 5, 7) else None
            calls.add(sample.tool_call(number).model_copy(update={"undone_by": undone_by}))
        _expect(list(calls.effective("PLAN1")), [(2, 3), (6, 6), (8, 9)])
        _expect(list(calls.effective("PLAN2")), [])


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
        _expect(list(calls.effective("PLAN1")), [(2, 3)])
        _expect(list(calls.effective("PLAN2")), [(1, 1)])
        _expect(calls.make_effective("PLAN1", [], "OPERATION3"), 2)
        found = [call.undone_by for call in calls.list("PLAN1")]
        _expect(found, ["OPERATION2", "OPERATION3", "OPERATION3", "OPERATION2", "OPERATION2"])


def unfinished_operations_are_found(make_database: MakeDatabase) -> None:
    """The journal says which operation was begun and not ended."""
    database = _with_plan(make_database)
    finished = sample.operation(1).model_copy(
        update={"status": OperationStatus.COMPLETED, "finished_at": sample.moment(9)}
    )
    with database.write() as transaction:
        _expect(transaction.operations.pending("PLAN1"), None)
        _expect(transaction.operations.latest("PLAN1"), None)
        transaction.operations.add(sample.operation(2))
        transaction.operations.add(finished)
    with database.write() as transaction:
        _expect(list(transaction.operations.list("PLAN1")), [finished, sample.operation(2)])
        _expect(transaction.operations.pending("PLAN1"), sample.operation(2))
        _expect(transaction.operations.latest("PLAN1"), sample.operation(2))
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
    groups_are_deleted_with_their_checkpoints,
    decisions_are_listed_by_sequence,
    tool_calls_keep_intent_and_outcome,
    calls_are_numbered_within_their_plan,
    effective_calls_are_told_as_ranges,
    calls_are_undone_and_brought_back,
    unfinished_operations_are_found,
    leases_are_put_and_released,
    leases_are_renewed_by_their_holder_only,
    failed_transactions_leave_nothing,
    reading_keeps_nothing,
    reading_sees_one_moment,
    unfinished_writing_is_invisible,
    a_held_write_lock_is_a_conflict,
    writers_take_turns,
)
"""Every obligation; a suite over a store runs them all."""
