"""Waits for everything that a recorder waits for, without using time while nothing happens."""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
from collections.abc import Collection, Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from cleveragents.infrastructure.recorder.address import listen
from cleveragents.infrastructure.recorder.channel import Channel, Request

_LONGEST = 3600.0
"""`poll` takes no time that is much longer; then its caller just waits again."""
_CREDENTIALS = struct.Struct("3i")


class Happened(NamedTuple):
    """What ended a wait."""

    requests: list[tuple[Channel, Request]]
    descriptors: Collection[int]
    """Those of the others that can be read."""


class RecorderServer:
    """The clients of a recorder."""

    def __init__(self, first: Channel, listening: socket.socket) -> None:
        """Args: `first` is the client that started the recorder."""
        self._listening = listening
        self._clients = {first.fileno(): first}

    def wait(self, others: Collection[int], seconds: float | None) -> Happened:
        """Waits for requests, for other descriptors that can be read, or for a time."""
        waiting = select.poll()
        for descriptor in (self._listening.fileno(), *others):
            waiting.register(descriptor, select.POLLIN)
        for client in self._clients.values():
            wanted = select.POLLIN | (select.POLLOUT if client.has_more_to_send else 0)
            waiting.register(client.fileno(), wanted)
        milliseconds = None if seconds is None else int(min(seconds, _LONGEST) * 1000) + 1
        found = {descriptor for descriptor, _ in waiting.poll(milliseconds)}
        requests: list[tuple[Channel, Request]] = []
        for descriptor in found & self._clients.keys():
            client = self._clients[descriptor]
            client.flush()
            requests += [
                (client, message) for message in client.receive() if isinstance(message, Request)
            ]
        if self._listening.fileno() in found:
            self._accept()
        self._clients = {key: each for key, each in self._clients.items() if each.is_open}
        return Happened(requests, found.intersection(others))

    def _accept(self) -> None:
        try:
            connection, _ = self._listening.accept()
        except OSError:  # The client has gone away, or there is no descriptor left.
            return
        if _is_own(connection):
            self._clients[connection.fileno()] = Channel(connection)
        else:
            connection.close()


def _is_own(connection: socket.socket) -> bool:
    """Returns whether the other side belongs to this user; the socket's mode says the same."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, user, _ = _CREDENTIALS.unpack(data)
    return user in (os.geteuid(), 0)


@contextmanager
def serving(path: Path, first: Channel) -> Generator[RecorderServer]:
    """Listens at a path while the block runs. The caller MUST hold the plan."""
    with listen(path) as listening:
        try:
            yield RecorderServer(first, listening)
        finally:
            path.unlink(missing_ok=True)


@contextmanager
def told_to_end() -> Generator[int]:
    """Yields a descriptor that can be read once this process was asked to end by SIGTERM.

    Ctrl-C and a closed terminal are not meant for a recorder.
    """
    reading, writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def note(number: int, frame: FrameType | None) -> None:
        del number, frame
        os.write(writing, b"\0")

    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    before = signal.signal(signal.SIGTERM, note)
    try:
        yield reading
    finally:
        signal.signal(signal.SIGTERM, before)
        os.close(reading)
        os.close(writing)
