"""Begins transactions on the driver's connections, runs SQL, and turns rows into records.

A read transaction takes no lock. A write transaction takes its locks at its start. SQLite has
one for the file. In PostgreSQL, a transaction that names its plans locks only these; one that
names none excludes all others.

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
from typing import Any, Protocol, cast

from cleveragents.domain.errors import DatabaseError, DuplicateError, NotFoundError
from cleveragents.infrastructure.database.failures import (
    driver_errors,
    is_missing_reference,
    is_refused_row,
    refused_table,
)
from cleveragents.infrastructure.database.models import Model, RecordT, Row

GENERATED = "/* generated */"
"""Marks a statement whose answer is another one each time: a number or a time of the server."""
BEGIN = "BEGIN"
"""The first statement of every transaction; no driver begins one by itself."""

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

TRANSACTION_NUMBER = "txid_current()"
"""The last value of a statement that takes locks: tells later what became of the transaction."""


class Answer(Protocol):
    """What a statement returned."""

    @property
    def rowcount(self) -> int: ...
    def fetchall(self) -> list[Any]: ...
    def fetchone(self) -> Any: ...
    def close(self) -> None: ...


class Cursor(Answer, Protocol):
    """The part of a driver's cursor that is used here."""

    def execute(self, sql: str, values: Any, /) -> Any: ...
    def executemany(self, sql: str, values: Any, /) -> Any: ...


class DriverConnection(Protocol):
    """The part of a connection that `sqlite3` and `psycopg` have in common."""

    def cursor(self) -> Cursor: ...
    def execute(self, sql: str, /) -> Any: ...
    def commit(self) -> None: ...
    def rollback(self) -> None: ...
    def close(self) -> None: ...


class BeginPostgres:
    """The statements that begin a transaction on a server: few, because each costs time."""

    def __init__(self, busy_seconds: float) -> None:
        limits = {
            "lock_timeout": busy_seconds,
            "statement_timeout": ANSWER_SECONDS,
            # A writer whose host is lost must not keep its locks until TCP gives up.
            "idle_in_transaction_session_timeout": ANSWER_SECONDS,
        }
        settings = [
            f"set_config('{name}', '{_milliseconds(seconds)}', true)"
            for name, seconds in limits.items()
        ]
        self.limits = f"SELECT {', '.join(settings)}"
        """Sets the limits of one transaction; poolers of connections keep no others."""

    def reading(self) -> Sequence[str]:
        # Otherwise each statement would see what others have committed meanwhile.
        return (f"{BEGIN} ISOLATION LEVEL REPEATABLE READ", self.limits)

    def writing(self, plans: Sequence[str]) -> Sequence[str]:
        if not plans:
            every = f"SELECT pg_advisory_xact_lock({WRITE_LOCK}), {TRANSACTION_NUMBER}"
            return (BEGIN, self.limits, every)
        # Always in the same order, or two transactions could wait for each other.
        *others, last = sorted({_lock_number(plan) for plan in plans})
        return (
            BEGIN,
            self.limits,
            f"SELECT pg_advisory_xact_lock_shared({WRITE_LOCK})",
            *(f"SELECT pg_advisory_xact_lock({WRITE_LOCK}, {number})" for number in others),
            f"SELECT pg_advisory_xact_lock({WRITE_LOCK}, {last}), {TRANSACTION_NUMBER}",
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


class Server(Protocol):
    """What a session needs of a transaction on a server; see `ServerTransaction`."""

    def run(self, sql: str, sets: Sequence[Mapping[str, object]]) -> Answer: ...
    def settle(self) -> None: ...


class DatabaseSession:
    """The statements of one transaction.

    SQLite runs each at once. A server gets a statement when somebody wants to know an answer,
    together with those before it: each message that is waited for costs a round trip.
    """

    def __init__(self, connection: DriverConnection | None, server: Server | None = None) -> None:
        """Args: either the connection to a SQLite file, or a transaction on a server."""
        self._connection = connection
        self.server = server
        self.is_sqlite = server is None
        self._expected: dict[tuple[object, ...], Answer] = {}
        self._inserted: list[tuple[Model[Any], Mapping[str, Any]]] | None = None
        """What rows are inserted in the open savepoint: the first of each statement."""

    def expect(self, sql: str, **values: object) -> None:
        """Says that the block will call `rows` or `find` with just this, perhaps soon.

        The question then goes to a server with the next message, and its answer is used if
        nothing was written in between.
        """
        if self.server is not None:
            key = (sql, *values.items())
            self._expected[key] = self._expected.get(key) or self.run(sql, **values)

    def rows(self, sql: str, **values: object) -> list[Row]:
        """Returns the rows; times are text in UTC."""
        if self.server is None:
            return self.run(sql, **values).fetchall()
        expected = self._expected.pop((sql, *values.items()), None)
        cursor = self.run(sql, **values) if expected is None else expected
        return [_from_driver(row) for row in cursor.fetchall()]

    def generated(self, sql: str, **values: object) -> Callable[[], Any]:
        """Runs a statement that returns one value, which the database generates.

        If the server goes away before the transaction has committed, the value may change: then
        the statement runs again. Whoever calls the result gets the latest value, or None if the
        statement was undone with its savepoint.
        """
        cursor = self.run(f"{GENERATED} {sql}", **values)
        if self.server is None:
            [value] = cursor.fetchone()
            return lambda: value

        def latest() -> Any:
            rows = cursor.fetchall()
            return rows[0][0] if rows else None

        return latest

    def find(self, model: Model[RecordT], sql: str, **values: object) -> list[RecordT]:
        """Returns the records of the rows, in their order."""
        return [model.read(row) for row in self.rows(sql, **values)]

    def find_each(self, model: Model[RecordT], sql: str, **values: object) -> Iterator[RecordT]:
        """Yields records; reads only as many rows as the caller takes."""
        with closing(self.run(sql, **values)) as cursor:
            while (row := cursor.fetchone()) is not None:
                yield model.read(row if self.server is None else _from_driver(row))

    def insert(self, model: Model[Any], *rows: Mapping[str, Any]) -> None:
        """Stores new rows, all or none; the transaction stays usable after a failure.

        Inside a savepoint of the caller, it may be its end that raises.

        Raises:
            DuplicateError: The id, or the position in the plan's order, is taken.
            DatabaseError: Something that a row refers to is not stored.
        """
        if rows and self._inserted is None:
            with self.savepoint():
                self.insert(model, *rows)
        elif rows and self._inserted is not None:
            self._inserted.append((model, rows[0]))
            self.run(_insertion(model.table, tuple(rows[0])), *rows)

    def update(self, model: Model[Any], row: Mapping[str, Any], *, exists: bool = False) -> None:
        """Writes these columns of the row that has the same key.

        Args:
            model: Which table it is.
            row: The columns, one of them the key.
            exists: Whether this transaction has found the row, so that nobody has to wait
                for the answer.

        Raises:
            NotFoundError: There is none.
        """
        cursor = self.run(_update(model.table, model.key, tuple(row)), row)
        if not exists and not cursor.rowcount:
            record_id = row[model.key]
            raise NotFoundError(f"There is no {model.noun} {record_id}", record_id=record_id)

    @contextmanager
    def savepoint(self) -> Generator[None]:
        """Keeps all changes of the block or, if it raises, none; the transaction can continue.

        PostgreSQL would otherwise refuse every statement after one that failed.
        """
        inserted: list[tuple[Model[Any], Mapping[str, Any]]] = []
        self._inserted = inserted
        self.run("SAVEPOINT whole")
        try:
            yield
            self.run("RELEASE SAVEPOINT whole")
            if self.server is not None:
                self.server.settle()
        except BaseException as error:
            # When the disk is full, SQLite rolls back the transaction and the savepoint with it.
            with suppress(*driver_errors()):
                self.run("ROLLBACK TO SAVEPOINT whole")
                self.run("RELEASE SAVEPOINT whole")
            if isinstance(error, driver_errors()):
                raise _refusal(error, inserted) from error
            raise
        finally:
            self._inserted = None

    def run(self, sql: str, *sets: Mapping[str, object], **values: object) -> Answer:
        """Runs a statement with some values, or once for each set of values.

        Only who asks for an answer waits for it. Replaces the values that a database refuses or
        would return differently.
        """
        converted = [dict(each) for each in sets or (values,)]
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
        if self.server is not None:
            if not sql.startswith("SELECT"):
                self._expected.clear()
            return self.server.run(_for_postgres(sql), converted)
        cursor = cast("DriverConnection", self._connection).cursor()
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


def _refusal(
    error: Exception, inserted: Sequence[tuple[Model[Any], Mapping[str, Any]]]
) -> Exception:
    """Returns the error for a row that the database did not store."""
    table = refused_table(error)
    of_table = [(model, row) for model, row in inserted if table in (None, model.table)]
    if not of_table:
        return error
    model, row = of_table[-1]
    record_id = str(row[model.key])
    if is_missing_reference(error):
        return DatabaseError(
            f"The {model.noun} {record_id} refers to a record that is not stored",
            record_id=record_id,
        )
    return DuplicateError(model.noun, record_id) if is_refused_row(error) else error
