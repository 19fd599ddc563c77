"""What a database promises about transactions, writers at the same time, and leases.

Part of `cleveragents.testing.records.CONTRACT`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from msgspec.structs import replace

from cleveragents.domain.checkpoints.operation import OperationStatus
from cleveragents.domain.errors import (
    ConflictError,
)
from cleveragents.testing import sample_records as sample
from cleveragents.testing.expectations import ContractError, expect
from cleveragents.testing.records.database import (
    MakeDatabase,
    expect_exactly,
    with_plan,
)

_WRITERS = 8


def unfinished_operations_are_found(make_database: MakeDatabase) -> None:
    """The journal says which operation was begun and not ended."""
    database = with_plan(make_database)
    finished = replace(
        sample.operation(1), status=OperationStatus.COMPLETED, finished_at=sample.moment(9)
    )
    with database.write() as transaction:
        expect(transaction.operations.pending("PLAN1"), None)
        transaction.operations.add(sample.operation(2))
        transaction.operations.add(finished)
    with database.write() as transaction:
        expect(list(transaction.operations.list("PLAN1")), [finished, sample.operation(2)])
        expect(transaction.operations.pending("PLAN1"), sample.operation(2))
        expect(transaction.operations.pending("PLAN2"), None)
        expect(list(transaction.operations.all_pending()), [sample.operation(2)])
        undone = replace(sample.operation(2), status=OperationStatus.UNDONE)
        transaction.operations.save(undone)
        expect(transaction.operations.pending("PLAN1"), None)


def leases_are_put_and_released(make_database: MakeDatabase) -> None:
    """A lease is replaced by the next; only its own holder ends it, and the number stays."""
    database = make_database()
    first, second = sample.lease(), sample.lease("OWNER2", 2)
    with database.write() as transaction:
        expect(transaction.leases.get("PLAN1"), None)
        transaction.leases.release("PLAN1", "OWNER1")
        transaction.leases.put(first)
        expect(transaction.leases.get("PLAN1"), first)
        transaction.leases.put(second)
    with database.write() as transaction:
        transaction.leases.release("PLAN1", "OWNER1")
        expect(transaction.leases.get("PLAN1"), second)
        transaction.leases.release("PLAN1", "OWNER2")
    with database.read() as transaction:
        expect(transaction.leases.get("PLAN1"), replace(second, released=True))
        expect(list(transaction.leases.all()), [replace(second, released=True)])


def leases_are_renewed_by_their_holder_only(make_database: MakeDatabase) -> None:
    """Whoever was replaced, or gave the lease back, does not get it by renewing it."""
    database = make_database()
    first, second = sample.lease(), sample.lease(fencing=2)
    later = sample.moment(9)
    with database.write() as transaction:
        expect(transaction.leases.is_current(first), False)
        expect(transaction.leases.renew(first, later), False)
        transaction.leases.put(first)
        expect(transaction.leases.is_current(first), True)
        expect(transaction.leases.renew(first, later), True)
    renewed = replace(first, expires_at=later)
    with database.write() as transaction:
        expect(transaction.leases.get("PLAN1"), renewed)
        transaction.leases.put(second)
        expect(transaction.leases.is_current(renewed), False)
        expect(transaction.leases.renew(renewed, later), False)
        expect(transaction.leases.get("PLAN1"), second)
        expect(transaction.leases.is_current(sample.lease("OWNER2", 2)), False)
        transaction.leases.release("PLAN1", "OWNER1")
        expect(transaction.leases.is_current(second), False)
        expect(transaction.leases.renew(second, later), False)


def failed_transactions_leave_nothing(make_database: MakeDatabase) -> None:
    """When the block raises, nothing of it is stored, and the error comes through."""
    database = make_database()
    problem = KeyError("from the caller")
    try:
        with database.write() as transaction:
            transaction.plans.add(sample.plan())
            raise problem
    except KeyError as error:
        expect(error is problem, True)
    with database.read() as transaction:
        expect(list(transaction.plans.ids()), [])


def reading_keeps_nothing(make_database: MakeDatabase) -> None:
    """Changes made in a reading transaction are not kept."""
    database = make_database()
    with database.read() as transaction:
        transaction.plans.add(sample.plan())
    with database.read() as transaction:
        expect(list(transaction.plans.ids()), [])


def reading_sees_one_moment(make_database: MakeDatabase) -> None:
    """A reading transaction does not see what is stored after its first look."""
    database, writer = make_database(), make_database()
    with database.read() as reading:
        expect(list(reading.plans.ids()), [])
        with writer.write() as transaction:
            transaction.plans.add(sample.plan())
        expect(list(reading.plans.ids()), [])
    with database.read() as reading:
        expect(list(reading.plans.ids()), ["PLAN1"])


def unfinished_writing_is_invisible(make_database: MakeDatabase) -> None:
    """Others read, without waiting, what was stored before a writing transaction."""
    database, reader = make_database(), make_database()
    with database.write() as transaction:
        transaction.plans.add(sample.plan())
        with reader.read() as reading:
            expect(list(reading.plans.ids()), [])


def a_held_write_lock_is_a_conflict(make_database: MakeDatabase) -> None:
    """A second writer waits from the start of its block, and gives up with a clear error."""
    database, other = make_database(), make_database()

    def write() -> None:
        with other.write():
            raise ContractError("two writers at once")

    with database.write():
        expect_exactly(ConflictError, write)


def writers_take_turns(make_database: MakeDatabase) -> None:
    """Writers at the same time each see what the one before stored: no number is given twice."""
    with_plan(make_database)
    together = threading.Barrier(_WRITERS)

    def add_group(writer: int) -> None:
        database = make_database()
        together.wait()
        with database.write() as transaction:
            groups, checkpoints, _ = transaction.checkpoints.next_group("PLAN1")
            group = replace(sample.group(writer), sequence=groups)
            made = replace(sample.checkpoint(writer), sequence=checkpoints)
            transaction.checkpoints.add_group(group, [made])

    with ThreadPoolExecutor(_WRITERS) as pool:
        list(pool.map(add_group, range(1, _WRITERS + 1)))
    with make_database().read() as transaction:
        found = [group.sequence for group in transaction.checkpoints.groups("PLAN1")]
        expect(found, list(range(1, _WRITERS + 1)))


CONTRACT: tuple[Callable[[MakeDatabase], None], ...] = (
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
