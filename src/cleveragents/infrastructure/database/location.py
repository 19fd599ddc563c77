"""Where the database is, and how a transaction begins there.

A read transaction takes no lock. A write transaction takes its locks at its start.
SQLite has one for the file. In PostgreSQL, a transaction that names its plans locks
only these; one that names none excludes all others. `Begin` has the statements.

Every wait for a server ends: connecting, waiting for a lock, and waiting for an
answer from a server that is stopped, or behind a link that was cut.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from cleveragents.domain.errors import ConfigurationError
from cleveragents.infrastructure.database.session import DriverConnection

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
            return (*self.limits, f"SELECT pg_advisory_xact_lock({WRITE_LOCK})")
        # Always in the same order, or two transactions could wait for each other.
        numbers = sorted({_lock_number(plan) for plan in plans})
        return (
            *self.limits,
            f"SELECT pg_advisory_xact_lock_shared({WRITE_LOCK})",
            *(f"SELECT pg_advisory_xact_lock({WRITE_LOCK}, {number})" for number in numbers),
        )


def _lock_number(plan_id: str) -> int:
    """Returns a signed number of 32 bits; plans that share one only wait for each other."""
    return zlib.crc32(plan_id.encode()) - 2**31


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


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


def connect_postgres(
    address: str, *, busy_seconds: float, name: str = "agents"
) -> DriverConnection:
    """Connects to a server.

    Args:
        address: A URI of libpq; what it says is stronger than the limits here.
        busy_seconds: How long connecting may take.
        name: How the server names this process to others.

    Raises:
        ConfigurationError: The driver is not installed, or does not accept the address.
    """
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict

        from cleveragents.infrastructure.database.limited_connection import LimitedConnection
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"`{_KEY}` names PostgreSQL, but its driver is not installed",
            hint="Run `pip install 'cleveragents[postgres]'`",
            key=_KEY,
        ) from error
    try:
        given = conninfo_to_dict(address)
        limits: dict[str, Any] = {
            "connect_timeout": max(1, round(busy_seconds)),
            # A link that was cut gives no error; these make the system notice.
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "tcp_user_timeout": 15_000,
            # PostgreSQL would cut off the rest.
            "application_name": name[:63],
        }
        missing = {key: value for key, value in limits.items() if key not in given}
        connected: Any = LimitedConnection.connect(address, **missing)
    except psycopg.ProgrammingError as error:
        raise _unusable(str(error).strip()) from error
    return connected


def _unusable(problem: str) -> ConfigurationError:
    return ConfigurationError(
        f"`{_KEY}` cannot be used: {problem}",
        hint="Use `sqlite:////absolute/path.db` or `postgresql+psycopg://user@host/name`",
        key=_KEY,
    )
