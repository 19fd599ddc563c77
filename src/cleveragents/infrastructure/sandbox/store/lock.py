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

_USE = ".use"
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC


class MirrorUse:
    """Says that this process uses a store, from now until `close`.

    While one of these is open anywhere, nothing is taken out of the store but
    what its owner drops by name. One that is opened while a collection runs
    waits for its end.
    """

    def __init__(self, store: Path) -> None:
        self._process = os.getpid()
        # The file is made when needed and never removed.
        self._descriptor: int | None = os.open(store.with_suffix(_USE), _FLAGS, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    def close(self) -> None:
        """Ends the use; repeatable, and harmless in a process that was forked meanwhile."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            return
        # Closing alone would leave the lock to a child that was forked and has not yet called
        # exec; but such a child itself must not unlock what its parent still uses.
        if os.getpid() == self._process:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


@contextmanager
def alone(store: Path) -> Generator[bool]:
    """Yields whether nobody uses or refreshes the store; nobody can begin before the block ends.

    Never waits. A `MirrorUse` opened inside the block, in this process too, would wait for ever.
    """
    with ExitStack() as held:
        places = (store.with_suffix(_USE), store.with_suffix(".lock"))
        yield all(held.enter_context(_held(place)) for place in places)


@contextmanager
def _held(place: Path) -> Generator[bool]:
    process, descriptor = os.getpid(), os.open(place, _FLAGS, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        yield False
        return
    try:
        yield True
    finally:
        if os.getpid() == process:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)
