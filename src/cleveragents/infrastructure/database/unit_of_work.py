"""Transactions: `SqlDatabase` opens them, `UnitOfWork` is one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.system import Clock
from cleveragents.domain.plans.events import StoredEvent
from cleveragents.domain.plans.plan import Plan
from cleveragents.infrastructure.database import repositories, schema, sqlite_file
from cleveragents.infrastructure.database.engine import (
    BUSY_SECONDS,
    Engines,
    SqliteLocation,
    locate,
    open_postgres,
    open_sqlite,
)
from cleveragents.infrastructure.database.failures import driver_errors_as_ours
from cleveragents.infrastructure.database.session import Session


class UnitOfWork(Transaction):
    """The stores of one transaction."""

    def __init__(self, session: Session, clock: Clock) -> None:
        self._session = session
        self._plans: dict[str, Plan] = {}
        self._events = repositories.EventRepository(session, clock)

    @property
    def plans(self) -> repositories.PlanRepository:
        return repositories.PlanRepository(self._session, self._events, self._plans)

    @property
    def sandboxes(self) -> repositories.SandboxRepository:
        return repositories.SandboxRepository(self._session, self._events)

    @property
    def checkpoints(self) -> repositories.CheckpointRepository:
        return repositories.CheckpointRepository(self._session, self._events)

    @property
    def decisions(self) -> repositories.DecisionRepository:
        return repositories.DecisionRepository(self._session, self._events)

    @property
    def tool_calls(self) -> repositories.ToolCallRepository:
        return repositories.ToolCallRepository(self._session, self._events)

    @property
    def changes(self) -> repositories.ChangeRepository:
        return repositories.ChangeRepository(self._session, self._events)

    @property
    def operations(self) -> repositories.OperationRepository:
        return repositories.OperationRepository(self._session, self._events)

    @property
    def corrections(self) -> repositories.CorrectionRepository:
        return repositories.CorrectionRepository(self._session, self._events)

    @property
    def validations(self) -> repositories.ValidationRepository:
        return repositories.ValidationRepository(self._session, self._events)

    @property
    def leases(self) -> repositories.LeaseRepository:
        return repositories.LeaseRepository(self._session, self._events)

    @property
    def events(self) -> repositories.EventRepository:
        return self._events


class Connections:
    """The connections to the database of one home directory, in SQLite or PostgreSQL.

    The first use opens the database, checks it, and creates or migrates it where
    needed; see `schema` for the errors that this can raise. Threads may share it.
    """

    def __init__(self, url: str | None, home: Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        """Opens nothing yet.

        Args:
            url: `sqlite:////absolute/path` or `postgresql+psycopg://…`; None is
                `state.db` in the home directory.
            home: The home directory; it is created, for the user only, if it does not exist.
            busy_seconds: How long to wait for another process's lock.

        Raises:
            ConfigurationError: The URL cannot be used.
        """
        self._location = locate(url, home)
        self.place = str(self._location)
        """Names the database in messages."""
        self._busy_seconds = busy_seconds
        self._engines: Engines | None = None
        self._file_in_use: tuple[int, int] | None = None
        self._opening = threading.Lock()

    def opened(self) -> Engines:
        with self._opening:
            if self._engines is None:
                self._engines = self._open()
            return self._engines

    def _open(self) -> Engines:
        if isinstance(self._location, SqliteLocation):
            schema.prepare_sqlite(self._location.path, busy_seconds=self._busy_seconds)
            self._file_in_use = sqlite_file.take(self._location.path)
            return open_sqlite(self._location.path, busy_seconds=self._busy_seconds)
        engines = open_postgres(self._location.url, busy_seconds=self._busy_seconds)
        schema.prepare_postgres(engines, self.place)
        return engines

    def close(self) -> None:
        """Closes the connections; the next use opens the database again."""
        with self._opening:
            if self._engines is not None:
                self._engines.dispose()
                self._engines = None
            if self._file_in_use is not None:
                sqlite_file.let_go(self._file_in_use)
                self._file_in_use = None


def _nothing(_: object) -> None:
    """The hook of a database that needs none."""


class SqlDatabase(Database):
    """Opens transactions. Several may share the connections, each with its own hooks."""

    def __init__(
        self,
        connections: Connections,
        clock: Clock,
        *,
        on_begin: Callable[[Transaction], None] = _nothing,
        on_commit: Callable[[Sequence[StoredEvent]], None] = _nothing,
    ) -> None:
        """Opens nothing yet.

        Args:
            connections: Where the transactions run.
            clock: Gives the time of each event.
            on_begin: Called at the start of each write transaction, which has the
                write lock by then. If it raises, nothing is written.
            on_commit: Called with the new events of each write transaction once they
                are durable, and never if it was rolled back. If the process is killed
                before the call, the events stay stored.
        """
        self._connections = connections
        self._clock = clock
        self._on_begin = on_begin
        self._on_commit = on_commit

    @contextmanager
    def read(self) -> Generator[UnitOfWork]:
        with (
            driver_errors_as_ours(self._connections.place),
            self._connections.opened().reading.connect() as connection,
            connection.begin() as transaction,
        ):
            yield self._unit_of_work(connection)
            transaction.rollback()

    @contextmanager
    def write(self) -> Generator[UnitOfWork]:
        with (
            driver_errors_as_ours(self._connections.place),
            self._connections.opened().writing.begin() as connection,
        ):
            transaction = self._unit_of_work(connection)
            self._on_begin(transaction)
            yield transaction
        self._on_commit(transaction.events.added())

    def close(self) -> None:
        """Closes the connections; the next use opens the database again."""
        self._connections.close()

    def _unit_of_work(self, connection: Connection) -> UnitOfWork:
        driver: Any = connection.connection.driver_connection
        session = Session(driver, is_sqlite=connection.dialect.name == "sqlite")
        return UnitOfWork(session, self._clock)
