"""Merges the changes in a fork of a sandbox into the sandbox itself, path by path.

Git is not involved: only files, links, directories and their permission bits are merged, as
snapshots contain them. A renamed file counts as one deleted and one added file.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeGuard

from cleveragents.domain.record import Record
from cleveragents.domain.sandboxes.change import PathState


class MergeStrategy(StrEnum):
    """What happens where both sides changed the same path differently."""

    GIT_THREE_WAY = "git_three_way"
    """Lines are merged; what cannot be merged is a conflict."""
    SEQUENTIAL_APPLY = "sequential_apply"
    """Lines are merged; theirs is used for what cannot be merged."""
    FAIL_ON_CONFLICT = "fail_on_conflict"
    """Lines are merged; a single conflict cancels the whole merge."""
    LAST_WINS = "last_wins"
    """Theirs is used for everything they changed."""

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
    """A file without lines was changed."""
    DELETED = "deleted"
    """One side deleted what the other changed."""
    TYPE = "type"
    """It is a file on one side and a link on the other."""
    IN_THE_WAY = "in_the_way"
    """One side has a directory and the other does not; or the path is in no snapshot."""
    MODE = "mode"
    """Different permission bits were set."""
    DATABASE = "database"
    """Both sides wrote to the database."""


class MergeConflict(Record):
    """A path that both sides changed and that could not be merged."""

    path: str
    """As in a `PathChange`; a directory in the way includes everything in it."""
    kind: ConflictKind
    marked: bool
    """Whether the file has conflict markers now; otherwise it is mine."""
    mine: PathState | None
    """My state; None if the path does not exist or is in no snapshot."""
    theirs: PathState | None


class MergeReport(Record):
    """What a merge changed in the sandbox."""

    merged: tuple[str, ...]
    """The changed paths, including files with conflict markers."""
    conflicts: tuple[MergeConflict, ...]


@dataclass(frozen=True)
class PathResolution:
    """The state that a merge gives to a path."""

    state: PathState | None
    conflict: ConflictKind | None = None
    """Why it is not merged; then the state is mine, except for its mode."""
    by_lines: bool = False
    """The lines still have to be merged; the state has my bytes."""


def merge_path(
    base: PathState | None,
    mine: PathState | None,
    theirs: PathState | None,
    strategy: MergeStrategy,
) -> PathResolution:
    """Returns the merged state of one path, without regard to the paths above and below it."""
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
    """Merges the modes of two files, and their bytes if only one side changed them."""
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
