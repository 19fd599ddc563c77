"""Messages between a recorder and those that ask it: each is one line of JSON.

A request names a method and gives its arguments. What follows are events, then one answer: a
result or an error. Both sides are programs of one version on one machine.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, get_args

import msgspec

from cleveragents.application.events import Event, Progress
from cleveragents.domain.errors import CleverAgentsError
from cleveragents.domain.plans.events import StoredEvent

_CHUNK = 1 << 16
_MOST_BYTES = 1 << 24
"""No request is as long as this; who sends more is cut off."""


class Request(msgspec.Struct, frozen=True, tag=True):
    """What a client wants."""

    method: str
    arguments: list[Any] = []


class EventMessage(msgspec.Struct, frozen=True, tag=True):
    """Something that happens while a request is carried out."""

    kind: str
    fields: dict[str, Any]

    @classmethod
    def of(cls, event: Event) -> EventMessage:
        return cls(type(event).__name__, msgspec.to_builtins(event))

    def event(self) -> Event:
        return msgspec.convert(self.fields, _EVENTS[self.kind])


class ResultMessage(msgspec.Struct, frozen=True, tag=True):
    """What a request gave."""

    value: Any


class ErrorMessage(msgspec.Struct, frozen=True, tag=True):
    """Why a request failed."""

    kind: str
    message: str
    hint: str | None
    details: dict[str, Any]

    @classmethod
    def of(cls, error: CleverAgentsError) -> ErrorMessage:
        details = msgspec.to_builtins(error.details, enc_hook=str)
        return cls(type(error).__name__, error.message, error.hint, details)

    def error(self) -> CleverAgentsError:
        """Returns the error as it was raised; constructors differ, so none of them is called."""
        kind = next((each for each in _errors() if each.__name__ == self.kind), CleverAgentsError)
        error = kind.__new__(kind, self.message)
        CleverAgentsError.__init__(error, self.message, hint=self.hint, **self.details)
        return error


Message = Request | EventMessage | ResultMessage | ErrorMessage

_EVENTS: dict[str, type[Event]] = {
    kind.__name__: kind for kind in (StoredEvent, *get_args(Progress))
}
_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[Message] = msgspec.json.Decoder(Message)


def _errors(kind: type[CleverAgentsError] = CleverAgentsError) -> Iterator[type[CleverAgentsError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _errors(below)


class Channel:
    """One connection.

    Sending never waits: what the other side does not take yet is kept, so that a client that
    was stopped does not stop the recorder.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        connection.setblocking(False)
        self._incoming = bytearray()
        self._outgoing = bytearray()
        self.is_open = True

    def fileno(self) -> int:
        return self._connection.fileno()

    @property
    def has_more_to_send(self) -> bool:
        return self.is_open and bool(self._outgoing)

    def send(self, message: Message) -> None:
        """Sends a message, now or when `flush` is called."""
        self._outgoing += _encoder.encode(message) + b"\n"
        self.flush()

    def flush(self) -> None:
        """Sends what the other side takes now."""
        try:
            while self.has_more_to_send:
                sent = self._connection.send(self._outgoing, socket.MSG_NOSIGNAL)
                del self._outgoing[:sent]
        except BlockingIOError:
            pass
        except OSError:
            self.close()

    def wait(self) -> None:
        """Waits until something arrives, and sends what is left to send meanwhile."""
        while self.is_open:
            waiting = select.poll()
            wanted = select.POLLIN | (select.POLLOUT if self._outgoing else 0)
            waiting.register(self._connection, wanted)
            [(_, found)] = waiting.poll()
            self.flush()
            if found & ~select.POLLOUT:
                return

    def receive(self) -> list[Message]:
        """Returns the messages that have arrived; closes the channel at its end."""
        try:
            while self.is_open:
                data = self._connection.recv(_CHUNK)
                self._incoming += data
                if not data or len(self._incoming) > _MOST_BYTES:
                    self.close()
        except BlockingIOError:
            pass
        except OSError:
            self.close()
        *lines, rest = bytes(self._incoming).split(b"\n")
        self._incoming = bytearray(rest)
        try:
            return [_decoder.decode(line) for line in lines]
        except msgspec.MsgspecError:
            self.close()
            return []

    def close(self) -> None:
        """Ends the connection; repeatable."""
        self.is_open = False
        with suppress(OSError):
            self._connection.close()
