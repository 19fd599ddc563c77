"""What every `Database` must keep of applies and of what validations said.

Part of `cleveragents.testing.records.CONTRACT`, which explains the functions.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from cleveragents.domain.checkpoints.operation import OperationKind, OperationStatus
from cleveragents.domain.plans.events import (
    PlanApplied,
    PlanUnapplied,
    SandboxCommitted,
    ValidationFailed,
    ValidationPassed,
)
from cleveragents.domain.plans.validation import ValidationStatus
from cleveragents.testing import sample_records as sample
from cleveragents.testing.expectations import expect
from cleveragents.testing.records.database import MakeDatabase, with_groups, with_plan


def validations_come_back_oldest_first(make_database: MakeDatabase) -> None:
    """What a validation said is stored with every field, and listed by its time."""
    database = with_plan(make_database)
    with database.write() as transaction:
        for number in (2, 1):
            transaction.validations.add(sample.validation(number))
    with make_database().read() as transaction:
        found = transaction.validations.list("PLAN1")
        expect(list(found), [sample.validation(1), sample.validation(2)])
        expect(list(transaction.validations.list("PLAN2")), [])


def validations_are_told(make_database: MakeDatabase) -> None:
    """A validation is an event, by how it ended."""
    database = with_plan(make_database)
    passed = replace(sample.validation(2), status=ValidationStatus.PASSED, message=None)
    with database.write() as transaction:
        transaction.validations.add(sample.validation(1))
        transaction.validations.add(passed)
        told = [event.record for event in transaction.events.added()]
    facts = (sample.ODD, "required", 1500)
    expect(
        told,
        [
            ValidationFailed("PLAN1", "VALIDATION1", *facts, sample.ODD),
            ValidationPassed("PLAN1", "VALIDATION2", *facts),
        ],
    )


def applies_keep_what_they_do(make_database: MakeDatabase) -> None:
    """The journal of an apply comes back with every resource, and is told once it is completed."""
    database = with_groups(make_database, 1)
    begun = replace(
        sample.operation(1),
        kind=OperationKind.APPLY,
        target_checkpoint_id="PLAN1-CHECKPOINT1",
        apply=sample.apply_record(),
    )
    done = replace(begun, status=OperationStatus.COMPLETED, finished_at=sample.moment(9))
    with database.write() as transaction:
        transaction.sandboxes.add(sample.sandbox())
        transaction.operations.add(begun)
    with make_database().read() as transaction:
        expect(transaction.operations.pending("PLAN1"), begun)
    with database.write() as transaction:
        transaction.operations.save(done)
        told = [event.record for event in transaction.events.added()]
    expect(
        told,
        [
            PlanApplied("PLAN1", "OPERATION1", "branch", (sample.ODD,)),
            SandboxCommitted("PLAN1", "SANDBOX1", sample.ODD, "OPERATION1"),
        ],
    )
    unapplied = replace(begun, id="OPERATION2", kind=OperationKind.UNDO, takes_back="OPERATION1")
    with database.write() as transaction:
        transaction.operations.add(unapplied)
        transaction.operations.save(replace(unapplied, status=OperationStatus.COMPLETED))
        told = [event.record for event in transaction.events.added()]
    expect(told, [PlanUnapplied("PLAN1", "OPERATION2", "branch", (sample.ODD,))])


CONTRACT: tuple[Callable[[MakeDatabase], None], ...] = (
    validations_come_back_oldest_first,
    validations_are_told,
    applies_keep_what_they_do,
)
