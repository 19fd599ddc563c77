"""Goes through a directory of the sandbox in the order of paths, following no symlink."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class Entry:
    """Something below the directory where the walk began, which stays open meanwhile."""

    top: int
    parts: tuple[str, ...]
    mode: int

    @property
    def path(self) -> str:
        return "/".join(self.parts)

    @property
    def is_directory(self) -> bool:
        return stat.S_ISDIR(self.mode)

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.mode)

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.mode)

    def read_link(self) -> str:
        with _opened(self.top, self.parts[:-1]) as parent:
            return os.readlink(self.parts[-1], dir_fd=parent)

    def open_file(self) -> int:
        """Returns a descriptor that the caller closes."""
        with _opened(self.top, self.parts[:-1]) as parent:
            return os.open(self.parts[-1], _READING, dir_fd=parent)


def walk(top: int, *, recursive: bool) -> Iterator[Entry]:
    """Yields everything but `.git`, a directory before what it holds.

    Each directory is opened anew from the top, so that depth costs no descriptors.
    """
    ahead = _children(top, ())
    while ahead:
        entry = ahead.pop()
        yield entry
        if recursive and entry.is_directory:
            # It may have gone, or have become something else.
            with suppress(FileNotFoundError, NotADirectoryError):
                ahead += _children(top, entry.parts)


def _children(top: int, parts: tuple[str, ...]) -> list[Entry]:
    """Returns what a directory holds, the last first."""
    found: list[Entry] = []
    with _opened(top, parts) as directory:
        for name in sorted(os.listdir(directory), key=os.fsencode, reverse=True):
            if name.casefold() == ".git":
                continue
            with suppress(FileNotFoundError):
                status = os.stat(name, dir_fd=directory, follow_symlinks=False)
                found.append(Entry(top, (*parts, name), status.st_mode))
    return found


@contextmanager
def _opened(top: int, parts: tuple[str, ...]) -> Generator[int]:
    current = os.dup(top)
    try:
        for part in parts:
            inner = os.open(part, _DIRECTORY, dir_fd=current)
            os.close(current)
            current = inner
        yield current
    finally:
        os.close(current)
