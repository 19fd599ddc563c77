"""Merging what was done to a fork of a sandbox into the sandbox itself, path by path.

Git knows nothing of it: only files, links, directories and their permission bits are merged,
as snapshots hold them. A file that was renamed is one that was deleted and one that came.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeGuard

from cleveragents.domain.record import Record
from cleveragents.domain.sandboxes.change import PathState


class MergeStrategy(StrEnum):
    """What happens where both have changed something, and differently."""

    GIT_THREE_WAY = "git_three_way"
    """Lines are merged; what cannot be merged is a conflict."""
    SEQUENTIAL_APPLY = "sequential_apply"
    """Lines are merged; what cannot be merged is as theirs."""
    FAIL_ON_CONFLICT = "fail_on_conflict"
    """Lines are merged; if anything cannot be merged, nothing is."""
    LAST_WINS = "last_wins"
    """Whatever they changed is as theirs."""

    @property
    def prefers_theirs(self) -> bool:
        return self in (MergeStrategy.SEQUENTIAL_APPLY, MergeStrategy.LAST_WINS)


class MergeNames(Record):
    """What conflict markers call the two sides."""

    mine: str
    theirs: str


class ConflictKind(StrEnum):
    """Why something could not be merged."""

    CONTENT = "content"
    """The same lines of a file were changed, or the target of a link."""
    BINARY = "binary"
    """A file that has no lines was changed."""
    DELETED = "deleted"
    """The one deleted what the other changed."""
    TYPE = "type"
    """It is a file for the one and a link for the other."""
    IN_THE_WAY = "in_the_way"
    """The one has a directory, the other something else; or what is there is in no snapshot."""
    MODE = "mode"
    """Different permission bits were set."""
    DATABASE = "database"
    """Both have written to the database."""


class MergeConflict(Record):
    """A path that both have changed, and that could not be merged."""

    path: str
    """As in a `PathChange`; of a directory in the way, all that is in it is meant."""
    kind: ConflictKind
    marked: bool
    """Whether the file has conflict markers now; otherwise everything there is as mine."""
    mine: PathState | None
    """What was there; None for nothing, and for what no snapshot holds."""
    theirs: PathState | None


class MergeReport(Record):
    """What became of a sandbox that something was merged into."""

    merged: tuple[str, ...]
    """The paths that are not as they were, files with conflict markers among them."""
    conflicts: tuple[MergeConflict, ...]


@dataclass(frozen=True)
class PathResolution:
    """What is to be at a path."""

    state: PathState | None
    conflict: ConflictKind | None = None
    """Why it is not merged; the state is mine then, but for a mode."""
    by_lines: bool = False
    """The bytes are still to be merged; those of the state are mine."""


def resolve(
    base: PathState | None,
    mine: PathState | None,
    theirs: PathState | None,
    strategy: MergeStrategy,
) -> PathResolution:
    """Decides what becomes of one path, whatever is above and below it."""
    if theirs in (base, mine):
        return PathResolution(mine)
    if mine == base or strategy is MergeStrategy.LAST_WINS:
        return PathResolution(theirs)
    if is_file(mine) and is_file(theirs):
        return _merged_file(base, mine, theirs, strategy)
    if strategy.prefers_theirs:
        return PathResolution(theirs)
    if mine is None and is_directory(theirs):
        return PathResolution(mine if is_directory(base) else theirs)
    if theirs is None and is_directory(mine):
        return PathResolution(mine)
    return PathResolution(mine, _kind(mine, theirs))


def is_directory(state: PathState | None) -> TypeGuard[PathState]:
    return state is not None and stat.S_ISDIR(state.mode)


def is_file(state: PathState | None) -> TypeGuard[PathState]:
    return state is not None and stat.S_ISREG(state.mode)


def _merged_file(
    base: PathState | None, mine: PathState, theirs: PathState, strategy: MergeStrategy
) -> PathResolution:
    """Merges two files: their modes, and their bytes as far as one of them is unchanged."""
    before = base if is_file(base) else None
    modes = {mine.mode, theirs.mode} - {before and before.mode}
    contents = {mine.hash, theirs.hash} - {before and before.hash}
    conflict = None
    mode = next(iter(modes), mine.mode)
    if len(modes) > 1 and strategy.prefers_theirs:
        mode = theirs.mode
    elif len(modes) > 1:
        mode, conflict = mine.mode, ConflictKind.MODE
    if len(contents) > 1:
        return PathResolution(PathState(mode=mode, hash=mine.hash), conflict, by_lines=True)
    return PathResolution(PathState(mode=mode, hash=next(iter(contents), mine.hash)), conflict)


def _kind(mine: PathState | None, theirs: PathState | None) -> ConflictKind:
    if mine is None or theirs is None:
        return ConflictKind.DELETED
    if is_directory(mine) and is_directory(theirs):
        return ConflictKind.MODE
    if is_directory(mine) or is_directory(theirs):
        return ConflictKind.IN_THE_WAY
    if stat.S_IFMT(mine.mode) != stat.S_IFMT(theirs.mode):
        return ConflictKind.TYPE
    return ConflictKind.CONTENT
