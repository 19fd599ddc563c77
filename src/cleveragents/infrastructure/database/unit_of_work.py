"""Transactions: `SqlDatabase` opens them, `UnitOfWork` is one."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection

from cleveragents.application.ports import Database, Transaction
from cleveragents.domain.events import StoredEvent
from cleveragents.domain.plan import Plan
from cleveragents.infrastructure.database import repositories, schema, sqlite_file
from cleveragents.infrastructure.database.engine import (
    BUSY_SECONDS,
    Engines,
    SqliteLocation,
    locate,
    open_postgres,
    open_sqlite,
)
from cleveragents.infrastructure.database.failures import translated


class UnitOfWork(Transaction):
    """The stores of one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._plans: dict[str, Plan] = {}
        self._happened: list[StoredEvent] = []

    @property
    def plans(self) -> repositories.PlanRepository:
        return repositories.PlanRepository(self._connection, self.events, self._plans)

    @property
    def sandboxes(self) -> repositories.SandboxRepository:
        return repositories.SandboxRepository(self._connection, self.events)

    @property
    def checkpoints(self) -> repositories.CheckpointRepository:
        return repositories.CheckpointRepository(self._connection, self.events)

    @property
    def decisions(self) -> repositories.DecisionRepository:
        return repositories.DecisionRepository(self._connection, self.events)

    @property
    def tool_calls(self) -> repositories.ToolCallRepository:
        return repositories.ToolCallRepository(self._connection, self.events)

    @property
    def changes(self) -> repositories.ChangeRepository:
        return repositories.ChangeRepository(self._connection)

    @property
    def operations(self) -> repositories.OperationRepository:
        return repositories.OperationRepository(self._connection, self.events)

    @property
    def corrections(self) -> repositories.CorrectionRepository:
        return repositories.CorrectionRepository(self._connection)

    @property
    def validations(self) -> repositories.ValidationRepository:
        return repositories.ValidationRepository(self._connection, self.events)

    @property
    def leases(self) -> repositories.LeaseRepository:
        return repositories.LeaseRepository(self._connection)

    @property
    def events(self) -> repositories.EventRepository:
        return repositories.EventRepository(self._connection, self._happened)


class SqlDatabase(Database):
    """The database of one home directory, in SQLite or PostgreSQL.

    It is opened, checked, and where needed created or migrated, at its first
    use; see `schema` for the errors that this can raise. Threads may share it.
    """

    def __init__(self, url: str | None, home: Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        """Opens nothing yet.

        Args:
            url: `sqlite:////absolute/path` or `postgresql+psycopg://…`; None is
                `state.db` in the home directory.
            home: The home directory; it is made, for the user only, if it is not there.
            busy_seconds: How long another process's lock is waited for.

        Raises:
            ConfigurationError: The URL cannot be used.
        """
        self._location = locate(url, home)
        self._busy_seconds = busy_seconds
        self._engines: Engines | None = None
        self._taken: tuple[int, int] | None = None
        self._opening = threading.Lock()

    @contextmanager
    def read(self) -> Generator[UnitOfWork]:
        with (
            translated(str(self._location)),
            self._opened().reading.connect() as connection,
            connection.begin() as transaction,
        ):
            yield UnitOfWork(connection)
            transaction.rollback()

    @contextmanager
    def write(self) -> Generator[UnitOfWork]:
        with translated(str(self._location)), self._opened().writing.begin() as connection:
            yield UnitOfWork(connection)

    def prepare(self) -> None:
        dialect = self._opened().reading.dialect
        for statement in repositories.FOR_CHECKPOINTS:
            statement.prepare(dialect)

    def close(self) -> None:
        """Gives the connections back; the next use opens it again."""
        with self._opening:
            if self._engines is not None:
                self._engines.dispose()
                self._engines = None
            if self._taken is not None:
                sqlite_file.let_go(self._taken)
                self._taken = None

    def _opened(self) -> Engines:
        with self._opening:
            if self._engines is None:
                self._engines = self._open()
            return self._engines

    def _open(self) -> Engines:
        if isinstance(self._location, SqliteLocation):
            schema.prepare_sqlite(self._location.path, busy_seconds=self._busy_seconds)
            self._taken = sqlite_file.take(self._location.path)
            return open_sqlite(self._location.path, busy_seconds=self._busy_seconds)
        engines = open_postgres(self._location.url, busy_seconds=self._busy_seconds)
        schema.prepare_postgres(engines, str(self._location))
        return engines
