"""What the contracts over databases stand on: a sandbox whose path is a database."""

from __future__ import annotations

import sqlite3
import subprocess  # nosec B404 # a program that is killed, on a database made for the test
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from cleveragents.application.ports.sandboxes import SnapshotStore
from cleveragents.domain.sandboxes.sandbox import RestoreReport, SandboxRef
from cleveragents.testing.expectations import expect


@dataclass(frozen=True)
class DatabaseWorkspace:
    """A store, and a sandbox with a database to try it on."""

    sandbox: SandboxRef
    open_store: Callable[[], SnapshotStore]
    """Opens one and the same store anew at each call, as another process would."""

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

    def store(self) -> str:
        return self.open_store().create_checkpoint(self.sandbox).snapshot_id

    def restore(self, snapshot_id: str) -> RestoreReport:
        """Rolls back and reads the report, which must say that all is well."""
        report = self.open_store().rollback_to(self.sandbox, snapshot_id)
        expect(report.differences, ())
        return report


MakeDatabaseWorkspace = Callable[[], DatabaseWorkspace]
