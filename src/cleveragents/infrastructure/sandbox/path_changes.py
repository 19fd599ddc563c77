"""Which paths differ between two captured states, and how; the cost follows the difference."""

from __future__ import annotations

import stat
from collections.abc import Iterator

from cleveragents.domain.change import PathChange, PathState, change_of
from cleveragents.infrastructure.sandbox.captured import Captured, ancestors
from cleveragents.infrastructure.sandbox.difference import (
    TOP,
    around_nothing,
    in_terms_of,
    is_special,
)
from cleveragents.infrastructure.sandbox.lazy_tree import (
    DIRECTORY,
    LazyTree,
    Node,
    ReadTree,
    tree_changes,
)


def path_changes(old: Captured, new: Captured, read: ReadTree) -> list[PathChange]:
    """Returns what became of each path, in the order of the paths.

    A path that one of the states left out, ignored or too large, is left out
    here: nobody knows what was there. A special file counts as nothing.
    """
    if old.usual != new.usual:
        new = in_terms_of(old, new, read)
    before, after = _Side(old, read), _Side(new, read)
    found = (
        change_of(path, was, now)
        for path, was, now in _pairs(before, after, read)
        if not (was is None and before.left_out(path))
        and not (now is None and after.left_out(path))
    )
    changes = [change for change in found if change is not None]
    return sorted(changes, key=lambda change: change.path)


Pair = tuple[str, PathState | None, PathState | None]


def _pairs(before: _Side, after: _Side, read: ReadTree) -> Iterator[Pair]:
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
    yield TOP, _directory(old.top_mode), _directory(new.top_mode)


class _Side:
    """One of the two states."""

    def __init__(self, captured: Captured, read: ReadTree) -> None:
        self.captured = captured
        self.bare = around_nothing(captured)
        self._tree = LazyTree(captured.tree, read)

    def at(self, path: str) -> PathState | None:
        return self.state(path, self._tree.get(path))

    def state(self, path: str, node: Node | None) -> PathState | None:
        """Returns what is at a path that has this node in the tree; the tree lacks empty ones."""
        if node is None and path not in self.bare:
            return None
        if node is None or node[0] == DIRECTORY:
            return _directory(self.captured.mode_of(path, DIRECTORY))
        return PathState(mode=self.captured.mode_of(path, node[0]), hash=node[1])

    def left_out(self, path: str) -> bool:
        return any(self._is_left_out(place) for place in (path, *ancestors(path)))

    def _is_left_out(self, path: str) -> bool:
        held = self.captured
        return any(
            name in held.ignored
            or (name in held.not_captured and not is_special(held.not_captured[name]))
            for name in (path, f"{path}/")
        )


def _directory(mode: int) -> PathState:
    return PathState(mode=stat.S_IFDIR | mode, hash=None)
