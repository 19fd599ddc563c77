"""What is remembered of the paths of a sandbox: its directories, and files with several names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Set

from cleveragents.infrastructure.sandbox.store.captured_state import ancestors


class KnownDirectories:
    """A set of directories in which a whole subtree is found without going through all."""

    def __init__(self, inodes: Mapping[str, int]) -> None:
        self._inodes = dict(inodes)
        self._inside: dict[str, set[str]] = {}
        for path in self._inodes:
            self._inside.setdefault(path.rpartition("/")[0], set()).add(path)

    def __contains__(self, path: str) -> bool:
        return path in self._inodes

    def __iter__(self) -> Iterator[str]:
        return iter(self._inodes)

    def __len__(self) -> int:
        return len(self._inodes)

    def inode(self, path: str) -> int | None:
        return self._inodes.get(path)

    def add(self, path: str, inode: int) -> None:
        self._inodes[path] = inode
        self._inside.setdefault(path.rpartition("/")[0], set()).add(path)

    def directly_in(self, path: str) -> set[str]:
        return self._inside.get(path, set())

    def remove(self, path: str) -> list[str]:
        """Removes a directory and all below it, and returns them."""
        if path not in self._inodes:
            return []
        self._inside[path.rpartition("/")[0]].discard(path)
        gone: list[str] = []
        waiting = [path]
        while waiting:
            each = waiting.pop()
            gone.append(each)
            del self._inodes[each]
            waiting += self._inside.pop(each, ())
        return gone

    def copy(self) -> dict[str, int]:
        return dict(self._inodes)


class HardLinks:
    """Files that have several names: a watch reports only the name that was used."""

    def __init__(self) -> None:
        self._names: dict[int, set[str]] = {}
        self._files: dict[str, int] = {}
        self._below: dict[str, set[str]] = {}
        """Known names by each directory above them, so that no look goes through all of them."""
        self._counts: dict[int, int] = {}
        self.are_unknown = False
        """Whether a file has names that were never met: a scan finds those inside."""

    def meet(self, path: str, status: os.stat_result) -> Set[str]:
        """Returns the other known names of the file that is at a path now."""
        names = self._names.setdefault(status.st_ino, set())
        names.add(path)
        self._files[path] = status.st_ino
        for directory in ancestors(path):
            self._below.setdefault(directory, set()).add(path)
        if self._counts.get(status.st_ino) != status.st_nlink:
            self._counts[status.st_ino] = status.st_nlink
            self.are_unknown = True
        return names - {path}

    def met_with(self, paths: Iterable[str], directories: Iterable[str]) -> set[str]:
        """Returns the names of all files that were met at these paths or below these directories.

        What is there now may be something else: then its other names tell what was changed.
        """
        if not self._files:
            return set()
        found = {path for path in paths if path in self._files}
        for directory in directories:
            found |= self._below.get(directory, set())
        return {name for path in found for name in self._names[self._files[path]]}
