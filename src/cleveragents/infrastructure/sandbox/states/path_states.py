"""What a captured state has at each path."""

from __future__ import annotations

import stat

from cleveragents.domain.sandboxes.change import PathState
from cleveragents.infrastructure.sandbox.states.difference import TOP, around_nothing
from cleveragents.infrastructure.sandbox.store.captured_state import CapturedState, ancestors
from cleveragents.infrastructure.sandbox.store.lazy_tree import DIRECTORY, LazyTree, Node, ReadTree


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
        return any(self._is_left_out(place) for place in (path, *ancestors(path)))

    def _is_left_out(self, path: str) -> bool:
        held = self.captured
        return any(
            name in held.ignored
            or (name in held.not_captured and not held.not_captured[name].is_special_file)
            for name in (path, f"{path}/")
        )


def directory_state(mode: int) -> PathState:
    return PathState(mode=stat.S_IFDIR | mode, hash=None)
