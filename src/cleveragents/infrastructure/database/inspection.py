"""Examines a database without creating, migrating or changing it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from cleveragents.application.ports.maintenance import DatabaseInspection
from cleveragents.domain.health.health import DatabaseFacts
from cleveragents.infrastructure.database import schema, sqlite_file
from cleveragents.infrastructure.database.failures import driver_errors, translate
from cleveragents.infrastructure.database.location import PostgresLocation, connect_postgres, locate
from cleveragents.infrastructure.database.session import BUSY_SECONDS

_MOST_FAULTS = 10


class SqlInspection(DatabaseInspection):
    """Examines the database of one home directory, in SQLite or PostgreSQL."""

    def __init__(self, url: str | None, home: Path) -> None:
        """Raises ConfigurationError when the URL cannot be used; opens nothing yet."""
        self._location = locate(url, home)

    def place(self) -> str:
        return str(self._location)

    def is_shared(self) -> bool:
        return isinstance(self._location, PostgresLocation)

    def look(self) -> DatabaseFacts | None:
        try:
            if isinstance(self._location, PostgresLocation):
                return _examine_server(self._location)
            path = self._location.path
            return _examine_file(path) if sqlite_file.is_ours(path) else None
        except driver_errors() as error:
            raise translate(error, self.place()) from error


def _examine_file(path: Path) -> DatabaseFacts:
    with closing(sqlite_file.connect(path, busy_seconds=BUSY_SECONDS)) as connection:
        revision = schema.revision_in_sqlite(connection, path)
        return _facts("SQLite", revision, _faults(connection))


def _faults(connection: sqlite3.Connection) -> tuple[str, ...]:
    said = [str(line) for (line,) in connection.execute(f"PRAGMA quick_check({_MOST_FAULTS})")]
    if said != ["ok"]:
        return tuple(said)
    lost = connection.execute("PRAGMA foreign_key_check").fetchmany(_MOST_FAULTS)
    tables = dict.fromkeys((str(row[0]), str(row[2])) for row in lost)
    return tuple(
        f"rows of `{here}` refer to rows of `{there}` that are gone" for here, there in tables
    )


def _examine_server(location: PostgresLocation) -> DatabaseFacts | None:
    """Reports no faults: a server checks the integrity of its files itself."""
    with closing(connect_postgres(location.address, busy_seconds=BUSY_SECONDS)) as connection:
        revision = schema.revision_in_postgres(connection, str(location))
    return None if revision is None else _facts("PostgreSQL", revision, ())


def _facts(kind: str, revision: str, faults: tuple[str, ...]) -> DatabaseFacts:
    return DatabaseFacts(kind=kind, revision=revision, expected=schema.HEAD_REVISION, faults=faults)
