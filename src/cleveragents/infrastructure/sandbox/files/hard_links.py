"""Files that have several names: a watch tells only of the name that was used."""

from __future__ import annotations

import os
from collections.abc import Iterable, Set


class HardLinks:
    """The names under which such files have been met."""

    def __init__(self) -> None:
        self._names: dict[int, set[str]] = {}
        self._files: dict[str, int] = {}
        self._counts: dict[int, int] = {}
        self.are_unknown = False
        """Whether a file has names that were never met: a scan finds those inside."""

    def meet(self, path: str, status: os.stat_result) -> Set[str]:
        """Returns the other known names of the file that is at a path now."""
        if status.st_nlink == 1:
            return frozenset()
        names = self._names.setdefault(status.st_ino, set())
        names.add(path)
        self._files[path] = status.st_ino
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
        inside = tuple(f"{directory}/" for directory in directories)
        found = {path for path in self._files if inside and path.startswith(inside)}
        found.update(self._files.keys() & set(paths))
        return {name for path in found for name in self._names[self._files[path]]}
