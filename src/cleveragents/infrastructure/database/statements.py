"""Statements that are made once and run often, without SQLAlchemy's work for each run.

SQLAlchemy writes the text and knows the types. In SQLite a statement of a
checkpoint takes a few microseconds, and preparing and wrapping it in SQLAlchemy
ten times that; so there the driver runs it, on the connection and in the
transaction that SQLAlchemy opened. PostgreSQL takes the usual way.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple

from sqlalchemy import Connection, Dialect
from sqlalchemy.exc import StatementError
from sqlalchemy.sql.selectable import ExecutableReturnsRows
from sqlalchemy.types import TypeEngine

from cleveragents.infrastructure.database.models.base import StoredRow

__all__ = ["Statement", "StoredRow"]

Processor = Callable[[Any], Any]


class _Direct(NamedTuple):
    """What the driver needs to run a statement."""

    text: str
    parameters: Sequence[tuple[str, Processor | None]]
    fixed: Mapping[str, Any]
    """The values that are part of the statement, by the parameter's name."""
    columns: Sequence[Processor | None]
    row: Callable[[Sequence[Any]], StoredRow]


class Statement:
    """One statement; its values are given by name when it is run."""

    def __init__(self, clause: ExecutableReturnsRows) -> None:
        self._clause = clause
        self._direct: _Direct | None = None

    def prepare(self, dialect: Dialect) -> None:
        """Does what its first run would have to do."""
        if dialect.name == "sqlite":
            self._prepared(dialect)

    def rows(self, connection: Connection, values: Mapping[str, Any]) -> Sequence[StoredRow]:
        if connection.dialect.name != "sqlite":
            return connection.execute(self._clause, values).all()
        direct = self._prepared(connection.dialect)
        cursor = connection.connection.cursor()
        cursor.execute(direct.text, _arguments(direct, values))
        return [_read(direct, stored) for stored in cursor.fetchall()]

    def first(self, connection: Connection, values: Mapping[str, Any]) -> StoredRow | None:
        """Returns the first row; the statement SHOULD ask for no more than one."""
        return next(iter(self.rows(connection, values)), None)

    def iterate(self, connection: Connection, values: Mapping[str, Any]) -> Generator[StoredRow]:
        """Gives the rows, read as far as they are asked for."""
        if connection.dialect.name != "sqlite":
            with connection.execute(self._clause, values) as found:
                yield from found
            return
        direct = self._prepared(connection.dialect)
        with closing(connection.connection.cursor()) as cursor:
            cursor.execute(direct.text, _arguments(direct, values))
            while (stored := cursor.fetchone()) is not None:
                yield _read(direct, stored)

    def run(self, connection: Connection, values: Mapping[str, Any]) -> int:
        """Runs a statement that gives no rows, and returns how many it changed."""
        if connection.dialect.name != "sqlite":
            return connection.execute(self._clause, values).rowcount
        direct = self._prepared(connection.dialect)
        cursor = connection.connection.cursor()
        cursor.execute(direct.text, _arguments(direct, values))
        return cursor.rowcount

    def run_each(self, connection: Connection, many: Iterable[Mapping[str, Any]]) -> None:
        """Runs a statement that gives no rows once for each set of values."""
        if connection.dialect.name != "sqlite":
            connection.execute(self._clause, list(many))
            return
        direct = self._prepared(connection.dialect)
        cursor = connection.connection.cursor()
        cursor.executemany(direct.text, [_arguments(direct, values) for values in many])

    def _prepared(self, dialect: Dialect) -> _Direct:
        if self._direct is None:
            self._direct = self._prepare(dialect)
        return self._direct

    def _prepare(self, dialect: Dialect) -> _Direct:
        compiled = self._clause.compile(dialect=dialect)
        columns = list(self._clause.exported_columns)
        names = [str(column.key) for column in columns]
        row = namedtuple("row", names, rename=True)  # pyright: ignore[reportUntypedNamedTuple] # any column is of any type
        return _Direct(
            text=str(compiled),
            parameters=[
                (name, _processor(compiled.binds[name].type, dialect))
                for name in compiled.positiontup or ()
            ],
            fixed={name: bind.value for name, bind in compiled.binds.items() if not bind.required},
            columns=[_reader(column.type, dialect) for column in columns],
            row=row._make,
        )


def _processor(kind: TypeEngine[Any], dialect: Dialect) -> Processor | None:
    return kind.dialect_impl(dialect).bind_processor(dialect)


def _reader(kind: TypeEngine[Any], dialect: Dialect) -> Processor | None:
    return kind.dialect_impl(dialect).result_processor(dialect, None)


def _read(direct: _Direct, stored: Sequence[Any]) -> StoredRow:
    return direct.row(
        [
            value if process is None else process(value)
            for value, process in zip(stored, direct.columns, strict=True)
        ]
    )


def _arguments(direct: _Direct, values: Mapping[str, Any]) -> Sequence[Any]:
    given = {**direct.fixed, **values} if direct.fixed else values
    try:
        return [
            given[name] if process is None else process(given[name])
            for name, process in direct.parameters
        ]
    except ValueError as error:
        raise StatementError(str(error), direct.text, None, error) from error
