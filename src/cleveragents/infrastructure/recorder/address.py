"""Where the socket of a session's recorder is.

The path of a socket may have 107 bytes, and a home may be deeper than that. So the directory is
opened, and the socket is named through the descriptor.
"""

from __future__ import annotations

import fcntl
import os
import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from cleveragents.infrastructure.file_locks import lock_file, take_lock
from cleveragents.infrastructure.home import create_private_directory

_LONGEST = 103
"""The shortest limit among the systems that this runs on."""


def socket_path(home: Path, plan_id: str) -> Path:
    return home / "run" / f"{plan_id}.sock"


@contextmanager
def _reachable(path: Path) -> Generator[str]:
    """Yields a name of the path that is short enough, in the block."""
    if len(os.fsencode(path)) <= _LONGEST or not sys.platform.startswith("linux"):
        yield str(path)
        return
    directory = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{directory}/{path.name}"
    finally:
        os.close(directory)


@contextmanager
def supervising(home: Path, plan_id: str) -> Generator[None]:
    """Tells the others, while the block runs, that a recorder that dies is replaced."""
    path = _supervision(home, plan_id)
    create_private_directory(path.parent)
    with lock_file(path) as descriptor:
        take_lock(descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def is_supervised(home: Path, plan_id: str) -> bool:
    """Returns whether a recorder of the session that dies is replaced at once."""
    try:
        descriptor = os.open(_supervision(home, plan_id), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return not take_lock(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def _supervision(home: Path, plan_id: str) -> Path:
    return home / "run" / f"{plan_id}.run"


def remove_left(home: Path, plan_id: str) -> None:
    """Removes what killed processes left. The caller MUST hold the plan."""
    socket_path(home, plan_id).unlink(missing_ok=True)
    if not is_supervised(home, plan_id):
        _supervision(home, plan_id).unlink(missing_ok=True)


def has_left(home: Path, plan_id: str) -> bool:
    """Returns whether there is a socket, though nobody may listen any more."""
    return socket_path(home, plan_id).exists()


def listen(path: Path) -> socket.socket:
    """Returns a socket that listens at the path, which only this user may use.

    It gets its name when it listens already, so that whoever finds it can connect. The caller
    MUST hold the plan: what is there is replaced.
    """
    create_private_directory(path.parent)
    draft = path.with_name(f".{path.name}")
    draft.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _reachable(draft) as name:
            listening.bind(name)
        draft.chmod(0o600)
        listening.listen()
        listening.setblocking(False)
        draft.rename(path)
    except BaseException:
        listening.close()
        draft.unlink(missing_ok=True)
        raise
    return listening


def connect(path: Path) -> socket.socket | None:
    """Returns a connection to whoever listens at the path; None if nobody does."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _reachable(path) as name:
            connection.connect(name)
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return None
    except BaseException:
        connection.close()
        raise
    return connection
