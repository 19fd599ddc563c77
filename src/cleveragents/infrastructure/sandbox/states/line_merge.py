"""Merging files by lines: git does it, on bytes in a room of our own.

`git merge-file` sees nothing but three files: no attributes, no filters, no merge drivers.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from pathlib import Path

from cleveragents.domain.sandboxes.merge import MergeNames
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.store.blobs import BlobReader

_LARGEST = 64 << 20
_MOST_CONFLICTS = 127
"""git says how many there are, and never more than this."""
_NUL = b"\0"


@dataclass(frozen=True)
class MergedLines:
    """A file with what both have made of it."""

    content: bytes
    is_clean: bool
    """Whether there are no conflict markers."""


class LineMerge:
    """Merges stored files of one store."""

    def __init__(self, git: Git, objects: BlobReader, room: Path, names: MergeNames) -> None:
        """Args: `room` is an empty directory; the caller removes it."""
        self._git = git
        self._objects = objects
        self._room = room
        self._names = names
        self._numbers = count()

    def merge(
        self, base: str | None, mine: str, theirs: str, *, theirs_win: bool
    ) -> MergedLines | None:
        """Merges two files; None if one of them has no lines.

        Args:
            base: The id of what both came from; None for nothing.
            mine: The id of mine.
            theirs: The id of theirs.
            theirs_win: Whether theirs is taken where both have changed the same lines.
        """
        contents = [
            self._objects.read(mine),
            self._objects.read(base) if base is not None else b"",
            self._objects.read(theirs),
        ]
        if any(_NUL in content or len(content) > _LARGEST for content in contents):
            return None
        labels = (_line(self._names.mine), "base", _line(self._names.theirs))
        merged = self._git.complete(
            *("merge-file", "-p", "--quiet"),
            *(("--theirs",) if theirs_win else ()),
            *(option for label in labels for option in ("-L", label)),
            *(str(self._written(content)) for content in contents),
            ok=range(_MOST_CONFLICTS + 1),
        )
        return MergedLines(merged.stdout, is_clean=merged.returncode == 0)

    def _written(self, content: bytes) -> Path:
        place = self._room / str(next(self._numbers))
        place.write_bytes(content)
        return place


def _line(name: str) -> str:
    """Returns a name that fits behind a marker."""
    return " ".join(name.split())
