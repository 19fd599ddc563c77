"""Locks on files: a wait for one names the process that has it, is announced, and ends.

A lock belongs to an open file, so the system releases it when a process ends, however it ends.
The process that has a lock alone writes its name into the file, for those that wait.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from cleveragents.domain.errors import ConflictError
from cleveragents.infrastructure.system import this_process
from cleveragents.infrastructure.waits import announce_wait

WAIT_SECONDS = 600.0
"""Longer than anything takes that is done under such a lock, such as copying a large project."""
_QUIET_SECONDS = 1.0
_POLL_SECONDS = 0.02
_NAME_BYTES = 300
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC


@contextmanager
def exclusive(path: Path) -> Generator[None]:
    """Keeps other processes out while the block runs.

    Raises:
        ConflictError: another process has the lock for too long; the error names it.
    """
    process, descriptor = os.getpid(), open_lock(path)
    try:
        wait_for_lock(descriptor, path, fcntl.LOCK_EX)
        with signed(descriptor):
            yield
    finally:
        release(descriptor, process)


def open_lock(path: Path) -> int:
    """Opens a file to lock, which is made when needed and never removed."""
    return os.open(path, _FLAGS, 0o600)


def wait_for_lock(descriptor: int, path: Path, kind: int) -> None:
    """Takes the lock as soon as it is free.

    Args:
        descriptor: The file, open for writing.
        path: Its name, for messages.
        kind: `fcntl.LOCK_EX` or `fcntl.LOCK_SH`.

    Raises:
        ConflictError: another process has the lock for too long; the error names it.
    """
    began, announced = time.monotonic(), False
    while not take_lock(descriptor, kind):
        waited = time.monotonic() - began
        if waited >= WAIT_SECONDS:
            raise ConflictError(
                f"{path} is locked by {lock_holder(descriptor)}",
                hint="Wait until it is done, or stop that process",
                path=str(path),
            )
        if waited >= _QUIET_SECONDS and not announced:
            announced = True
            announce_wait(f"Waiting for {lock_holder(descriptor)}, which has locked {path}")
        time.sleep(_POLL_SECONDS)


def take_lock(descriptor: int, kind: int) -> bool:
    """Takes the lock if it is free, and returns whether it was."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def signed(descriptor: int) -> Generator[None]:
    """Has the name of this process in a file that it has locked alone, while the block runs."""
    # On a full disk, those that wait do not learn the name.
    with suppress(OSError):
        os.pwrite(descriptor, str(this_process()).encode(), 0)
    try:
        yield
    finally:
        os.ftruncate(descriptor, 0)


def release(descriptor: int, process: int) -> None:
    """Unlocks and closes the file; harmless in a process that was forked meanwhile.

    Closing alone would leave the lock to a child that was forked and has not yet called exec;
    but such a child itself must not unlock what its parent still uses.

    Args:
        descriptor: The file.
        process: The process that locked it.
    """
    if os.getpid() == process:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)


def lock_holder(descriptor: int) -> str:
    """Returns the name of the process that has the lock, as far as it has written it."""
    try:
        name = os.pread(descriptor, _NAME_BYTES, 0).decode(errors="replace").strip()
    except IsADirectoryError:
        name = ""
    return name or "another process"
