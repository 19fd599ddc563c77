"""A transaction on a PostgreSQL server that survives the loss of its connection.

A block of code that has half run cannot be run again, but its statements can. So each statement
is kept with its answer. When the connection is lost, a new transaction takes the same locks and
runs the statements again. If the server answers as before, the block has seen nothing that is no
longer true, and its next statement follows as if nothing had happened. If an answer differs,
another process has written meanwhile, and the block ends with an error.

A commit whose answer was lost may have happened. The server knows: each writing transaction asks
for its number when it begins, and the new transaction asks what became of that number. It has the
locks of the lost one by then, so the lost one is no longer under way.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from cleveragents.domain.errors import ConflictError
from cleveragents.infrastructure.database.failures import driver_errors, is_disconnection, state_of
from cleveragents.infrastructure.database.session import (
    GENERATED,
    TRANSACTION_NUMBER,
    DriverConnection,
)
from cleveragents.infrastructure.system import announce_wait

_POLL_SECONDS = 0.2
_FATE = "SELECT txid_status({number})"
_INVALID_PARAMETER = "22023"


class Statement:
    """A statement and its answer; a session reads the answer from it as from a cursor."""

    def __init__(self, transaction: ServerTransaction) -> None:
        self._transaction = transaction
        self._sql = ""
        self._values: Any = None
        self._many = False
        self._rows: list[Any] = []
        self._taken = 0
        self._answer: object = None
        """What a repetition must answer: rows and their number, or the code of an error."""
        self.rowcount = -1

    def execute(self, sql: str, values: Any = None, /) -> None:
        self._sql, self._values = sql, values
        self._transaction.run(self)

    def executemany(self, sql: str, values: Any, /) -> None:
        self._sql, self._values, self._many = sql, values, True
        self._transaction.run(self)

    def fetchall(self) -> list[Any]:
        return self._rows

    def fetchone(self) -> Any:
        self._taken += 1
        return self._rows[self._taken - 1] if self._taken <= len(self._rows) else None

    def close(self) -> None:
        """Does nothing: the driver's cursor has no rows left."""

    def run_on(self, connection: DriverConnection) -> None:
        """Runs it and keeps the answer; an error of the statement itself is one, too."""
        cursor: Any = connection.cursor()
        try:
            if self._many:
                cursor.executemany(self._sql, self._values)
            else:
                cursor.execute(self._sql, self._values)
        except driver_errors() as error:
            if not is_disconnection(error):
                self._answer = state_of(error)
            raise
        self._rows = cursor.fetchall() if cursor.description else []
        self.rowcount = cursor.rowcount
        self._answer = None if GENERATED in self._sql else (self._rows, self.rowcount)

    def is_answered_as_before(self, connection: DriverConnection) -> bool:
        """Runs it again and compares the answers."""
        before = self._answer
        try:
            self.run_on(connection)
        except driver_errors() as error:
            if is_disconnection(error):
                raise
        return self._answer == before


class ServerTransaction:
    """What a session uses like a connection."""

    def __init__(
        self,
        place: str,
        begin: Sequence[str],
        connect: Callable[[], DriverConnection],
        check: Callable[[DriverConnection], None],
        *,
        patience: float,
    ) -> None:
        """Begins nothing yet.

        Args:
            place: Names the database.
            begin: The statements that begin the transaction and take its locks.
            connect: Returns a connection, and closes the one it returned before.
            check: Raises if the database is no longer the one that this program opened.
            patience: How many seconds to wait for a server that went away.
        """
        self._place = place
        self._begin = begin
        self._connect = connect
        self._check = check
        self._patience = patience
        self._deadline = math.inf
        self._losses = 0
        self._connection: DriverConnection | None = None
        self._statements: list[Statement] = []
        self._number: int | None = None
        """The server's number of a writing transaction."""
        self._commits = False
        self._in_doubt: int | None = None
        """The number of the transaction whose commit was sent and not answered."""

    def begin(self) -> None:
        """Begins; if an earlier connection was lost, repeats what was done on it.

        A server that was restarted may not be back yet.
        """
        while True:
            try:
                self._begin_on(self._connect())
            except driver_errors() as error:
                self._endure(error)
            else:
                return

    def run(self, statement: Statement) -> None:
        """Runs a statement, after a loss in a new transaction."""
        while True:
            try:
                statement.run_on(self._open())
            except driver_errors() as error:
                if not is_disconnection(error):
                    self._statements.append(statement)
                self._endure(error)
                self.begin()
            else:
                self._statements.append(statement)
                return

    def commit(self) -> None:
        """Commits exactly once, whether or not the answer arrives."""
        self._commits = True
        try:
            self._commit_on(self._open())
        except driver_errors() as error:
            self._endure(error)
            self.begin()

    def cursor(self) -> Statement:
        return Statement(self)

    def execute(self, sql: str, /) -> Statement:
        statement = Statement(self)
        statement.execute(sql)
        return statement

    def rollback(self) -> None:
        self._open().rollback()

    def close(self) -> None:
        self._open().close()

    def _open(self) -> DriverConnection:
        if self._connection is None:  # pragma: no cover # `begin` is always called first
            raise RuntimeError("The transaction was not begun")
        return self._connection

    def _begin_on(self, connection: DriverConnection) -> None:
        cursor = connection.execute("; ".join(self._begin))
        if self._begin[-1] == TRANSACTION_NUMBER:
            while cursor.nextset():
                pass
            [self._number] = cursor.fetchone()
        self._connection = connection
        if not self._losses:
            return
        self._check(connection)
        if self._in_doubt is not None and _is_committed(connection, self._in_doubt):
            return
        self._in_doubt = None
        for statement in self._statements:
            if not statement.is_answered_as_before(connection):
                raise ConflictError(
                    f"Another process changed {self._place} while the database server was away",
                    hint="Run the command again; nothing was changed",
                    place=self._place,
                )
        if self._commits:
            self._commit_on(connection)

    def _commit_on(self, connection: DriverConnection) -> None:
        self._in_doubt = self._number
        connection.commit()

    def _endure(self, error: Exception) -> None:
        """Raises the error, unless it is a loss and the server may still come back."""
        now, self._losses = time.monotonic(), self._losses + 1
        self._deadline = min(self._deadline, now + self._patience)
        if not is_disconnection(error) or now > self._deadline:
            raise error
        # The first loss is expected after a restart, and a new connection helps.
        if self._losses == 2:
            announce_wait(
                f"The database server does not answer; trying again for {self._patience:g} seconds"
            )
        if self._losses > 1:
            time.sleep(_POLL_SECONDS)


def _is_committed(connection: DriverConnection, number: int) -> bool:
    """Returns what became of a transaction that has ended.

    A server that crashed may not remember the number, or may have given it again, perhaps to
    the transaction that asks.
    """
    connection.execute("SAVEPOINT fate")
    try:
        [fate] = connection.execute(_FATE.format(number=number)).fetchone()
    except driver_errors() as error:
        if state_of(error) != _INVALID_PARAMETER:
            raise
        connection.execute("ROLLBACK TO SAVEPOINT fate")
        return False
    return fate == "committed"
