"""Where the database is, and how to connect to a server.

Every wait for a server ends: connecting, waiting for a lock, and waiting for an
answer from a server that is stopped, or behind a link that was cut.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from cleveragents.domain.errors import ConfigurationError
from cleveragents.domain.settings.values import concealed_url
from cleveragents.infrastructure.database.session import DriverConnection

_KEY = "core.database-url"
_URL = re.compile(r"([a-z0-9+]+)://(.*)", re.IGNORECASE | re.DOTALL)
_SQLITE = {"sqlite", "sqlite+pysqlite"}
_POSTGRES = {"postgres", "postgresql", "postgresql+psycopg"}
_HOST = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(:\d*)?")


class SqliteLocation(msgspec.Struct, frozen=True):
    """A file."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)


class PostgresLocation(msgspec.Struct, frozen=True):
    """A server. The address is a URI of libpq."""

    address: str

    def __str__(self) -> str:
        return concealed_url(self.address)


Location = SqliteLocation | PostgresLocation


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
        # Transactions begin with a statement, as on SQLite. The driver would forget prepared
        # statements at each rollback, and poolers of connections do not keep them.
        connected: Any = LimitedConnection.connect(
            address, autocommit=True, prepare_threshold=None, **missing
        )
    except psycopg.ProgrammingError as error:
        raise _unusable(str(error).strip()) from error
    return connected


def _unusable(problem: str) -> ConfigurationError:
    return ConfigurationError(
        f"`{_KEY}` cannot be used: {problem}",
        hint="Use `sqlite:////absolute/path.db` or `postgresql+psycopg://user@host/name`",
        key=_KEY,
    )
