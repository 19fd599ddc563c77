"""Where the database is, and how connections to it behave.

A read transaction takes no lock. A write transaction takes the write lock at its
start: SQLite's own, or one advisory lock in PostgreSQL, so that writers take
turns on both. The driver's own transaction handling is off, as SQLAlchemy
documents for SQLite, so that schema changes are transactional too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, NullPool, QueuePool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from cleveragents.domain.errors import ConfigurationError
from cleveragents.infrastructure.database import sqlite_file

BUSY_SECONDS = 10.0
"""How long to wait for a lock."""

WRITE_LOCK = 0x436C4167
"""The advisory lock that a write transaction holds in PostgreSQL."""

_WRITES = "cleveragents_writes"
_KEY = "core.database-url"
_POSTGRES = "postgresql+psycopg"


@dataclass(frozen=True)
class SqliteLocation:
    """A file."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True)
class PostgresLocation:
    """A server."""

    url: URL

    def __str__(self) -> str:
        return self.url.render_as_string(hide_password=True)


Location = SqliteLocation | PostgresLocation


@dataclass(frozen=True)
class Engines:
    """Two views of one connection pool."""

    reading: Engine
    writing: Engine

    def dispose(self) -> None:
        self.reading.dispose()


def locate(url: str | None, home: Path) -> Location:
    """Returns the database that `url` names; None is `state.db` in the home directory.

    Raises:
        ConfigurationError: The URL is malformed, or names a database that is not supported.
    """
    if url is None:
        return SqliteLocation((home / "state.db").resolve())
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise _unusable("it is not a database URL") from error
    if parsed.drivername in {"postgres", "postgresql", _POSTGRES}:
        return PostgresLocation(parsed.set(drivername=_POSTGRES))
    if parsed.drivername not in {"sqlite", "sqlite+pysqlite"}:
        raise _unusable(f"`{parsed.drivername}` is not supported")
    if parsed.query or not parsed.database or not Path(parsed.database).is_absolute():
        raise _unusable("a SQLite URL must name a file by its absolute path, and nothing else")
    return SqliteLocation(Path(parsed.database).resolve())


def _unusable(problem: str) -> ConfigurationError:
    return ConfigurationError(
        f"`{_KEY}` cannot be used: {problem}",
        hint="Use `sqlite:////absolute/path.db` or `postgresql+psycopg://user@host/name`",
        key=_KEY,
    )


def open_sqlite(path: Path, *, busy_seconds: float, for_migration: bool = False) -> Engines:
    """Returns engines for an existing file; nothing is opened yet.

    A migration needs foreign keys off: SQLite can change a table only by creating
    it again, and dropping the old one would delete the rows that refer to it.
    """
    engine = create_engine(
        "sqlite://",
        creator=partial(
            sqlite_file.connect, path, busy_seconds=busy_seconds, foreign_keys=not for_migration
        ),
        poolclass=NullPool if for_migration else QueuePool,
    )
    event.listen(engine, "begin", _begin_sqlite)
    return Engines(engine, engine.execution_options(**{_WRITES: True}))


def _begin_sqlite(connection: Connection) -> None:
    writes = _WRITES in connection.get_execution_options()
    # Directly: SQLAlchemy's preparations would take ten times as long as the statement.
    connection.connection.cursor().execute("BEGIN IMMEDIATE" if writes else "BEGIN DEFERRED")


def open_postgres(url: URL, *, busy_seconds: float) -> Engines:
    """Returns engines for a server; nothing is connected yet.

    Raises:
        ConfigurationError: The driver is not installed.
    """
    try:
        engine = create_engine(url, connect_args={"connect_timeout": max(1, round(busy_seconds))})
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"`{_KEY}` names PostgreSQL, but its driver is not installed",
            hint="Run `pip install 'cleveragents[postgres]'`",
            key=_KEY,
        ) from error
    event.listen(engine, "begin", partial(_begin_postgres, round(busy_seconds * 1000)))
    return Engines(
        engine.execution_options(isolation_level="REPEATABLE READ"),
        engine.execution_options(**{_WRITES: True}),
    )


def _begin_postgres(milliseconds: int, connection: Connection) -> None:
    if _WRITES in connection.get_execution_options():
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = {milliseconds}")
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({WRITE_LOCK})")
