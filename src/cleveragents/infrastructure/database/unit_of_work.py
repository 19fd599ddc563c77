"""Transactions: `SqlDatabase` opens them, `UnitOfWork` is one."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.system import Clock
from cleveragents.domain.errors import CleverAgentsError, ConflictError, DatabaseError
from cleveragents.domain.plans.events import StoredEvent
from cleveragents.infrastructure.database import repositories, schema, sqlite_file
from cleveragents.infrastructure.database.failures import (
    busy,
    driver_errors,
    translate,
)
from cleveragents.infrastructure.database.location import SqliteLocation, connect_postgres, locate
from cleveragents.infrastructure.database.server_processes import connection_name, holding
from cleveragents.infrastructure.database.server_transaction import ServerTransaction
from cleveragents.infrastructure.database.session import (
    BUSY_SECONDS,
    Begin,
    BeginPostgres,
    BeginSqlite,
    ConnectionPool,
    DatabaseSession,
    DriverConnection,
)
from cleveragents.infrastructure.file_locks import Presence, RunningProcess
from cleveragents.infrastructure.system import this_process

RECONNECT_SECONDS = 60.0
_NOTE = "newest-event"
_DOUBT = "older-database"
_NOTE_BYTES = 100
_NOTE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC


class UnitOfWork(Transaction):
    """The stores of one transaction."""

    def __init__(self, session: DatabaseSession, clock: Clock) -> None:
        events = repositories.EventRepository(session, clock)
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


class NewestEvent:
    """A note in the home of the newest event of the database, to notice an older database.

    Each event has a number that grows, a plan and a time. A database that does not have the
    noted event was restored from a backup, or belongs to another installation. Then sandboxes
    and snapshots that it does not know may be finished work: they are kept until somebody has
    checked them.
    """

    def __init__(self, home: Path) -> None:
        self._note = home / _NOTE
        self._doubt = home / _DOUBT

    def saw(self, event: StoredEvent) -> None:
        """Notes a new event.

        The note is not synced: a power failure may lose it together with what it tells of.
        On a full disk it stays as it is, and a later event is noted.
        """
        text = f"{event.sequence} {event.plan_id}".ljust(_NOTE_BYTES).encode()
        with suppress(OSError):
            descriptor = os.open(self._note, _NOTE_FLAGS, 0o600)
            try:
                os.pwrite(descriptor, text, 0)
            finally:
                os.close(descriptor)

    def compare(self, plan_of: Callable[[int], str | None]) -> None:
        """Notes a doubt if the database does not have the event.

        MUST be called before a new event is noted.

        Args:
            plan_of: Returns the plan of the event with a number, if there is one.
        """
        try:
            number, _, plan_id = self._note.read_text().strip().partition(" ")
            known = plan_of(int(number)) == plan_id
        except (FileNotFoundError, ValueError):
            return
        if not known:
            self._doubt.touch(mode=0o600)

    def is_doubted(self) -> bool:
        """Returns whether a database was used here that did not have the event."""
        return self._doubt.exists()


class _OpenDatabase(NamedTuple):
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

    def __init__(
        self,
        url: str | None,
        home: Path,
        *,
        busy_seconds: float = BUSY_SECONDS,
        reconnect_seconds: float = RECONNECT_SECONDS,
    ) -> None:
        """Opens nothing yet.

        Args:
            url: `sqlite:////absolute/path` or `postgresql+psycopg://…`; None is
                `state.db` in the home directory.
            home: The home directory; it is created, for the user only, if it does not exist.
            busy_seconds: How long to wait for another process's lock.
            reconnect_seconds: How long to wait for a server that went away meanwhile.

        Raises:
            ConfigurationError: The URL cannot be used.
        """
        self._location = locate(url, home)
        self.presence = Presence(
            home, RunningProcess(holder=this_process(), revision=schema.HEAD_REVISION)
        )
        self.newest_event = NewestEvent(home)
        self._busy_seconds = busy_seconds
        self._reconnect_seconds = reconnect_seconds
        self._opened: _OpenDatabase | None = None
        self._opening = threading.Lock()

    @contextmanager
    def transaction(self, *, writes: bool, plans: Sequence[str] = ()) -> Generator[DatabaseSession]:
        """Runs the block in a transaction, which is kept only if it writes and does not raise.

        Args:
            writes: Whether the block writes.
            plans: The plans that it writes about; none means that it may be all of them.
        """
        try:
            with self._opening:
                opened = self._opened = self._opened or self._compared(self._open())
            begin = opened.begin.writing(plans) if writes else opened.begin.reading()
            with ExitStack() as held:
                connection = self._begun(opened, begin, held)
                yield DatabaseSession(connection, is_sqlite=opened.file_in_use is not None)
                if writes:
                    connection.commit()
        except driver_errors() as error:
            raise self._translated(error) from error

    def _compared(self, opened: _OpenDatabase) -> _OpenDatabase:
        """Compares the database, before it is used, with what this home has seen of it."""
        with opened.pool.connection() as connection:
            session = DatabaseSession(connection, is_sqlite=opened.file_in_use is not None)
            self.newest_event.compare(lambda number: _plan_of_event(session, number))
        return opened

    def _begun(
        self, opened: _OpenDatabase, begin: Sequence[str], held: ExitStack
    ) -> DriverConnection:
        """Returns a connection in a new transaction, which `held` gives back."""
        if opened.file_in_use is not None:
            connection = held.enter_context(opened.pool.connection())
            connection.execute("; ".join(begin))
            return connection

        def connect() -> DriverConnection:
            held.close()
            return held.enter_context(opened.pool.connection())

        place = str(self._location)
        check = partial(schema.require_head, place=place)
        patience = self._reconnect_seconds
        transaction = ServerTransaction(place, begin, connect, check, patience=patience)
        transaction.begin()
        return transaction

    def _translated(self, error: Exception) -> CleverAgentsError:
        found = translate(error, str(self._location))
        if isinstance(found, ConflictError):
            return busy(str(self._location), self._others())
        return found

    def _others(self) -> list[str]:
        """Returns the processes that may have the lock that this one waited for."""
        opened = self._opened
        if opened is None or opened.file_in_use is not None:
            return [str(process.holder) for process in self.presence.others()]
        with suppress(*driver_errors()), opened.pool.connection() as connection:
            return [str(process) for process in holding(connection)]
        return []

    def _open(self) -> _OpenDatabase:
        seconds = self._busy_seconds
        # Reading must be possible on a full disk; who takes a lease announces itself again.
        with suppress(DatabaseError):
            self.presence.announce()
        if isinstance(self._location, SqliteLocation):
            path = self._location.path
            file = schema.open_sqlite(path, self.presence, busy_seconds=seconds)
            pool = ConnectionPool(partial(sqlite_file.connect, path, busy_seconds=seconds), file)
            return _OpenDatabase(pool, BeginSqlite(), sqlite_file.take(path))
        name = connection_name(self.presence.holder, schema.HEAD_REVISION)
        connect = partial(connect_postgres, self._location.address, busy_seconds=seconds, name=name)
        begin = BeginPostgres(seconds)
        server = schema.open_postgres(connect, begin, self.presence, str(self._location))
        return _OpenDatabase(ConnectionPool(connect, server), begin, None)

    def close(self) -> None:
        """Closes the connections; the next use opens the database again."""
        with self._opening:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.pool.close()
            if opened.file_in_use is not None:
                sqlite_file.let_go(opened.file_in_use)
        self.presence.withdraw()


def _plan_of_event(session: DatabaseSession, number: int) -> str | None:
    rows = session.rows("SELECT plan_id FROM events WHERE sequence = :number", number=number)
    return rows[0][0] if rows else None


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
    def write(self, *plans: str) -> Generator[UnitOfWork]:
        with self._connections.transaction(writes=True, plans=plans) as session:
            transaction = UnitOfWork(session, self._clock)
            for check in self._on_begin:
                check(transaction)
            yield transaction
        # After the block: what is told must be durable.
        events = transaction.events.added()
        for event in events[-1:]:
            self._connections.newest_event.saw(event)
        for event in events:
            for tell in self._on_event:
                tell(event)

    def is_doubted(self) -> bool:
        return self._connections.newest_event.is_doubted()

    def close(self) -> None:
        """Closes the connections; the next use opens the database again."""
        self._connections.close()
