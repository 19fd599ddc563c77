"""A transaction on a PostgreSQL server: it takes few round trips, and survives a lost connection.

Statements are collected, and sent in one message when somebody wants to know an answer.

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
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from cleveragents.domain.errors import ConflictError
from cleveragents.infrastructure.database.failures import driver_errors, is_disconnection, state_of
from cleveragents.infrastructure.database.session import (
    GENERATED,
    TRANSACTION_NUMBER,
    DriverConnection,
)
from cleveragents.infrastructure.system import announce_wait

_POLL_SECONDS = 0.2
_COMMIT = "COMMIT"
_FATE = "SELECT txid_status({number})"
_INVALID_PARAMETER = "22023"


class ServerConnection(DriverConnection, Protocol):
    """A connection that sends several statements in one message."""

    def together(self, statements: Iterable[Callable[[], object]]) -> None: ...


class Statement:
    """A statement and its answer; a session reads the answer from it as from a cursor."""

    def __init__(
        self,
        sql: str,
        sets: Sequence[Mapping[str, object]] = (),
        settle: Callable[[], None] = lambda: None,
    ) -> None:
        """Args: `settle` gets the answer, if there is none yet."""
        self.is_generated = GENERATED in sql
        self.is_answered = False
        self._sql = sql
        self._sets = sets
        self._settle = settle
        self._rows: list[Any] = []
        self._changed = -1
        self._taken = 0
        self._answer: object = None
        """What a repetition must answer: rows and their number, or the code of an error."""

    @property
    def rowcount(self) -> int:
        self._wait()
        return self._changed

    def fetchall(self) -> list[Any]:
        self._wait()
        return self._rows

    def fetchone(self) -> Any:
        self._wait()
        self._taken += 1
        return self._rows[self._taken - 1] if self._taken <= len(self._rows) else None

    def close(self) -> None:
        """Does nothing: the driver's cursor has no rows left."""

    def send(self, connection: DriverConnection, cursors: list[Any]) -> None:
        """Sends it, and adds the driver's cursor that will have the answer."""
        cursor: Any = connection.cursor()
        if len(self._sets) > 1:
            cursor.executemany(self._sql, self._sets)
        else:
            cursor.execute(self._sql, self._sets[0] if self._sets else None)
        cursors.append(cursor)

    def take(self, cursor: Any) -> None:
        """Keeps the answer."""
        self.is_answered = True
        self._rows = cursor.fetchall() if cursor.description else []
        self._changed = cursor.rowcount
        self._answer = None if self.is_generated else (self._rows, self._changed)

    def fail(self, error: Exception) -> None:
        """Keeps the error, which is an answer too."""
        self.is_answered = True
        self._answer = state_of(error)

    def is_answered_as_before(self, connection: DriverConnection) -> bool:
        """Runs it again and compares the answers."""
        before = self._answer
        cursors: list[Any] = []
        try:
            self.send(connection, cursors)
            self.take(cursors[0])
        except driver_errors() as error:
            if is_disconnection(error):
                raise
            self.fail(error)
        return self._answer == before

    def _wait(self) -> None:
        if not self.is_answered:
            self._settle()


class ServerTransaction:
    """Collects statements, and sends them when an answer is needed."""

    def __init__(
        self,
        place: str,
        begin: Sequence[str],
        connect: Callable[[], ServerConnection],
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
        self._connection: ServerConnection | None = None
        self._answered: list[Statement] = []
        self._unsent: list[Statement] = []
        self._number: int | None = None
        """The server's number of a writing transaction."""
        self._commits = False
        self._in_doubt: int | None = None
        """The number of the transaction whose commit was sent and not answered."""

    def run(self, sql: str, sets: Sequence[Mapping[str, object]]) -> Statement:
        """Returns a statement, which is sent with the next that somebody waits for."""
        statement = Statement(sql, sets, self.settle)
        self._unsent.append(statement)
        return statement

    def settle(self) -> None:
        """Sends what was not sent yet, and waits for the answers.

        Begins first where needed. After a loss, repeats in a new transaction what was done in the
        lost one. A server that was restarted may not be back yet.
        """
        while self._connection is None or self._unsent:
            try:
                self._send()
            except driver_errors() as error:
                self._endure(error)
                self._connection = None

    def commit(self) -> None:
        """Commits exactly once, whether or not the answer arrives."""
        # The answer to a commit can be asked for again, but not a value that was generated.
        if self._connection is None or any(item.is_generated for item in self._unsent):
            self.settle()
        self._commits = True
        self.run(_COMMIT, ())
        self.settle()

    def _send(self) -> None:
        opening: list[Statement] = []
        connection = self._connection
        if connection is None:
            connection = self._connect()
            opening = [Statement(sql) for sql in self._begin]
            if self._losses:
                _exchange(connection, opening)
                self._note_number(opening)
                if self._is_repeated(connection):
                    self._connection, self._unsent = connection, []
                    return
                opening = []
        # An error of a statement need not end the transaction.
        self._connection = connection
        if self._commits:
            self._in_doubt = self._number
        sent, self._unsent = self._unsent, []
        try:
            _exchange(connection, [*opening, *sent])
        except driver_errors() as error:
            if is_disconnection(error):
                self._unsent = sent
            raise
        finally:
            self._answered += [statement for statement in sent if statement.is_answered]
        self._note_number(opening)

    def _note_number(self, opening: Sequence[Statement]) -> None:
        if opening and TRANSACTION_NUMBER in self._begin[-1]:
            [*_, self._number] = opening[-1].fetchone()

    def _is_repeated(self, connection: ServerConnection) -> bool:
        """Repeats what was answered; returns whether the lost transaction was committed."""
        self._check(connection)
        if self._in_doubt is not None and _is_committed(connection, self._in_doubt):
            return True
        self._in_doubt = None
        for statement in self._answered:
            if not statement.is_answered_as_before(connection):
                raise ConflictError(
                    f"Another process changed {self._place} while the database server was away",
                    hint="Run the command again; nothing was changed",
                    place=self._place,
                )
        return False

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


def _exchange(connection: ServerConnection, statements: Sequence[Statement]) -> None:
    """Sends the statements in one message and keeps the answers, up to one that is an error."""
    cursors: list[Any] = []
    try:
        connection.together(
            [partial(statement.send, connection, cursors) for statement in statements]
        )
    except driver_errors() as error:
        if not is_disconnection(error):
            for statement, cursor in zip(statements, cursors, strict=False):
                if cursor.pgresult is None:
                    statement.fail(error)
                    break
                statement.take(cursor)
        raise
    for statement, cursor in zip(statements, cursors, strict=True):
        statement.take(cursor)


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
