"""Puts the hunks of a patch where they fit: exactly, but not always at the line they name."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from cleveragents.domain.errors import ExecutionError
from cleveragents.infrastructure.tools.files.patch_parser import Hunk


@dataclass(frozen=True)
class Patched:
    """The new content, and how many lines away each hunk was found."""

    content: bytes
    offsets: tuple[int, ...]


def apply_hunks(content: bytes, hunks: Sequence[Hunk], path: str) -> Patched:
    """Applies the hunks in their order.

    Each is looked for at its line, moved by as much as the one before, and then at the
    nearest place where it fits, forwards first. A hunk that only inserts has no other place.
    In a file whose lines all end in CRLF, hunks with plain line ends fit too.

    Raises:
        ExecutionError: one does not fit; it is named.
    """
    try:
        return _applied(content, hunks, path)
    except ExecutionError:
        if not _is_crlf(content) or any(b"\r" in hunk.old + hunk.new for hunk in hunks):
            raise
        return _applied(content, [_with_crlf(hunk) for hunk in hunks], path)


def _applied(content: bytes, hunks: Sequence[Hunk], path: str) -> Patched:
    lines = _Lines(content)
    pieces: list[bytes] = []
    offsets: list[int] = []
    done = offset = 0
    for number, hunk in enumerate(hunks, 1):
        place = lines.find(hunk, offset, done)
        if place is None:
            raise _misfit(content, hunk, number, path)
        offset = lines.number_at(place) - _first_line(hunk)
        offsets.append(offset)
        pieces += (content[done:place], hunk.new)
        done = place + len(hunk.old)
    return Patched(b"".join([*pieces, content[done:]]), tuple(offsets))


class _Lines:
    """Where the lines of a content begin, and where one could be added."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        lengths = [len(line) + 1 for line in content.split(b"\n")]
        self._starts = [0, *accumulate(lengths[:-1])]

    def number_at(self, place: int) -> int:
        return bisect_right(self._starts, place) - 1

    def find(self, hunk: Hunk, offset: int, least: int) -> int | None:
        """Returns the place of the hunk's old lines, not before `least`, or None."""
        wanted = _first_line(hunk) + offset
        if hunk.is_insertion:
            place = self._starts[wanted] if 0 <= wanted < len(self._starts) else -1
            return place if place >= least and self._fits(hunk, place) else None
        start = self._starts[min(max(wanted, 0), len(self._starts) - 1)]
        if start >= least and self._fits(hunk, start):
            return start
        return self._nearest(hunk, start, least)

    def _nearest(self, hunk: Hunk, start: int, least: int) -> int | None:
        after = self._next(hunk, max(start, least))
        before = self._previous(hunk, start, least)
        if after is None or before is None:
            return before if after is None else after
        wanted = self.number_at(start)
        ahead, back = self.number_at(after) - wanted, wanted - self.number_at(before)
        return after if ahead <= back else before

    def _next(self, hunk: Hunk, place: int) -> int | None:
        while (place := self._content.find(hunk.old, place)) >= 0:
            if self._fits(hunk, place):
                return place
            place += 1
        return None

    def _previous(self, hunk: Hunk, place: int, least: int) -> int | None:
        end = place + len(hunk.old) - 1
        while (place := self._content.rfind(hunk.old, least, end)) >= 0:
            if self._fits(hunk, place):
                return place
            end = place + len(hunk.old) - 1
        return None

    def _fits(self, hunk: Hunk, place: int) -> bool:
        """Compares whole lines: what has no line end, old or new, can only be the last one."""
        content, end = self._content, place + len(hunk.old)
        at_start = place == 0 or content[place - 1 : place] == b"\n"
        ends = all(not side or side.endswith(b"\n") for side in (hunk.old, hunk.new))
        return at_start and content.startswith(hunk.old, place) and (ends or end == len(content))


def _first_line(hunk: Hunk) -> int:
    """Counted from 0; what only inserts names the line before it."""
    return hunk.old_start if hunk.is_insertion else max(hunk.old_start - 1, 0)


def _is_crlf(content: bytes) -> bool:
    return b"\r\n" in content and content.count(b"\r\n") == content.count(b"\n")


def _with_crlf(hunk: Hunk) -> Hunk:
    old, new = (side.replace(b"\n", b"\r\n") for side in (hunk.old, hunk.new))
    return Hunk(hunk.old_start, old, new)


def _misfit(content: bytes, hunk: Hunk, number: int, path: str) -> ExecutionError:
    reverse = Hunk(hunk.old_start, hunk.new, hunk.old)
    applied = bool(hunk.new) and _Lines(content).find(reverse, 0, 0) is not None
    return ExecutionError(
        f"Hunk {number} of `{path}` does not fit; nothing was changed",
        hint="It seems to be applied already"
        if applied
        else f"Near line {hunk.old_start} the file does not hold the lines it names",
        path=path,
        hunk=number,
    )
