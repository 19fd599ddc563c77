"""What a command asks the recorder of a session."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import Any

from cleveragents.application.ports.system import EventSink
from cleveragents.domain.errors import RecorderGoneError
from cleveragents.infrastructure.recorder.address import connect, is_supervised, socket_path
from cleveragents.infrastructure.recorder.channel import (
    Channel,
    ErrorMessage,
    EventMessage,
    Request,
    ResultMessage,
)

_WAIT_SECONDS = 10.0
"""A recorder starts in less, unless `agents run` was stopped, or its project is very large."""
_POLL_SECONDS = 0.05


class RecorderClient:
    """One connection to a recorder; what happens during a request goes to the event sink."""

    def __init__(self, connection: socket.socket, events: EventSink) -> None:
        self._channel = Channel(connection)
        self._events = events

    @classmethod
    def of_session(cls, home: Path, plan_id: str, events: EventSink) -> RecorderClient | None:
        """Returns a connection to the recorder of a session; None if it has none.

        Where a recorder has just died and another one is being started, waits for that.
        """
        until = time.monotonic() + _WAIT_SECONDS
        path = socket_path(home, plan_id)
        while (connection := connect(path)) is None:
            if not is_supervised(home, plan_id) or time.monotonic() >= until:
                return None
            time.sleep(_POLL_SECONDS)
        return cls(connection, events)

    def fileno(self) -> int:
        return self._channel.fileno()

    def tell(self, method: str, arguments: list[Any]) -> None:
        """Sends a request that has no answer."""
        self._channel.send(Request(method, arguments))

    def ask(self, method: str, arguments: list[Any]) -> Any:
        """Sends a request and returns the result, however long it takes.

        Raises:
            RecorderGoneError: the recorder ended first. What it had begun is completed or undone
                by whoever records or changes the plan next.
            CleverAgentsError: what the request raised there.
        """
        self.tell(method, arguments)
        return self.answer()

    def answer(self) -> Any:
        """Waits for the answer of a request; raises what `ask` does."""
        while True:
            self._channel.wait()
            messages = self._channel.receive()
            for message in messages:
                if isinstance(message, EventMessage):
                    self._events.emit(message.event())
                elif isinstance(message, ErrorMessage):
                    raise message.error()
                elif isinstance(message, ResultMessage):
                    return message.value
            if not messages and not self._channel.is_open:
                raise RecorderGoneError

    def close(self) -> None:
        self._channel.close()
