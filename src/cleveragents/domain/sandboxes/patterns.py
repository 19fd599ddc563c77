"""The patterns of paths that settings and options have."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase


class PathPatterns:
    """Patterns that fit paths of a sandbox.

    A pattern without `/` fits a name wherever git lists it as ignored; one with
    `/` fits a path from the top, also inside an ignored directory. `*` stays
    within a name.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._names: list[str] = []
        self._paths: list[list[str]] = []
        for pattern in patterns:
            parts = pattern.strip("/").split("/")
            if len(parts) == 1 and not pattern.startswith("/"):
                self._names.append(parts[0])
            else:
                self._paths.append(parts)

    def takes(self, path: str) -> bool:
        """Says whether a path, or a directory above it, fits a pattern."""
        parts = path.split("/")
        return any(fnmatchcase(part, name) for part in parts for name in self._names) or any(
            len(pattern) <= len(parts) and all(map(fnmatchcase, parts, pattern))
            for pattern in self._paths
        )

    def may_take_below(self, directory: str) -> bool:
        parts = directory.split("/")
        return any(
            len(pattern) > len(parts) and all(map(fnmatchcase, parts, pattern))
            for pattern in self._paths
        )
