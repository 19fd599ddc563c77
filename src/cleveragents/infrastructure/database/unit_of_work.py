"""Transactions: `SqlDatabase` opens them, `UnitOfWork` is one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.system import Clock, FaultPoints
from cleveragents.domain.errors import CleverAgentsError, ConflictError, DatabaseError
from cleveragents.domain.plans.events import StoredEvent
from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.infrastructure.database import repositories, schema, sqlite_file
from cleveragents.infrastructure.database.failures import (
    busy,
    driver_errors,
    translate,
)
from cleveragents.infrastructure.database.home_records import HomeRecords
from cleveragents.infrastructure.database.location import SqliteLocation, connect_postgres, locate
from cleveragents.infrastructure.database.server_processes import connected, connection_name
from cleveragents.infrastructure.database.server_transaction import ServerTransaction
from cleveragents.infrastructure.database.session import (
    BUSY_SECONDS,
    BeginPostgres,
    ConnectionPool,
    DatabaseSession,
)
from cleveragents.infrastructure.file_locks import Presence, RunningProcess
from cleveragents.infrastructure.system import NoFaults, this_process

RECONNECT_SECONDS = 60.0
_NO_FAULTS = NoFaults()


def _do_nothing(_: object) -> None:
    return None


class UnitOfWork(Transaction):
    """The stores of one transaction."""

    def __init__(self, session: DatabaseSession, clock: Clock, home_id: str | None = None) -> None:
        """Args: `home_id` is the home directory that new sandboxes belong to."""
        events = repositories.EventRepository(session, clock)
        self.events = events
        self.plans = repositories.PlanRepository(session, events)
        self.sandboxes = repositories.SandboxRepository(session, events)
        self.sandboxes.home_id = home_id
        self.checkpoints = repositories.CheckpointRepository(session, events)
        self.decisions = repositories.DecisionRepository(session, events)
        self.tool_calls = repositories.ToolCallRepository(session, events)
        self.changes = repositories.ChangeRepository(session, events)
        self.operations = repositories.OperationRepository(session, events)
        self.corrections = repositories.CorrectionRepository(session, events)
        self.validations = repositories.ValidationRepository(session, events)
        self.leases = repositories.LeaseRepository(session, events)


class _OpenDatabase(NamedTuple):
    """A database that was checked and can be used."""

    pool: ConnectionPool
    begin: BeginPostgres | None = None
    """What begins a transaction on a server; None is SQLite."""
    file_in_use: tuple[int, int] | None = None
    """Identifies the file of SQLite."""


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
        faults: FaultPoints = _NO_FAULTS,
        relink: Callable[[Path], None] = _do_nothing,
        tell: Callable[[str], None] = _do_nothing,
    ) -> None:
        """Opens nothing yet.

        Args:
            url: `sqlite:////absolute/path` or `postgresql+psycopg://…`; None is
                `state.db` in the home directory.
            home: The home directory; it is created, for the user only, if it does not exist.
            busy_seconds: How long to wait for another process's lock.
            reconnect_seconds: How long to wait for a server that went away meanwhile.
            faults: For `HomeRecords`, like the following two.
            relink: Fixes what is on disk of a home that was moved.
            tell: Gets a sentence when that was done.

        Raises:
            ConfigurationError: The URL cannot be used.
        """
        self._location = locate(url, home)
        self.presence = Presence(
            home, RunningProcess(holder=this_process(), revision=schema.HEAD_REVISION)
        )
        self.home = HomeRecords(home, self.presence, faults=faults, relink=relink, tell=tell)
        self._home = home
        self._busy_seconds = busy_seconds
        self._reconnect_seconds = reconnect_seconds
        self._opened: _OpenDatabase | None = None
        # The first transaction compares the database, which takes transactions too.
        self._opening = threading.RLock()

    @contextmanager
    def transaction(self, *, writes: bool, plans: Sequence[str] = ()) -> Generator[DatabaseSession]:
        """Runs the block in a transaction, which is kept only if it writes and does not raise.

        On a server it begins with the first statement that is waited for.

        Args:
            writes: Whether the block writes.
            plans: The plans that it writes about; none means that it may be all of them.
        """
        try:
            with self._opening:
                if self._opened is None:
                    self._opened = self._open()
                    self._compare()
                opened = self._opened
            with ExitStack() as held:
                if opened.begin is None:
                    connection = held.enter_context(opened.pool.connection())
                    # The driver would begin too late, and not at all before a change of the schema.
                    connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN DEFERRED")
                    yield DatabaseSession(connection)
                else:
                    begin = opened.begin.writing(plans) if writes else opened.begin.reading()
                    connection = self._on_server(opened, begin, held)
                    yield DatabaseSession(None, connection)
                if writes:
                    connection.commit()
        except driver_errors() as error:
            raise self._translated(error) from error

    def _compare(self) -> None:
        """Compares the database, before it is used, with what this home knows of it."""
        try:
            with self.transaction(writes=False) as session:
                settled = self.home.compare(session)
            if not settled:
                self._settle_home()
        except BaseException:
            self._opened = None
            raise

    def _settle_home(self) -> None:
        def write(change: Callable[[DatabaseSession], None]) -> None:
            with self.transaction(writes=True) as session:
                change(session)

        try:
            self.home.settle(write, private=self._is_private())
        except CleverAgentsError:
            # Reading must be possible on a full disk: the next command tries again.
            if self.home.is_elsewhere():
                raise

    def _is_private(self) -> bool:
        """Returns whether no other home can use the database: it is inside this one."""
        location = self._location
        return isinstance(location, SqliteLocation) and (
            self._home.resolve() in location.path.parents
        )

    def _on_server(
        self, opened: _OpenDatabase, begin: Sequence[str], held: ExitStack
    ) -> ServerTransaction:
        """Returns a transaction whose connection `held` gives back."""

        def connect() -> Any:
            held.close()
            return held.enter_context(opened.pool.connection())

        place = str(self._location)
        check = partial(schema.require_head, place=place)
        patience = self._reconnect_seconds
        return ServerTransaction(place, begin, connect, check, patience=patience)

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
            return [str(process) for process in connected(connection, locking=True)]
        return []

    def _open(self) -> _OpenDatabase:
        self.home.admit()
        seconds = self._busy_seconds
        # Reading must be possible on a full disk; who takes a lease announces itself again.
        with suppress(DatabaseError):
            self.presence.announce()
        if isinstance(self._location, SqliteLocation):
            path = self._location.path
            file = schema.open_sqlite(path, self.presence, busy_seconds=seconds)
            pool = ConnectionPool(partial(sqlite_file.connect, path, busy_seconds=seconds), file)
            return _OpenDatabase(pool, file_in_use=sqlite_file.take(path))
        name = connection_name(self.presence.holder, schema.HEAD_REVISION)
        connect = partial(connect_postgres, self._location.address, busy_seconds=seconds, name=name)
        begin = BeginPostgres(seconds)
        server = schema.open_postgres(connect, begin, self.presence, str(self._location))
        return _OpenDatabase(ConnectionPool(connect, server), begin)

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
            yield UnitOfWork(session, self._clock, self._connections.home.id)

    @contextmanager
    def write(self, *plans: str, adds_group: bool = False) -> Generator[UnitOfWork]:
        with self._connections.transaction(writes=True, plans=plans) as session:
            transaction = UnitOfWork(session, self._clock, self._connections.home.id)
            if session.server is not None and adds_group:
                for plan_id in plans:
                    transaction.plans.expect(plan_id)
                    transaction.checkpoints.expect(plan_id)
            for check in self._on_begin:
                check(transaction)
            if session.server is not None:
                session.server.settle()
            yield transaction
        # After the block: what is told must be durable.
        events = transaction.events.added()
        for event in events[-1:]:
            self._connections.home.newest_event.saw(event)
        for event in events:
            for tell in self._on_event:
                tell(event)

    def is_doubted(self) -> bool:
        return self._connections.home.newest_event.is_doubted()

    def trust(self) -> None:
        self._connections.home.newest_event.trust()

    def owns(self, sandbox: SandboxRef) -> bool:
        return sandbox.home_id in (None, self._connections.home.id)

    def close(self) -> None:
        """Closes the connections; the next use opens the database again."""
        self._connections.close()
