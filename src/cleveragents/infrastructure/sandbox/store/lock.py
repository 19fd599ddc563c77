"""Who is at work in a store: many may use it, and one alone may take things out of it.

The lock is on `<key>.use` beside `<key>.git`. It belongs to an open file, so the
system lets go of it when a process ends, however it ends.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path


def use_file(store: Path) -> Path:
    """Returns the file the lock is on; it is made when needed and never removed."""
    return store.with_suffix(".use")


class MirrorUse:
    """Says that this process uses a store, from now until `close`.

    While one of these is open anywhere, nothing is taken out of the store but
    what its owner drops by name. One that is opened while a collection runs
    waits for its end.
    """

    def __init__(self, store: Path) -> None:
        self._process = os.getpid()
        self._descriptor: int | None = _open(use_file(store))
        fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    def close(self) -> None:
        """Ends the use; repeatable, and harmless in a process that was forked meanwhile."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            _let_go(descriptor, self._process)


@contextmanager
def alone(store: Path) -> Generator[bool]:
    """Yields whether nobody uses or refreshes the store; nobody can begin before the block ends.

    Never waits. A `MirrorUse` opened inside the block, in this process too, would wait for ever.
    """
    with ExitStack() as held:
        places = (use_file(store), store.with_suffix(".lock"))
        yield all(held.enter_context(_held(place)) for place in places)


@contextmanager
def _held(place: Path) -> Generator[bool]:
    process, descriptor = os.getpid(), _open(place)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        yield False
        return
    try:
        yield True
    finally:
        _let_go(descriptor, process)


def _open(place: Path) -> int:
    return os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _let_go(descriptor: int, process: int) -> None:
    """Closing alone would leave the lock to a child that was forked and has not yet called exec."""
    if os.getpid() == process:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)
