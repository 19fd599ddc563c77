"""A connection to PostgreSQL that does not wait for an answer for ever."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

import psycopg

from cleveragents.infrastructure.database.session import ANSWER_SECONDS


class LimitedConnection(psycopg.Connection[Any]):
    """Gives up when the server is silent for too long.

    The server has a limit for statements too, but a server that is stopped keeps no limits.
    """

    def wait(self, gen: Any, interval: float = 0.1, *others: Any, **options: Any) -> Any:
        return super().wait(_limited(gen), interval, *others, **options)


def _limited(waiting: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """Does what `waiting` does, which yields when it has to wait.

    It gets a false value back when an interval has passed and nothing has come.
    """
    deadline = time.monotonic() + ANSWER_SECONDS
    try:
        wanted = next(waiting)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() > deadline:
                raise psycopg.OperationalError(
                    f"the server has not answered for {ANSWER_SECONDS:g} seconds"
                )
            wanted = waiting.send(ready)
    except StopIteration as end:
        return end.value
