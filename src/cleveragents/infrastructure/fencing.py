"""Keeps a process that was replaced from writing (docs/adr/0013-leases-and-fencing.md)."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager

from cleveragents.application.ports import Database, Transaction
from cleveragents.infrastructure.locks import DatabaseLocks


class FencedDatabase(Database):
    """The database for everything but the leases themselves.

    A writing transaction begins by looking whether the leases of this process are
    still its own. It has the write lock then, so nobody can take them over before
    what it writes is stored.
    """

    def __init__(self, database: Database, locks: DatabaseLocks) -> None:
        self._database = database
        self._locks = locks

    def read(self) -> AbstractContextManager[Transaction]:
        return self._database.read()

    def prepare(self) -> None:
        self._database.prepare()

    @contextmanager
    def write(self) -> Generator[Transaction]:
        with self._database.write() as transaction:
            self._locks.verify(transaction)
            yield transaction
