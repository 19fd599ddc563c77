"""Tells what has happened, once it is stored."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager

from cleveragents.application.ports import Database, EventSink, Transaction


class AnnouncingDatabase(Database):
    """A database whose new events go to a sink when their transaction is durable.

    Never before, and never if it was undone: whoever listens hears exactly what
    is stored. A kill in between loses the announcement, not the event.
    """

    def __init__(self, database: Database, sink: EventSink) -> None:
        self._database = database
        self._sink = sink

    def read(self) -> AbstractContextManager[Transaction]:
        return self._database.read()

    def prepare(self) -> None:
        self._database.prepare()

    @contextmanager
    def write(self) -> Generator[Transaction]:
        with self._database.write() as transaction:
            yield transaction
        for event in transaction.events.added():
            self._sink.emit(event)
