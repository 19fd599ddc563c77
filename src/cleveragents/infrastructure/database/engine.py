"""Where the database is, and how a transaction begins there.

A read transaction takes no lock. A write transaction takes the write lock at its
start: SQLite's own, or one advisory lock in PostgreSQL, so that writers take
turns on both. `Begin` holds the statements that do this.

The engines of SQLAlchemy serve the migrations, the inspection and, for PostgreSQL,
the pool of connections.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sqlalchemy import URL, Engine, NullPool, create_engine, make_url
from sqlalchemy.exc import ArgumentError

from cleveragents.domain.errors import ConfigurationError
from cleveragents.infrastructure.database import sqlite_file

BUSY_SECONDS = 10.0
"""How long to wait for a lock."""

WRITE_LOCK = 0x436C4167
"""The advisory lock that a write transaction holds in PostgreSQL."""

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
class Begin:
    """The statements that begin a transaction."""

    reading: tuple[str, ...]
    writing: tuple[str, ...]


# The driver's own transaction handling is off: it would begin too late, and not at all
# before a change of the schema.
BEGIN_SQLITE = Begin(reading=("BEGIN DEFERRED",), writing=("BEGIN IMMEDIATE",))


def begin_postgres(busy_seconds: float) -> Begin:
    """Returns the first statements of a transaction that psycopg has begun by itself."""
    return Begin(
        # Without this, each statement would see what others have committed meanwhile.
        reading=("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",),
        writing=(
            f"SET LOCAL lock_timeout = {round(busy_seconds * 1000)}",
            f"SELECT pg_advisory_xact_lock({WRITE_LOCK})",
        ),
    )


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


def open_for_migration(path: Path, *, busy_seconds: float) -> Engine:
    """Returns an engine for an existing SQLite file; nothing is opened yet.

    Foreign keys are off: SQLite can change a table only by creating it again, and
    dropping the old one would delete the rows that refer to it.
    """
    creator = partial(sqlite_file.connect, path, busy_seconds=busy_seconds, foreign_keys=False)
    return create_engine("sqlite://", creator=creator, poolclass=NullPool)


def open_postgres(url: URL, *, busy_seconds: float) -> Engine:
    """Returns an engine for a server; nothing is connected yet.

    Raises:
        ConfigurationError: The driver is not installed.
    """
    try:
        return create_engine(url, connect_args={"connect_timeout": max(1, round(busy_seconds))})
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"`{_KEY}` names PostgreSQL, but its driver is not installed",
            hint="Run `pip install 'cleveragents[postgres]'`",
            key=_KEY,
        ) from error
