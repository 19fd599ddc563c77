"""PostgreSQL servers in front of a real one: they read the messages that they pass on."""

from __future__ import annotations

import selectors
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from cleveragents.infrastructure.database.session import WRITE_LOCK

_NAME = ".s.PGSQL.5432"
_FIRST = f"pg_advisory_xact_lock({WRITE_LOCK}, ".encode()
"""Takes the lock of a plan; before the first of these, a command only finds its plan."""
_ANSWERED = b"QS"
"""The kinds of messages that a server answers at once: a simple query, and the end of others."""
_QUERIES = b"QPBS"
"""The kinds of messages that ask for something: also to be parsed, and bound."""
_LENGTH = slice(1, 5)


class Relay:
    """Passes on what clients and server say, message by message."""

    def __init__(self, url: str, directory: Path, on_close: ExitStack) -> None:
        self._real = Path(parse_qs(urlsplit(url).query)["host"][0], _NAME)
        self.url = url.replace(str(self._real.parent), str(directory))
        self._listener = on_close.enter_context(socket.socket(socket.AF_UNIX))
        self._listener.bind(str(directory / _NAME))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()
        # Wakes the thread that accepts, which a mere close would not.
        on_close.callback(self._listener.shutdown, socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        server = socket.socket(socket.AF_UNIX)
        with client, server, selectors.DefaultSelector() as ready:
            server.connect(str(self._real))
            # The first message has no kind.
            server.sendall(client.recv(1 << 20))
            ready.register(client, selectors.EVENT_READ)
            ready.register(server, selectors.EVENT_READ)
            said = b""
            while True:
                for key, _ in ready.select():
                    side = key.fileobj
                    assert isinstance(side, socket.socket)
                    data = side.recv(1 << 20)
                    if not data:
                        return
                    if side is server:
                        self.answer(data, client)
                        continue
                    messages, said = _split(said + data)
                    for message in messages:
                        if not self.ask(message, client, server):
                            return

    def answer(self, data: bytes, client: socket.socket) -> None:
        """Passes on what the server says."""
        client.sendall(data)

    def ask(self, message: bytes, client: socket.socket, server: socket.socket) -> bool:
        """Passes on one message of a client; returns False to end the connection."""
        server.sendall(message)
        return True


class LossyServer(Relay):
    """Cuts one connection once, at a chosen message."""

    messages = 0
    """How many messages of clients were counted since `lose_at`."""
    _counts = False
    _at = 0
    _answer = False

    def lose_at(self, number: int, *, answer: bool) -> None:
        """Counts messages anew; cuts at one of them: before the server has it, or its answer."""
        self.messages, self._counts, self._at, self._answer = 0, False, number, answer

    def ask(self, message: bytes, client: socket.socket, server: socket.socket) -> bool:
        self._counts = self._counts or _FIRST in message
        if self._counts and message[:1] in (_ANSWERED if self._answer else _QUERIES):
            self.messages += 1
            if self.messages == self._at:
                if self._answer:
                    server.sendall(message)
                    server.recv(1 << 20)
                return False
        return super().ask(message, client, server)


class FarServer(Relay):
    """Counts round trips.

    A rollback is not one if the client does not wait for it. So its answer is kept back until
    the client says something else.
    """

    round_trips = 0

    def __init__(self, url: str, directory: Path, on_close: ExitStack) -> None:
        self._asked: dict[socket.socket, list[bytes]] = {}
        """What each client asks with the message that it has begun."""
        self._kept: dict[socket.socket, bytes] = {}
        """The answer to a rollback, as far as it has come."""
        super().__init__(url, directory, on_close)

    def answer(self, data: bytes, client: socket.socket) -> None:
        if client in self._kept:
            self._kept[client] += data
        else:
            client.sendall(data)

    def ask(self, message: bytes, client: socket.socket, server: socket.socket) -> bool:
        client.sendall(self._kept.pop(client, b""))
        asked = self._asked.setdefault(client, [])
        if message[:1] in b"QP":
            asked.append(message)
        if message[:1] in _ANSWERED:
            # The tool for migrations waits, and sends it as a simple query.
            if len(asked) == 1 and asked[0][:1] == b"P" and b"ROLLBACK\x00" in asked[0]:
                self._kept[client] = b""
            else:
                self.round_trips += 1
            asked.clear()
        return super().ask(message, client, server)


def _split(data: bytes) -> tuple[list[bytes], bytes]:
    """Returns the complete messages at the start of `data`, and the rest."""
    found = list(_complete(data))
    return found, data[sum(map(len, found)) :]


def _complete(data: bytes) -> Iterator[bytes]:
    while len(data) > 4 and len(data) > (length := int.from_bytes(data[_LENGTH], "big")):
        yield data[: length + 1]
        data = data[length + 1 :]
