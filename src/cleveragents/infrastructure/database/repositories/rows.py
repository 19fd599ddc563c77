"""Adding, changing and reading rows: what all repositories do alike.

Statements are made once and kept: making one costs more than running it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from functools import cache, lru_cache
from itertools import islice
from typing import TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Table,
    bindparam,
    func,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from cleveragents.domain.errors import DatabaseError, DuplicateError, NotFoundError
from cleveragents.infrastructure.database.column_types import escape
from cleveragents.infrastructure.database.engine import control
from cleveragents.infrastructure.database.models.base import Values
from cleveragents.infrastructure.database.statements import Statement, StoredRow

_IDS_PER_STATEMENT = 500
_FOREIGN_KEY_STATE = "23503"
_KEY_PARAMETER = "key_of_row"

RecordT = TypeVar("RecordT")


@contextmanager
def whole(connection: Connection) -> Generator[None]:
    """Keeps all that is done in the block or, if it raises, none; the transaction can go on."""
    control(connection, "SAVEPOINT whole")
    try:
        yield
    except BaseException:
        # SQLite answers a full disk by undoing the whole transaction, and the savepoint with it.
        with suppress(sqlite3.OperationalError):
            control(connection, "ROLLBACK TO SAVEPOINT whole")
            control(connection, "RELEASE SAVEPOINT whole")
        raise
    control(connection, "RELEASE SAVEPOINT whole")


def add(connection: Connection, table: Table, values: Values, noun: str) -> None:
    """Stores a new row like `insert`; the transaction stays usable after a failure."""
    with whole(connection):
        insert(connection, table, values, noun)


def insert(connection: Connection, table: Table, values: Values, noun: str) -> None:
    """Stores a new row; its first column is its id.

    Raises:
        DuplicateError: The id, or the place in the plan's order, is taken.
        DatabaseError: Something the row refers to is not stored.
    """
    record_id = str(next(iter(values.values())))
    with _refusals(noun, record_id):
        insertion(table).run(connection, values)


def add_all(connection: Connection, table: Table, many: Sequence[Values], noun: str) -> None:
    """Stores new rows, all or none, as fast as the database can; see `insert` for the errors."""
    if many:
        with whole(connection), _refusals(noun, str(next(iter(many[0].values())))):
            insertion(table).run_each(connection, many)


@contextmanager
def _refusals(noun: str, record_id: str) -> Generator[None]:
    try:
        yield
    except (IntegrityError, sqlite3.IntegrityError) as error:
        if _is_missing_reference(error):
            raise DatabaseError(
                f"The {noun} {record_id} refers to something that is not stored",
                record_id=record_id,
            ) from error
        raise DuplicateError(noun, record_id) from error


@cache
def insertion(table: Table) -> Statement:
    return Statement(table.insert())


def _is_missing_reference(error: IntegrityError | sqlite3.IntegrityError) -> bool:
    cause = error.orig if isinstance(error, IntegrityError) else error
    state: object = getattr(cause, "sqlstate", None)
    return state == _FOREIGN_KEY_STATE or "FOREIGN KEY" in str(cause)


def change(connection: Connection, table: Table, record_id: str, values: Values) -> bool:
    """Writes some columns of the row with that id. Returns whether there is such a row."""
    given = {**values, _KEY_PARAMETER: record_id}
    return changing(table, tuple(values)).run(connection, given) > 0


@lru_cache(maxsize=64)
def changing(table: Table, columns: tuple[str, ...]) -> Statement:
    key = next(iter(table.primary_key))
    return Statement(
        update(table)
        .where(key == bindparam(_KEY_PARAMETER, type_=key.type))
        .values({name: bindparam(name, type_=table.c[name].type) for name in columns})
    )


def save(connection: Connection, table: Table, values: Values, noun: str) -> None:
    """Writes every column of a row that is stored already; its first column is its id.

    Raises:
        NotFoundError: It is not stored.
    """
    record_id = str(next(iter(values.values())))
    if not change(connection, table, record_id, values):
        raise _not_found(noun, record_id)


def status(connection: Connection, table: Table, record_id: str, noun: str) -> str:
    """Returns the status that a row has now.

    Raises:
        NotFoundError: It is not stored.
    """
    row = _status(table).first(connection, {_KEY_PARAMETER: record_id})
    if row is None:
        raise _not_found(noun, record_id)
    return row.status


@cache
def _status(table: Table) -> Statement:
    key = next(iter(table.primary_key))
    return Statement(select(table.c.status).where(key == bindparam(_KEY_PARAMETER, type_=key.type)))


def _not_found(noun: str, record_id: str) -> NotFoundError:
    return NotFoundError(f"There is no {noun} {record_id}", record_id=record_id)


def record(row: StoredRow, to_domain: Callable[[StoredRow], RecordT], noun: str) -> RecordT:
    """Returns the record that a row holds. Raises DatabaseError when it makes no sense."""
    try:
        return to_domain(row)
    except (ValueError, RecursionError) as error:
        raise DatabaseError(
            f"A stored {noun} cannot be read: {str(error).splitlines()[0]}",
            hint="Was the database changed by hand, or written by a newer program?",
        ) from error


def records(
    found: Iterable[StoredRow], to_domain: Callable[[StoredRow], RecordT], noun: str
) -> Sequence[RecordT]:
    """Returns the records of rows, in their order."""
    return [record(row, to_domain, noun) for row in found]


def begins_with(column: ColumnElement[str], prefix: str) -> ColumnElement[bool]:
    """Compares exactly: LIKE has wildcards, and its idea of case depends on the database."""
    stored = escape(prefix)
    return func.substr(column, 1, len(stored)) == stored


def portions(ids: Collection[str]) -> Generator[list[str]]:
    """Gives ids in portions that fit into one statement."""
    remaining = iter(ids)
    while portion := list(islice(remaining, _IDS_PER_STATEMENT)):
        yield portion
