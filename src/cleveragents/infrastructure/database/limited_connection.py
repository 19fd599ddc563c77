"""A connection to PostgreSQL that waits for as few answers as possible, and for none for ever."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack, suppress
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.waiting import Wait

from cleveragents.infrastructure.database.session import ANSWER_SECONDS


class LimitedConnection(psycopg.Connection[Any]):
    """Gives up when the server is silent for too long.

    The server has a limit for statements too, but a server that is stopped keeps no limits.
    """

    _left: ExitStack | None = None
    """Ends the message with a ROLLBACK whose answer nobody has read."""
    _reads = True
    """Whether `wait` waits for answers too."""

    def together(self, statements: Iterable[Callable[[], object]]) -> None:
        """Sends several statements in one message, and waits once for all answers.

        Each callable executes one. After one that fails, the server runs no other.
        """
        message, self._left = self._left, None
        if message is None:
            message = ExitStack()
            message.enter_context(self.pipeline())
        failed: psycopg.Error | None = None
        try:
            for execute in statements:
                execute()
        except psycopg.Error as error:
            failed = error
        try:
            message.close()
        except psycopg.Error as error:
            failed = failed or error
        if failed is not None:
            raise failed

    def rollback(self) -> None:
        """Ends the transaction; does not wait, since nobody needs the answer.

        Raises:
            psycopg.OperationalError: The connection cannot be used any more.
        """
        if not self.autocommit:
            # SQLAlchemy uses it, which knows nothing of open messages.
            super().rollback()
            return
        status = self.pgconn.transaction_status
        if self._left is not None or status == TransactionStatus.IDLE:
            return
        if status not in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
            raise psycopg.OperationalError("the connection was lost, or left in the middle")
        self._left = ExitStack()
        pipeline = self._left.enter_context(self.pipeline())
        self.execute("ROLLBACK")
        self._reads = False
        try:
            pipeline.sync()
        finally:
            self._reads = True

    def close(self) -> None:
        if self._left is not None:
            with suppress(psycopg.Error):
                self._left.close()
        super().close()

    def wait(self, gen: Any, interval: float = 0.1, *others: Any, **options: Any) -> Any:
        return super().wait(_limited(gen, reads=self._reads), interval, *others, **options)


def _limited(waiting: Generator[Any, Any, Any], *, reads: bool) -> Generator[Any, Any, Any]:
    """Does what `waiting` does, which yields when it has to wait.

    It gets a false value back when an interval has passed and nothing has come. If it `reads`
    nothing, it ends when all is sent.
    """
    deadline = time.monotonic() + ANSWER_SECONDS
    try:
        wanted = next(waiting)
        while reads or wanted != Wait.R:
            ready = yield wanted
            if not ready and time.monotonic() > deadline:
                raise psycopg.OperationalError(
                    f"the server has not answered for {ANSWER_SECONDS:g} seconds"
                )
            wanted = waiting.send(ready)
    except StopIteration as end:
        return end.value
    waiting.close()
    return None
