"""Transactions: `SqlDatabase` opens them, `UnitOfWork` is one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.system import Clock
from cleveragents.domain.errors import DatabaseError
from cleveragents.domain.plans.events import StoredEvent
from cleveragents.infrastructure.database import repositories, schema, sqlite_file
from cleveragents.infrastructure.database.failures import driver_errors, translate
from cleveragents.infrastructure.database.location import (
    BEGIN_SQLITE,
    BUSY_SECONDS,
    Begin,
    SqliteLocation,
    begin_postgres,
    connect_postgres,
    locate,
)
from cleveragents.infrastructure.database.pool import ConnectionPool
from cleveragents.infrastructure.database.session import DatabaseSession
from cleveragents.infrastructure.presence import Presence, RunningProcess
from cleveragents.infrastructure.system import this_process


class UnitOfWork(Transaction):
    """The stores of one transaction."""

    def __init__(self, session: DatabaseSession, clock: Clock) -> None:
        self.new_events: list[StoredEvent] = []
        """The events that this transaction has stored so far."""
        events = repositories.EventRepository(session, clock, self.new_events)
        self.events = events
        self.plans = repositories.PlanRepository(session, events)
        self.sandboxes = repositories.SandboxRepository(session, events)
        self.checkpoints = repositories.CheckpointRepository(session, events)
        self.decisions = repositories.DecisionRepository(session, events)
        self.tool_calls = repositories.ToolCallRepository(session, events)
        self.changes = repositories.ChangeRepository(session, events)
        self.operations = repositories.OperationRepository(session, events)
        self.corrections = repositories.CorrectionRepository(session, events)
        self.validations = repositories.ValidationRepository(session, events)
        self.leases = repositories.LeaseRepository(session, events)


@dataclass(frozen=True)
class _Opened:
    """A database that was checked and can be used."""

    pool: ConnectionPool
    begin: Begin
    file_in_use: tuple[int, int] | None
    """Identifies the file of SQLite; None is PostgreSQL."""


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
        self.presence = Presence(
            home, RunningProcess(holder=this_process(), revision=schema.HEAD_REVISION)
        )
        self._busy_seconds = busy_seconds
        self._opened: _Opened | None = None
        self._opening = threading.Lock()

    @contextmanager
    def transaction(self, *, writes: bool) -> Generator[DatabaseSession]:
        """Runs the block in a transaction, which is kept only if it writes and does not raise."""
        try:
            with self._opening:
                opened = self._opened = self._opened or self._open()
            with opened.pool.connection() as connection:
                for statement in opened.begin.writing if writes else opened.begin.reading:
                    connection.execute(statement)
                yield DatabaseSession(connection, is_sqlite=opened.file_in_use is not None)
                if writes:
                    connection.commit()
        except driver_errors() as error:
            raise translate(error, str(self._location)) from error

    def _open(self) -> _Opened:
        seconds = self._busy_seconds
        # Reading must be possible on a full disk; who takes a lease announces itself again.
        with suppress(DatabaseError):
            self.presence.announce()
        if isinstance(self._location, SqliteLocation):
            path = self._location.path
            file = schema.open_sqlite(path, busy_seconds=seconds)
            pool = ConnectionPool(partial(sqlite_file.connect, path, busy_seconds=seconds), file)
            return _Opened(pool, BEGIN_SQLITE, sqlite_file.take(path))
        connect = partial(connect_postgres, self._location.address, busy_seconds=seconds)
        begin = begin_postgres(seconds)
        server = schema.open_postgres(connect, begin, str(self._location))
        return _Opened(ConnectionPool(connect, server), begin, None)

    def close(self) -> None:
        """Closes the connections; the next use opens the database again."""
        with self._opening:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.pool.close()
            if opened.file_in_use is not None:
                sqlite_file.let_go(opened.file_in_use)
        self.presence.withdraw()


class SqlDatabase(Database):
    """Opens transactions. Several may share the connections, each with its own hooks."""

    def __init__(
        self,
        connections: Connections,
        clock: Clock,
        *,
        on_begin: Sequence[Callable[[Transaction], None]] = (),
        on_event: Sequence[Callable[[StoredEvent], None]] = (),
    ) -> None:
        """Opens nothing yet.

        Args:
            connections: Where the transactions run.
            clock: Gives the time of each event.
            on_begin: Called at the start of each write transaction, which has the
                write lock by then. If one raises, nothing is written.
            on_event: Called with each new event of a write transaction once all are
                durable, and never if it was rolled back. If the process is killed
                before the call, the events stay stored.
        """
        self._connections = connections
        self._clock = clock
        self._on_begin = on_begin
        self._on_event = on_event

    @contextmanager
    def read(self) -> Generator[UnitOfWork]:
        with self._connections.transaction(writes=False) as session:
            yield UnitOfWork(session, self._clock)

    @contextmanager
    def write(self) -> Generator[UnitOfWork]:
        with self._connections.transaction(writes=True) as session:
            transaction = UnitOfWork(session, self._clock)
            for check in self._on_begin:
                check(transaction)
            yield transaction
        # After the block: what is told must be durable.
        for event in transaction.new_events:
            for tell in self._on_event:
                tell(event)

    def close(self) -> None:
        """Closes the connections; the next use opens the database again."""
        self._connections.close()
