"""An event sink for programs and tests that show no progress."""

from __future__ import annotations

from cleveragents.application.events import Event
from cleveragents.application.ports.system import EventSink


class NoEvents(EventSink):
    """Takes no notice of anything."""

    def emit(self, event: Event) -> None:
        return None
