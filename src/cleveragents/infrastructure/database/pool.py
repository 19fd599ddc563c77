"""Keeps connections open between transactions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

from cleveragents.infrastructure.database.failures import driver_errors
from cleveragents.infrastructure.database.session import DriverConnection


class ConnectionPool:
    """Lends each connection to one transaction at a time; opens one when none is idle."""

    def __init__(self, connect: Callable[[], DriverConnection], *opened: DriverConnection) -> None:
        """Args: `opened` are connections that the pool takes over."""
        self._connect = connect
        self._idle = list(opened)
        self._lock = threading.Lock()

    @contextmanager
    def connection(self) -> Generator[DriverConnection]:
        """Lends a connection, and rolls back what the block did not commit."""
        with self._lock:
            idle = self._idle.pop() if self._idle else None
        connection = idle or self._connect()
        try:
            yield connection
        finally:
            self._take_back(connection)

    def _take_back(self, connection: DriverConnection) -> None:
        try:
            connection.rollback()
        except driver_errors():
            # The server ended, or its connection broke; the next transaction opens another.
            connection.close()
            return
        with self._lock:
            self._idle.append(connection)

    def close(self) -> None:
        """Closes the idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
