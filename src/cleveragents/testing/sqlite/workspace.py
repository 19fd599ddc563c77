"""What the contracts over databases stand on: a sandbox whose path is a database."""

from __future__ import annotations

import sqlite3
import subprocess  # nosec B404 # a program that is killed, on a database made for the test
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from cleveragents.testing.workspace import StoreWorkspace


class DatabaseWorkspace(StoreWorkspace):
    """A store, and a sandbox with a database to test it on."""

    @property
    def path(self) -> Path:
        return Path(self.sandbox.path)

    def run(self, *statements: str) -> list[tuple[object, ...]]:
        """Executes statements, each a transaction, and returns the rows of the last."""
        rows: list[tuple[object, ...]] = []
        with closing(self.connect()) as connection:
            for statement in statements:
                rows = connection.execute(statement).fetchall()
        return rows

    def connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, isolation_level=None, timeout=5)

    def die(self, program: str) -> None:
        """Runs a program on the database that kills itself."""
        subprocess.run([sys.executable, "-c", program, self.path], check=False)  # nosec B603

    def dump(self) -> list[str]:
        with closing(self.connect()) as connection:
            return list(connection.iterdump())


MakeDatabaseWorkspace = Callable[[], DatabaseWorkspace]
