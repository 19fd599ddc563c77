"""Databases with some records in them, for the contract suites over databases."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from cleveragents.application.ports.records import Database
from cleveragents.domain.errors import CleverAgentsError
from cleveragents.testing import sample_records as sample
from cleveragents.testing.expectations import ContractError, expect

MakeDatabase = Callable[[], Database]
ErrorT = TypeVar("ErrorT", bound=CleverAgentsError)


def expect_exactly(kind: type[ErrorT], action: Callable[[], object]) -> None:
    """Raises unless the action raises `kind` itself, not one of its subclasses."""
    try:
        action()
    except kind as error:
        expect(type(error), kind)
    else:
        raise ContractError(f"{kind.__name__} was not raised")


def with_plan(make_database: MakeDatabase) -> Database:
    """Opens the database and stores a plan with a resource, for other records to refer to."""
    database = make_database()
    with database.write() as transaction:
        transaction.plans.add(sample.plan())
        transaction.sandboxes.add_resource(sample.resource())
    return database


def with_groups(make_database: MakeDatabase, count: int) -> Database:
    """The same, with so many groups of one checkpoint each; the first is pinned."""
    database = with_plan(make_database)
    with database.write() as transaction:
        for number in range(1, count + 1):
            transaction.checkpoints.add_group(sample.group(number), [sample.checkpoint(number)])
    return database
