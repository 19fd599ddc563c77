"""Files that have several names: a watch tells only of the name that was used."""

from __future__ import annotations

import os
from collections.abc import Set


class HardLinks:
    """The names under which such files have been met."""

    def __init__(self) -> None:
        self._names: dict[int, set[str]] = {}
        self._counts: dict[int, int] = {}
        self.are_unknown = False
        """Whether a file has names that were never met: a scan finds those inside."""

    def meet(self, path: str, status: os.stat_result) -> Set[str]:
        """Returns the other known names of the file that is at a path now."""
        if status.st_nlink == 1:
            return frozenset()
        names = self._names.setdefault(status.st_ino, set())
        names.add(path)
        if self._counts.get(status.st_ino) != status.st_nlink:
            self._counts[status.st_ino] = status.st_nlink
            self.are_unknown = True
        return names - {path}
