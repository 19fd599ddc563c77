"""Bringing what changed between two states into a third, path by path.

`merge_path` decides about each path by itself. Here is what paths have to do with each
other: a file is where a directory is needed, or the other way round, and what no snapshot
holds stays where it is and is never touched.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from cleveragents.domain.sandboxes.change import PathChange, PathState
from cleveragents.domain.sandboxes.merge import (
    ConflictKind,
    MergeConflict,
    MergeStrategy,
    PathResolution,
    is_directory,
    is_file,
    merge_path,
)
from cleveragents.infrastructure.sandbox.git.objects import NewObject, ObjectKind
from cleveragents.infrastructure.sandbox.states.line_merge import LineMerge
from cleveragents.infrastructure.sandbox.states.path_changes import PathStates, path_changes
from cleveragents.infrastructure.sandbox.states.state_editor import StateEditor
from cleveragents.infrastructure.sandbox.store.captured_state import CapturedState, ancestors
from cleveragents.infrastructure.sandbox.store.lazy_tree import LazyTree, ReadTree


@dataclass(frozen=True)
class ThreeStates:
    """What is merged: from `base` came both `mine` and `theirs`."""

    base: CapturedState
    mine: CapturedState
    theirs: CapturedState
    uncaptured: Collection[str]
    """What is there beside `mine` and in no snapshot; a directory may end with `/`."""


@dataclass(frozen=True)
class ThreeWayResult:
    """The state that `mine` becomes."""

    captured: CapturedState
    objects: tuple[NewObject, ...]
    """What may not be stored yet of it."""
    conflicts: tuple[MergeConflict, ...]


def merge_states(
    states: ThreeStates, read: ReadTree, lines: LineMerge, strategy: MergeStrategy
) -> ThreeWayResult:
    """Returns `mine` with what changed from `base` to `theirs`; nothing is written anywhere."""
    merge = _Merge(states, read, lines, strategy)
    for change in path_changes(states.base, states.theirs, read):
        merge.take(change)
    return merge.result()


class _Merge:
    """One merge, as far as it has come; changes are taken in the order of their paths."""

    def __init__(
        self, states: ThreeStates, read: ReadTree, lines: LineMerge, strategy: MergeStrategy
    ) -> None:
        self._mine = PathStates(states.mine, LazyTree(states.mine.tree, read))
        self._theirs = PathStates(states.theirs, LazyTree(states.theirs.tree, read))
        self._lines = lines
        self._strategy = strategy
        self._edited = StateEditor(states.mine, read)
        self._uncaptured = {path.rstrip("/") for path in states.uncaptured}
        self._around_uncaptured = _around(self._uncaptured)
        changes = path_changes(states.base, states.mine, read)
        self._around_own = _around(change.path for change in changes if change.after is not None)
        """Directories that hold something which is mine alone."""
        self._conflicts: dict[str, MergeConflict] = {}
        self._blobs: list[NewObject] = []

    def result(self) -> ThreeWayResult:
        captured, trees = self._edited.result()
        conflicts = tuple(self._conflicts[path] for path in sorted(self._conflicts))
        return ThreeWayResult(captured, (*trees, *self._blobs), conflicts)

    def take(self, change: PathChange) -> None:
        path = change.path
        if any(self._is_obstacle(place) for place in ancestors(path)):
            return
        unknown = [place for place in (path, *ancestors(path)) if place in self._uncaptured]
        if unknown:
            self._meet(unknown[-1])
            return
        mine = self._mine.at(path)
        found = self._resolved(change, mine)
        obstacle = None if found.state in (mine, None) else self._obstacle(path, found.state)
        if obstacle is not None and not self._gives_way(obstacle):
            self._meet(obstacle)
            return
        if found.conflict is not None:
            self._conflict(path, found.conflict, marked=found.by_lines)
        if found.state != mine:
            self._set(path, found.state)

    def _is_obstacle(self, path: str) -> bool:
        found = self._conflicts.get(path)
        return found is not None and found.kind is ConflictKind.IN_THE_WAY

    def _obstacle(self, path: str, wanted: PathState | None) -> str | None:
        """Returns what would have to go, though it is mine, for something to be at a path."""
        for place in ancestors(path):
            if self._mine.at(place) is not None and not self._edited.is_directory(place):
                return place
        has_own = path in self._around_own or path in self._around_uncaptured
        if has_own and is_directory(self._mine.at(path)) and not is_directory(wanted):
            return path
        return None

    def _gives_way(self, obstacle: str) -> bool:
        return self._strategy.prefers_theirs and obstacle not in self._around_uncaptured

    def _meet(self, obstacle: str) -> None:
        """What is in the way counts for everything below it."""
        for path in [each for each in self._conflicts if each.startswith(f"{obstacle}/")]:
            del self._conflicts[path]
        self._conflict(obstacle, ConflictKind.IN_THE_WAY, marked=False)

    def _conflict(self, path: str, kind: ConflictKind, *, marked: bool) -> None:
        self._conflicts[path] = MergeConflict(
            path=path,
            kind=kind,
            marked=marked and kind is ConflictKind.CONTENT,
            mine=self._mine.at(path),
            theirs=self._theirs.at(path),
        )

    def _resolved(self, change: PathChange, mine: PathState | None) -> PathResolution:
        theirs = change.after
        found = merge_path(change.before, mine, theirs, self._strategy)
        if not found.by_lines or mine is None or theirs is None or found.state is None:
            return found
        before = change.before
        lines = self._lines.merge(
            before.hash if is_file(before) else None,
            mine.hash or "",
            theirs.hash or "",
            theirs_win=self._strategy.prefers_theirs,
        )
        if lines is not None:
            blob = NewObject.of(ObjectKind.BLOB, lines.content)
            self._blobs.append(blob)
            state = PathState(mode=found.state.mode, hash=blob.id)
            conflict = found.conflict if lines.is_clean else ConflictKind.CONTENT
            return PathResolution(state, conflict, by_lines=True)
        if self._strategy.prefers_theirs:
            return PathResolution(PathState(mode=found.state.mode, hash=theirs.hash))
        return PathResolution(mine, ConflictKind.BINARY)

    def _set(self, path: str, state: PathState | None) -> None:
        if state is not None:
            self._make_above(path)
        if is_directory(state):
            self._edited.make_directory(path, state.mode)
        elif state is not None:
            self._edited.put(path, state)
        elif not is_directory(self._mine.at(path)):
            self._edited.take_out(path)
        elif path not in self._around_uncaptured:
            self._edited.retire(path)

    def _make_above(self, path: str) -> None:
        """Makes the directories that are missing, as theirs are."""
        for place in reversed(list(ancestors(path))):
            if not self._edited.is_directory(place):
                self._edited.make_directory(place, self._theirs.directory_mode(place))


def _around(paths: Iterable[str]) -> set[str]:
    return {place for path in paths for place in ancestors(path)}
