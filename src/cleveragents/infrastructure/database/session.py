"""Runs SQL on the driver's connection and turns rows into records.

Every statement is a text with named parameters (`:plan_id`), written once for
SQLite and PostgreSQL. The driver runs it directly: for statements that take
SQLite a few microseconds, a layer in between would cost ten times as much.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from typing import Any, Protocol, TypeVar

from cleveragents.domain.errors import DatabaseError, DuplicateError, NotFoundError
from cleveragents.infrastructure.database.failures import (
    driver_errors,
    is_missing_reference,
    is_refused_row,
)
from cleveragents.infrastructure.database.models import Model, Row

_ESCAPE = "\N{SYMBOL FOR ESCAPE}"
_UNSTORABLE = re.compile(f"[\x00\ud800-\udfff{_ESCAPE}]")
_ESCAPED = re.compile(f"{_ESCAPE}([0-9a-f]{{4}})")
_PARAMETER = re.compile(r":(\w+)")
_IDS_PER_STATEMENT = 500
_ID_LIST = "(:ids)"

RecordT = TypeVar("RecordT")


class Cursor(Protocol):
    """The part of a driver's cursor that is used here."""

    @property
    def rowcount(self) -> int: ...
    def executemany(self, sql: str, many: Any, /) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def fetchone(self) -> Any: ...
    def close(self) -> None: ...


class DriverConnection(Protocol):
    """The part of a connection that `sqlite3` and `psycopg` have in common."""

    def cursor(self) -> Cursor: ...
    def execute(self, sql: str, values: Any = ..., /) -> Cursor: ...


class Session:
    """The statements of one transaction."""

    def __init__(self, connection: DriverConnection, *, is_sqlite: bool) -> None:
        self._connection = connection
        self._is_sqlite = is_sqlite

    def rows(self, sql: str, **values: object) -> Sequence[Row]:
        return [_from_driver(row) for row in self._execute(sql, values).fetchall()]

    def first(self, sql: str, **values: object) -> Row | None:
        """Returns the first row; the statement SHOULD ask for at most one."""
        row = self._execute(sql, values).fetchone()
        return None if row is None else _from_driver(row)

    def value(self, sql: str, **values: object) -> Any:
        """Returns the only value of the only row."""
        [[value]] = self.rows(sql, **values)
        return value

    def run(self, sql: str, **values: object) -> int:
        """Runs a statement that returns no rows; returns how many rows it changed."""
        return self._execute(sql, values).rowcount

    def run_each(self, sql: str, many: Iterable[Mapping[str, object]]) -> None:
        """Runs a statement that returns no rows once for each set of values."""
        with closing(self._connection.cursor()) as cursor:
            text = sql if self._is_sqlite else _for_postgres(sql)
            cursor.executemany(text, [self._to_driver(values) for values in many])

    def find(self, model: Model[RecordT], sql: str, **values: object) -> Sequence[RecordT]:
        """Returns the records of the rows, in their order."""
        return [model.read(row) for row in self.rows(sql, **values)]

    def find_first(self, model: Model[RecordT], sql: str, **values: object) -> RecordT | None:
        row = self.first(sql, **values)
        return None if row is None else model.read(row)

    def find_each(self, model: Model[RecordT], sql: str, **values: object) -> Iterator[RecordT]:
        """Yields records; reads only as many rows as the caller takes."""
        with closing(self._execute(sql, values)) as cursor:
            while (row := cursor.fetchone()) is not None:
                yield model.read(_from_driver(row))

    def add(self, model: Model[RecordT], record: RecordT) -> None:
        """Stores a new record like `insert`; the transaction stays usable after a failure."""
        with self.savepoint():
            self.insert(model, record)

    def insert(self, model: Model[RecordT], record: RecordT) -> None:
        """Stores a new record.

        Raises:
            DuplicateError: The id, or the position in the plan's order, is taken.
            DatabaseError: Something that the record refers to is not stored.
        """
        row = model.row(record)
        try:
            self._execute(insertion(model.table, tuple(row)), row)
        except driver_errors() as error:
            raise _refusal(error, model.noun, str(row[model.key])) from error

    def insert_rows(self, table: str, noun: str, key: str, rows: Sequence[dict[str, Any]]) -> None:
        """Stores new rows, all or none; `key` names the column that errors quote."""
        if not rows:
            return
        try:
            with self.savepoint():
                self.run_each(insertion(table, tuple(rows[0])), rows)
        except driver_errors() as error:
            raise _refusal(error, noun, str(rows[0][key])) from error

    def save(self, model: Model[RecordT], record: RecordT) -> None:
        """Writes every column of a record that is already stored.

        Raises:
            NotFoundError: It is not stored.
        """
        row = model.row(record)
        self.update(model, str(row[model.key]), row)

    def update(self, model: Model[RecordT], record_id: str, row: Mapping[str, object]) -> None:
        """Writes some columns of the row with that id. Raises NotFoundError like `save`."""
        sql = _update(model.table, model.key, tuple(row))
        if not self._execute(sql, {**row, "record_id": record_id}).rowcount:
            raise _not_found(model.noun, record_id)

    def status(self, model: Model[Any], record_id: str) -> str:
        """Returns the status that a stored record has now. Raises NotFoundError like `save`."""
        sql = f"SELECT status FROM {model.table} WHERE {model.key} = :record_id"
        row = self.first(sql, record_id=record_id)
        if row is None:
            raise _not_found(model.noun, record_id)
        return row[0]

    @contextmanager
    def savepoint(self) -> Generator[None]:
        """Keeps all changes of the block or, if it raises, none; the transaction can continue."""
        self._connection.execute("SAVEPOINT whole")
        try:
            yield
        except BaseException:
            # When the disk is full, SQLite rolls back the transaction and the savepoint with it.
            with suppress(*driver_errors()):
                self._connection.execute("ROLLBACK TO SAVEPOINT whole")
                self._connection.execute("RELEASE SAVEPOINT whole")
            raise
        self._connection.execute("RELEASE SAVEPOINT whole")

    def _execute(self, sql: str, values: Mapping[str, object]) -> Cursor:
        text = sql if self._is_sqlite else _for_postgres(sql)
        return self._connection.execute(text, self._to_driver(values))

    def _to_driver(self, values: Mapping[str, object]) -> dict[str, object]:
        """Replaces what a database refuses or would return differently."""
        stored = dict(values)
        for name, value in values.items():
            if isinstance(value, str):
                stored[name] = escape(value)
            elif isinstance(value, datetime):
                if value.tzinfo is None:
                    raise DatabaseError("A time without a time zone cannot be stored")
                moment = value.astimezone(UTC)
                # ISO text of a fixed width: it sorts, and people can read it.
                text = moment.isoformat(timespec="microseconds")
                stored[name] = text if self._is_sqlite else moment
        return stored


def id_lists(sql: str, ids: Iterable[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields the statement with `(:ids)` replaced by a list, and its values.

    Ids are split into lists that fit into one statement.
    """
    remaining = iter(ids)
    while part := list(islice(remaining, _IDS_PER_STATEMENT)):
        values = {f"id{number}": text for number, text in enumerate(part)}
        names = ", ".join(f":{name}" for name in values)
        yield sql.replace(_ID_LIST, f"({names})"), values


def escape(text: str) -> str:
    """Returns `text` without NUL and lone surrogates, which databases refuse.

    They come from tool output and from file names that are not UTF-8. Each
    becomes `␛` and four hexadecimal digits, so that `unescape` is exact.
    """
    if text.isascii() and "\x00" not in text:
        return text
    return _UNSTORABLE.sub(lambda found: f"{_ESCAPE}{ord(found[0]):04x}", text)


def unescape(text: str) -> str:
    """Reverses `escape`."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


def _from_driver(row: Sequence[Any]) -> Row:
    return tuple(
        unescape(value) if isinstance(value, str) and _ESCAPE in value else value for value in row
    )


@cache
def _for_postgres(sql: str) -> str:
    return _PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%"))


@cache
def insertion(table: str, columns: tuple[str, ...]) -> str:
    """Returns the statement that stores a row."""
    names = ", ".join(f":{column}" for column in columns)
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({names})"


@cache
def _update(table: str, key: str, columns: tuple[str, ...]) -> str:
    values = ", ".join(f"{column} = :{column}" for column in columns)
    return f"UPDATE {table} SET {values} WHERE {key} = :record_id"


def _not_found(noun: str, record_id: str) -> NotFoundError:
    return NotFoundError(f"There is no {noun} {record_id}", record_id=record_id)


def _refusal(error: Exception, noun: str, record_id: str) -> Exception:
    """Returns the error for a row that the database did not store."""
    if is_missing_reference(error):
        return DatabaseError(
            f"The {noun} {record_id} refers to a record that is not stored", record_id=record_id
        )
    return DuplicateError(noun, record_id) if is_refused_row(error) else error
