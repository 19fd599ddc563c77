"""Begins transactions on the driver's connections, runs SQL, and turns rows into records.

A read transaction takes no lock. A write transaction takes its locks at its start. SQLite has
one for the file. In PostgreSQL, a transaction that names its plans locks only these; one that
names none excludes all others. `Begin` has the statements.

Every statement is a text with named parameters (`:plan_id`), written once for
SQLite and PostgreSQL. The driver runs it directly: for statements that take
SQLite a few microseconds, a layer in between would cost ten times as much.
"""

from __future__ import annotations

import re
import threading
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from typing import Any, Protocol

from cleveragents.domain.errors import DatabaseError, DuplicateError, NotFoundError
from cleveragents.infrastructure.database.failures import (
    driver_errors,
    is_missing_reference,
    is_refused_row,
)
from cleveragents.infrastructure.database.models import Model, RecordT, Row

GENERATED = "/* generated */"
"""Marks a statement whose answer is another one each time: a number or a time of the server."""

_ESCAPE = "\N{SYMBOL FOR ESCAPE}"
_UNSTORABLE = re.compile(f"[\x00\ud800-\udfff{_ESCAPE}]")
_ESCAPED = re.compile(f"{_ESCAPE}([0-9a-f]{{4}})")
_PARAMETER = re.compile(r":(\w+)")
_IDS_PER_STATEMENT = 500
_ID_LIST = "(:ids)"

BUSY_SECONDS = 10.0
"""How long to wait for a lock."""
ANSWER_SECONDS = 60.0
"""How long to wait for the answer of a server, and how long it keeps a silent writer's locks."""

WRITE_LOCK = 0x436C4167
"""The advisory lock of PostgreSQL that write transactions hold: shared if they name their plans."""
NUMBERING_LOCK = WRITE_LOCK + 1
"""The advisory lock of a transaction that gives a plan its number; it is always taken last."""
MIGRATION_LOCK = WRITE_LOCK + 2
"""The advisory lock of a migration; a process that looks at the schema shares it."""

TRANSACTION_NUMBER = "SELECT txid_current()"
"""Ends the beginning of a write transaction; its number tells later whether it was committed."""


class Cursor(Protocol):
    """The part of a driver's cursor that is used here."""

    @property
    def rowcount(self) -> int: ...
    def execute(self, sql: str, values: Any, /) -> Any: ...
    def executemany(self, sql: str, values: Any, /) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def fetchone(self) -> Any: ...
    def close(self) -> None: ...


class DriverConnection(Protocol):
    """The part of a connection that `sqlite3` and `psycopg` have in common."""

    def cursor(self) -> Cursor: ...
    def execute(self, sql: str, /) -> Any: ...
    def commit(self) -> None: ...
    def rollback(self) -> None: ...
    def close(self) -> None: ...


class Begin(Protocol):
    """The statements that begin a transaction."""

    def reading(self) -> Sequence[str]: ...
    def writing(self, plans: Sequence[str]) -> Sequence[str]: ...


class BeginSqlite(Begin):
    """SQLite: one writer at a time."""

    # The driver's own transaction handling is off: it would begin too late, and not at all
    # before a change of the schema.
    def reading(self) -> Sequence[str]:
        return ("BEGIN DEFERRED",)

    def writing(self, plans: Sequence[str]) -> Sequence[str]:
        return ("BEGIN IMMEDIATE",)


class BeginPostgres(Begin):
    """PostgreSQL: the first statements of a transaction that psycopg has begun by itself."""

    def __init__(self, busy_seconds: float) -> None:
        self.limits = (
            f"SET LOCAL lock_timeout = {_milliseconds(busy_seconds)}",
            f"SET LOCAL statement_timeout = {_milliseconds(ANSWER_SECONDS)}",
            # A writer whose host is lost must not keep its locks until TCP gives up.
            f"SET LOCAL idle_in_transaction_session_timeout = {_milliseconds(ANSWER_SECONDS)}",
        )

    def reading(self) -> Sequence[str]:
        # Without this, each statement would see what others have committed meanwhile.
        return ("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", *self.limits)

    def writing(self, plans: Sequence[str]) -> Sequence[str]:
        if not plans:
            every = f"SELECT pg_advisory_xact_lock({WRITE_LOCK})"
            return (*self.limits, every, TRANSACTION_NUMBER)
        # Always in the same order, or two transactions could wait for each other.
        numbers = sorted({_lock_number(plan) for plan in plans})
        return (
            *self.limits,
            f"SELECT pg_advisory_xact_lock_shared({WRITE_LOCK})",
            *(f"SELECT pg_advisory_xact_lock({WRITE_LOCK}, {number})" for number in numbers),
            TRANSACTION_NUMBER,
        )


def _lock_number(plan_id: str) -> int:
    """Returns a signed number of 32 bits; plans that share one only wait for each other."""
    return zlib.crc32(plan_id.encode()) - 2**31


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


class ConnectionPool:
    """Lends each connection to one transaction at a time; opens one when none is idle."""

    def __init__(self, connect: Callable[[], DriverConnection], *opened: DriverConnection) -> None:
        """Args: `opened` are connections that the pool takes over."""
        self._connect = connect
        self._idle = list(opened)
        self._lock = threading.Lock()

    @contextmanager
    def connection(self) -> Generator[DriverConnection]:
        """Lends a connection, and rolls back what the block did not commit."""
        with self._lock:
            idle = self._idle.pop() if self._idle else None
        connection = idle or self._connect()
        try:
            yield connection
        finally:
            try:
                connection.rollback()
            except driver_errors():
                # The server ended, or its connection broke; the next transaction opens another.
                connection.close()
            else:
                with self._lock:
                    self._idle.append(connection)

    def close(self) -> None:
        """Closes the idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


class DatabaseSession:
    """The statements of one transaction."""

    def __init__(self, connection: DriverConnection, *, is_sqlite: bool) -> None:
        self.connection = connection
        self.is_sqlite = is_sqlite

    def rows(self, sql: str, **values: object) -> list[Row]:
        """Returns the rows; times are text in UTC."""
        found = self._execute(sql, values).fetchall()
        return found if self.is_sqlite else [_from_driver(row) for row in found]

    def generated(self, sql: str, **values: object) -> Callable[[], Any]:
        """Runs a statement that returns one value, which the database generates.

        If the server goes away before the transaction has committed, the value may change: then
        the statement runs again. Whoever calls the result gets the latest value.
        """
        cursor = self._execute(f"{GENERATED} {sql}", values)
        if not self.is_sqlite:
            return lambda: cursor.fetchall()[0][0]
        [value] = cursor.fetchone()
        return lambda: value

    def run(self, sql: str, **values: object) -> int:
        """Runs a statement that returns no rows; returns how many rows it changed."""
        return self._execute(sql, values).rowcount

    def find(self, model: Model[RecordT], sql: str, **values: object) -> list[RecordT]:
        """Returns the records of the rows, in their order."""
        return [model.read(row) for row in self.rows(sql, **values)]

    def find_each(self, model: Model[RecordT], sql: str, **values: object) -> Iterator[RecordT]:
        """Yields records; reads only as many rows as the caller takes."""
        with closing(self._execute(sql, values)) as cursor:
            while (row := cursor.fetchone()) is not None:
                yield model.read(row if self.is_sqlite else _from_driver(row))

    def insert(self, model: Model[Any], *rows: Mapping[str, Any]) -> None:
        """Stores new rows, all or none; the transaction stays usable after a failure.

        Raises:
            DuplicateError: The id, or the position in the plan's order, is taken.
            DatabaseError: Something that a row refers to is not stored.
        """
        if not rows:
            return
        try:
            # Without it, PostgreSQL would refuse every statement after one that failed.
            with self.savepoint():
                self._execute(_insertion(model.table, tuple(rows[0])), *rows)
        except driver_errors() as error:
            raise _refusal(error, model.noun, str(rows[0][model.key])) from error

    def update(self, model: Model[Any], row: Mapping[str, Any]) -> None:
        """Writes these columns of the row that has the same key.

        Raises:
            NotFoundError: There is none.
        """
        if not self._execute(_update(model.table, model.key, tuple(row)), row).rowcount:
            record_id = row[model.key]
            raise NotFoundError(f"There is no {model.noun} {record_id}", record_id=record_id)

    @contextmanager
    def savepoint(self) -> Generator[None]:
        """Keeps all changes of the block or, if it raises, none; the transaction can continue."""
        self.connection.execute("SAVEPOINT whole")
        try:
            yield
        except BaseException:
            # When the disk is full, SQLite rolls back the transaction and the savepoint with it.
            with suppress(*driver_errors()):
                self.connection.execute("ROLLBACK TO SAVEPOINT whole")
                self.connection.execute("RELEASE SAVEPOINT whole")
            raise
        self.connection.execute("RELEASE SAVEPOINT whole")

    def _execute(self, sql: str, *sets: Mapping[str, object]) -> Cursor:
        """Runs a statement, once for each set of values.

        Replaces the values that a database refuses or would return differently.
        """
        converted = [dict(values) for values in sets]
        for values in converted:
            for name, value in values.items():
                if isinstance(value, str):
                    # Nearly every text can be stored as it is; this test is the quickest.
                    if not value.isascii() or "\x00" in value:
                        values[name] = escape(value)
                elif isinstance(value, datetime):
                    if value.tzinfo is None:
                        raise DatabaseError("A time without a time zone cannot be stored")
                    moment = value.astimezone(UTC)
                    # ISO text of a fixed width: it sorts, and people can read it.
                    text = moment.isoformat(timespec="microseconds")
                    values[name] = text if self.is_sqlite else moment
        sql = sql if self.is_sqlite else _for_postgres(sql)
        cursor = self.connection.cursor()
        if len(converted) == 1:
            cursor.execute(sql, converted[0])
        else:
            cursor.executemany(sql, converted)
        return cursor


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
    return _UNSTORABLE.sub(lambda found: f"{_ESCAPE}{ord(found[0]):04x}", text)


def unescape(text: str) -> str:
    """Reverses `escape`."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


def text_from_sqlite(stored: bytes) -> str:
    """Reads damaged text too, so that the record can be named that holds it."""
    text = stored.decode("utf-8", "surrogateescape")
    return unescape(text) if _ESCAPE in text else text


def _from_driver(row: Sequence[Any]) -> Row:
    """Reverses the replacements in the values of a row of PostgreSQL, and makes times text."""
    return tuple(
        unescape(value)
        if isinstance(value, str)
        else value.astimezone(UTC).isoformat()
        if isinstance(value, datetime)
        else value
        for value in row
    )


@cache
def _for_postgres(sql: str) -> str:
    return _PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%"))


@cache
def _insertion(table: str, columns: tuple[str, ...]) -> str:
    names = ", ".join(f":{column}" for column in columns)
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({names})"


@cache
def _update(table: str, key: str, columns: tuple[str, ...]) -> str:
    values = ", ".join(f"{column} = :{column}" for column in columns if column != key)
    return f"UPDATE {table} SET {values} WHERE {key} = :{key}"


def _refusal(error: Exception, noun: str, record_id: str) -> Exception:
    """Returns the error for a row that the database did not store."""
    if is_missing_reference(error):
        return DatabaseError(
            f"The {noun} {record_id} refers to a record that is not stored", record_id=record_id
        )
    return DuplicateError(noun, record_id) if is_refused_row(error) else error
