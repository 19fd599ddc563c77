"""Lists a directory of the sandbox and all below it, sorted by path. Follows no symlink."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from cleveragents.infrastructure.tools.files.directories import READ, descend


@dataclass(frozen=True)
class Entry:
    """A file, directory or symlink below `top`, which must stay open while the entry is used."""

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
        with descend(self.top, self.parts[:-1]) as parent:
            return os.readlink(self.parts[-1], dir_fd=parent)

    def open_file(self) -> int:
        """Returns a descriptor that the caller closes."""
        with descend(self.top, self.parts[:-1]) as parent:
            return os.open(self.parts[-1], READ, dir_fd=parent)


def walk(top: int, *, recursive: bool) -> Iterator[Entry]:
    """Yields everything except `.git`, each directory before its content.

    Each directory is opened from the top again, so that a deep tree needs few descriptors.
    """
    waiting = _children(top, ())
    while waiting:
        entry = waiting.pop()
        yield entry
        if recursive and entry.is_directory:
            # It may have been removed or replaced since it was listed.
            with suppress(FileNotFoundError, NotADirectoryError):
                waiting += _children(top, entry.parts)


def _children(top: int, parts: tuple[str, ...]) -> list[Entry]:
    """Returns the content of a directory in reverse order."""
    found: list[Entry] = []
    with descend(top, parts) as directory:
        for name in sorted(os.listdir(directory), key=os.fsencode, reverse=True):
            if name.casefold() == ".git":
                continue
            with suppress(FileNotFoundError):
                status = os.stat(name, dir_fd=directory, follow_symlinks=False)
                found.append(Entry(top, (*parts, name), status.st_mode))
    return found
