"""Notes in the home which event of the database was the newest, to notice an older database.

Each event has a number that grows, a plan and a time. A database that does not have the noted
event was restored from a backup, or belongs to another installation. Then sandboxes and
snapshots that it does not know may be finished work: they are kept until somebody has looked.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from cleveragents.domain.plans.events import StoredEvent

_NOTE = "newest-event"
_DOUBT = "older-database"
_BYTES = 100
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC


class NewestEvent:
    """The note of one home."""

    def __init__(self, home: Path) -> None:
        self._note = home / _NOTE
        self._doubt = home / _DOUBT

    def saw(self, event: StoredEvent) -> None:
        """Notes a new event.

        The note is not synced: a power failure may lose it together with what it tells of.
        On a full disk it stays as it is, and a later event is noted.
        """
        text = f"{event.sequence} {event.plan_id}".ljust(_BYTES).encode()
        with suppress(OSError):
            descriptor = os.open(self._note, _FLAGS, 0o600)
            try:
                os.pwrite(descriptor, text, 0)
            finally:
                os.close(descriptor)

    def compare(self, plan_of: Callable[[int], str | None]) -> None:
        """Notes a doubt if the database does not have the event.

        MUST be called before a new event is noted.

        Args:
            plan_of: Returns the plan of the event with a number, if there is one.
        """
        try:
            number, _, plan_id = self._note.read_text().strip().partition(" ")
            known = plan_of(int(number)) == plan_id
        except (FileNotFoundError, ValueError):
            return
        if not known:
            self._doubt.touch(mode=0o600)

    def is_doubted(self) -> bool:
        """Returns whether a database was used here that did not have the event."""
        return self._doubt.exists()
