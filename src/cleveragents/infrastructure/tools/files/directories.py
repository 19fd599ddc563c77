"""Opens directories and files of the sandbox without ever following a symlink."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager

_NEVER_FOLLOW = os.O_NOFOLLOW | os.O_CLOEXEC
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | _NEVER_FOLLOW
# Without O_NONBLOCK, opening a named pipe would wait for its writer.
READ = os.O_RDONLY | os.O_NONBLOCK | _NEVER_FOLLOW
CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NEVER_FOLLOW


@contextmanager
def descend(top: int, names: Iterable[str]) -> Generator[int]:
    """Opens a directory below `top`, one component after the other.

    Each is opened relative to the descriptor of the one before, so nothing can be put in
    between. A symlink is an OSError.
    """
    current = os.dup(top)
    try:
        for name in names:
            inner = os.open(name, DIRECTORY, dir_fd=current)
            os.close(current)
            current = inner
        yield current
    finally:
        os.close(current)
