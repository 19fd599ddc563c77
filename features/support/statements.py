"""What SQLite is asked to do, as it sees it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Pool, event


@contextmanager
def counted() -> Iterator[list[str]]:
    """Collects each statement that connections opened within the block run."""
    done: list[str] = []

    def connected(connection: sqlite3.Connection, _: object) -> None:
        connection.set_trace_callback(done.append)

    event.listen(Pool, "connect", connected)
    try:
        yield done
    finally:
        event.remove(Pool, "connect", connected)
