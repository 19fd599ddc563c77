"""Adding, changing and reading rows: what all repositories do alike."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Sequence
from itertools import islice
from typing import Protocol, TypeVar

from sqlalchemy import ColumnElement, func
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import InstrumentedAttribute, Session

from cleveragents.domain.errors import DatabaseError, DuplicateError, NotFoundError
from cleveragents.infrastructure.database.column_types import escape
from cleveragents.infrastructure.database.models import Model

_IDS_PER_STATEMENT = 500
_FOREIGN_KEY_STATE = "23503"

RecordT = TypeVar("RecordT", covariant=True)


class Readable(Protocol[RecordT]):
    """A row that can say which record it is."""

    def to_domain(self) -> RecordT: ...


def add(session: Session, row: Model, noun: str, record_id: str) -> None:
    """Stores a new row at once.

    The transaction stays usable after a failure, as a savepoint is taken.

    Raises:
        DuplicateError: The id, or the place in the plan's order, is taken.
        DatabaseError: Something the row refers to is not stored.
    """
    try:
        with session.begin_nested():
            session.add(row)
    except IntegrityError as error:
        if _is_missing_reference(error):
            raise DatabaseError(
                f"The {noun} {record_id} refers to something that is not stored",
                record_id=record_id,
            ) from error
        raise DuplicateError(noun, record_id) from error


def _is_missing_reference(error: IntegrityError) -> bool:
    state: object = getattr(error.orig, "sqlstate", None)
    return state == _FOREIGN_KEY_STATE or "FOREIGN KEY" in str(error.orig)


def save(session: Session, row: Model, noun: str, record_id: str) -> None:
    """Writes every column of a row that is stored already. Raises NotFoundError otherwise."""
    if session.get(type(row), record_id) is None:
        raise NotFoundError(f"There is no {noun} {record_id}", record_id=record_id)
    session.merge(row)
    session.flush()


def record(row: Readable[RecordT], noun: str) -> RecordT:
    """Returns the record that a row holds. Raises DatabaseError when it makes no sense."""
    try:
        return row.to_domain()
    except (ValueError, RecursionError) as error:
        raise DatabaseError(
            f"A stored {noun} cannot be read: {str(error).splitlines()[0]}",
            hint="Was the database changed by hand, or written by a newer program?",
        ) from error


def records(found: Iterable[Readable[RecordT]], noun: str) -> Sequence[RecordT]:
    """Returns the records of rows, in their order."""
    return [record(row, noun) for row in found]


def begins_with(column: InstrumentedAttribute[str], prefix: str) -> ColumnElement[bool]:
    """Compares exactly: LIKE has wildcards, and its idea of case depends on the database."""
    stored = escape(prefix)
    return func.substr(column, 1, len(stored)) == stored


def portions(ids: Collection[str]) -> Generator[list[str]]:
    """Gives ids in portions that fit into one statement."""
    remaining = iter(ids)
    while portion := list(islice(remaining, _IDS_PER_STATEMENT)):
        yield portion
