"""The patterns of paths that settings and options have."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class PathPatterns:
    """Patterns that fit paths of a sandbox.

    A pattern without `/` fits a name wherever git lists it as ignored; one with
    `/` fits a path from the top, also inside an ignored directory. `*` stays
    within a name.
    """

    patterns: Collection[str]

    def takes(self, path: str) -> bool:
        """Returns whether a path, or a directory above it, fits a pattern."""
        parts = path.split("/")
        for pattern in self.patterns:
            wanted = pattern.strip("/").split("/")
            if "/" not in pattern.rstrip("/"):
                if any(fnmatchcase(part, wanted[0]) for part in parts):
                    return True
            elif len(wanted) <= len(parts) and all(map(fnmatchcase, parts, wanted)):
                return True
        return False

    def may_take_below(self, directory: str) -> bool:
        """Returns whether a path inside the directory can fit a pattern, if it does not itself."""
        parts = directory.split("/")
        return any(
            len(wanted := pattern.strip("/").split("/")) > len(parts)
            and all(map(fnmatchcase, parts, wanted))
            for pattern in self.patterns
            if "/" in pattern.rstrip("/")
        )
