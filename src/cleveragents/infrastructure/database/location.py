"""Where the database is, and how a transaction begins there.

A read transaction takes no lock. A write transaction takes the write lock at its
start: SQLite's own, or one advisory lock in PostgreSQL, so that writers take
turns on both. `Begin` holds the statements that do this.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cleveragents.domain.errors import ConfigurationError
from cleveragents.infrastructure.database.session import DriverConnection

BUSY_SECONDS = 10.0
"""How long to wait for a lock."""

WRITE_LOCK = 0x436C4167
"""The advisory lock that a write transaction holds in PostgreSQL."""

_KEY = "core.database-url"
_URL = re.compile(r"([a-z0-9+]+)://(.*)", re.IGNORECASE | re.DOTALL)
_SQLITE = {"sqlite", "sqlite+pysqlite"}
_POSTGRES = {"postgres", "postgresql", "postgresql+psycopg"}
_HOST = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(:\d*)?")
_PASSWORDS = re.compile(r"(?<=:)[^@/?]*(?=@)|(?<=[?&]password=)[^&]*")


@dataclass(frozen=True)
class SqliteLocation:
    """A file."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True)
class PostgresLocation:
    """A server. The address is a URI of libpq."""

    address: str

    def __str__(self) -> str:
        scheme, _, rest = self.address.partition("://")
        return f"{scheme}://{_PASSWORDS.sub('***', rest)}"


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
    found = _URL.fullmatch(url)
    if found is None:
        raise _unusable("it is not a database URL")
    scheme, rest = found[1], found[2]
    if scheme in _POSTGRES:
        hosts = re.split(r"[/?]", rest)[0].rpartition("@")[2]
        if not all(_HOST.fullmatch(host) for host in hosts.split(",")):
            raise _unusable("it is not a database URL")
        return PostgresLocation(f"postgresql://{rest}")
    if scheme not in _SQLITE:
        raise _unusable(f"`{scheme}` is not supported")
    # After the empty name of the host: `/` and the absolute path.
    if not rest.startswith("//") or "?" in rest:
        raise _unusable("a SQLite URL must name a file by its absolute path, and nothing else")
    return SqliteLocation(Path(rest[1:]).resolve())


def connect_postgres(address: str, *, busy_seconds: float) -> DriverConnection:
    """Connects to a server.

    Raises:
        ConfigurationError: The driver is not installed, or does not accept the address.
    """
    try:
        import psycopg
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"`{_KEY}` names PostgreSQL, but its driver is not installed",
            hint="Run `pip install 'cleveragents[postgres]'`",
            key=_KEY,
        ) from error
    try:
        connected: Any = psycopg.connect(address, connect_timeout=max(1, round(busy_seconds)))
    except psycopg.ProgrammingError as error:
        raise _unusable(str(error).strip()) from error
    return connected


def _unusable(problem: str) -> ConfigurationError:
    return ConfigurationError(
        f"`{_KEY}` cannot be used: {problem}",
        hint="Use `sqlite:////absolute/path.db` or `postgresql+psycopg://user@host/name`",
        key=_KEY,
    )
