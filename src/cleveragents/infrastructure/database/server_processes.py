"""Which processes of CleverAgents are connected to a PostgreSQL server.

Each connection has a name that the server shows to everybody who may connect. So nothing has
to be stored or held, and it works through a pooler of connections as well.
"""

from __future__ import annotations

from typing import NamedTuple

from cleveragents.domain.plans.lease import Holder
from cleveragents.infrastructure.database.session import DriverConnection

_PROGRAM = "agents"
_OTHERS = (
    "SELECT DISTINCT application_name FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
_LOCKING = " AND pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted)"


class ServerProcess(NamedTuple):
    """A process as the name of its connection describes it."""

    revision: str
    """The schema that its program knows."""
    process_id: int
    host: str

    def __str__(self) -> str:
        return f"process {self.process_id} on {self.host}"


def connection_name(holder: Holder, revision: str) -> str:
    return f"{_PROGRAM} {revision} {holder.process_id} {holder.host}"


def connected(connection: DriverConnection, *, locking: bool = False) -> list[ServerProcess]:
    """Returns the processes that are connected to this database, by other connections.

    With `locking`, these are only those that hold a lock for writing.
    """
    found: list[ServerProcess] = []
    for (name,) in connection.execute(_OTHERS + _LOCKING * locking).fetchall():
        program, *parts = str(name).split(" ", 3)
        if program == _PROGRAM and len(parts) == 3 and parts[1].isdecimal():
            found.append(ServerProcess(parts[0], int(parts[1]), parts[2]))
    return sorted(found)
