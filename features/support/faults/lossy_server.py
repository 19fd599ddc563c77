"""A PostgreSQL server whose connection is lost at a chosen message, in front of a real one."""

from __future__ import annotations

import selectors
import socket
import threading
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from cleveragents.infrastructure.database.session import WRITE_LOCK

_NAME = ".s.PGSQL.5432"
_FIRST = f"pg_advisory_xact_lock({WRITE_LOCK}, ".encode()
"""Takes the lock of a plan; before the first of these, a command only finds its plan."""
_QUERIES = b"QPB"
"""The first bytes of messages that ask for something: simple, to be parsed, and bound."""


class LossyServer:
    """Passes on what clients and server say, and cuts one connection once."""

    def __init__(self, url: str, directory: Path, on_close: ExitStack) -> None:
        self._real = Path(parse_qs(urlsplit(url).query)["host"][0], _NAME)
        self.url = url.replace(str(self._real.parent), str(directory))
        self.messages = 0
        """How many messages of clients were counted since `lose_at`."""
        self._counts = False
        self._at = 0
        self._answer = False
        self._listener = on_close.enter_context(socket.socket(socket.AF_UNIX))
        self._listener.bind(str(directory / _NAME))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()
        # Wakes the thread that accepts, which a mere close would not.
        on_close.callback(self._listener.shutdown, socket.SHUT_RDWR)

    def lose_at(self, number: int, *, answer: bool) -> None:
        """Counts messages anew; cuts at one of them: before the server has it, or its answer."""
        self.messages, self._counts, self._at, self._answer = 0, False, number, answer

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
            ready.register(client, selectors.EVENT_READ)
            ready.register(server, selectors.EVENT_READ)
            while True:
                for key, _ in ready.select():
                    side = key.fileobj
                    assert isinstance(side, socket.socket)
                    data = side.recv(1 << 20)
                    if not data:
                        return
                    if side is server:
                        client.sendall(data)
                        continue
                    cut = self._is_counted(data)
                    if not cut or self._answer:
                        server.sendall(data)
                    if cut:
                        if self._answer:
                            server.recv(1 << 20)
                        return

    def _is_counted(self, data: bytes) -> bool:
        self._counts = self._counts or _FIRST in data
        if not self._counts or data[:1] not in _QUERIES:
            return False
        self.messages += 1
        return self.messages == self._at
