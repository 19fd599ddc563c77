"""What a captured state has at each path, and which paths differ between two states.

The cost follows the difference, not the size of the sandbox.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator

from cleveragents.domain.sandboxes.change import PathChange, PathState, change_of
from cleveragents.infrastructure.sandbox.states.difference import TOP, around_nothing, in_terms_of
from cleveragents.infrastructure.sandbox.store.captured_state import CapturedState, ancestors
from cleveragents.infrastructure.sandbox.store.lazy_tree import (
    DIRECTORY,
    LazyTree,
    Node,
    ReadTree,
    tree_changes,
)


class PathStates:
    """One state, asked about by path; the sandbox itself is `.`."""

    def __init__(self, captured: CapturedState, read: ReadTree) -> None:
        self.captured = captured
        self.bare = around_nothing(captured)
        self._tree = LazyTree(captured.tree, read)

    def at(self, path: str) -> PathState | None:
        if path == TOP:
            return directory_state(self.captured.top_mode)
        return self.state(path, self._tree.get(path))

    def state(self, path: str, node: Node | None) -> PathState | None:
        """Returns what is at a path that has this node in the tree; the tree lacks empty ones."""
        if node is None and path not in self.bare:
            return None
        if node is None or node[0] == DIRECTORY:
            return directory_state(self.directory_mode(path))
        return PathState(mode=self.captured.mode_of(path, node[0]), hash=node[1])

    def directory_mode(self, path: str) -> int:
        """Returns the permission bits of a directory that the state has."""
        return self.captured.mode_of(path, DIRECTORY)

    def left_out(self, path: str) -> bool:
        """Says whether a path, or a directory above it, holds something that nobody knows."""
        held = self.captured
        return any(
            name in held.ignored
            or (name in held.not_captured and not held.not_captured[name].is_special_file)
            for place in (path, *ancestors(path))
            for name in (place, f"{place}/")
        )


def directory_state(mode: int) -> PathState:
    return PathState(mode=stat.S_IFDIR | mode, hash=None)


def path_changes(old: CapturedState, new: CapturedState, read: ReadTree) -> list[PathChange]:
    """Returns what became of each path, in the order of the paths.

    A path that one of the states left out, ignored or too large, is left out
    here: nobody knows what was there. A special file counts as nothing.
    """
    if old.usual != new.usual:
        new = in_terms_of(old, new, read)
    before, after = PathStates(old, read), PathStates(new, read)
    found = (
        change_of(path, was, now)
        for path, was, now in _pairs(before, after, read)
        if not (was is None and before.left_out(path))
        and not (now is None and after.left_out(path))
    )
    changes = [change for change in found if change is not None]
    return sorted(changes, key=lambda change: change.path)


Pair = tuple[str, PathState | None, PathState | None]


def _pairs(before: PathStates, after: PathStates, read: ReadTree) -> Iterator[Pair]:
    """Yields each path that may differ once, with what is there in both states."""
    old, new = before.captured, after.captured
    seen: set[str] = set()
    for path, was, now in tree_changes(read, old.tree, new.tree):
        seen.add(path)
        yield path, before.state(path, was), after.state(path, now)
    others = before.bare ^ after.bare
    others |= {path for path, _ in old.unusual.items() ^ new.unusual.items()}
    for path in others - seen:
        yield path, before.at(path), after.at(path)
    yield TOP, directory_state(old.top_mode), directory_state(new.top_mode)
