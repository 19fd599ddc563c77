"""A captured state that is changed path by path, without a sandbox.

Only the trees above changed paths are read and rewritten.
"""

from __future__ import annotations

import stat
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from cleveragents.domain.sandboxes.change import PathState
from cleveragents.infrastructure.sandbox.git.objects import NewObject
from cleveragents.infrastructure.sandbox.states.difference import TOP
from cleveragents.infrastructure.sandbox.store.captured_state import (
    CapturedState,
    ancestors,
    git_mode_of,
)
from cleveragents.infrastructure.sandbox.store.lazy_tree import DIRECTORY, LazyTree, ReadTree


class StateEditor:
    """One state on its way to another; `HEAD`, index and what was not captured stay."""

    def __init__(self, start: CapturedState, read: ReadTree) -> None:
        self._start = start
        self._tree = LazyTree(start.tree, read)
        self._unusual = dict(start.unusual)
        self._top_mode = start.top_mode
        self._bare = set(start.empty_directories)
        self._around = Counter(place for path in self._bare for place in ancestors(path))
        """How many empty directories each directory has in it, at any depth."""
        self._unsettled: set[str] = set()
        """Directories that are there, and may be empty or no longer be."""
        self._retired: set[str] = set()

    def is_directory(self, path: str) -> bool:
        return (
            path in self._unsettled
            or path in self._bare
            or self._around[path] > 0
            or self._tree.is_directory(path)
        )

    def put(self, path: str, state: PathState) -> None:
        """Puts a file or link at a path, in place of whatever is there, below directories."""
        self.take_out(path)
        git_mode = git_mode_of(state.mode)
        self._tree.put(path, (git_mode, state.hash or ""))
        self._set(path, state.mode, git_mode)
        self._unsettled.update(ancestors(path))

    def make_directory(self, path: str, mode: int) -> None:
        """Makes a directory in place of whatever is there, or sets the mode of one."""
        if path == TOP:
            self._top_mode = stat.S_IMODE(mode)
            return
        if not self.is_directory(path):
            self.take_out(path)
        self._set(path, stat.S_IMODE(mode), DIRECTORY)
        self._unsettled.update((path, *ancestors(path)))
        self._retired.discard(path)

    def retire(self, path: str) -> None:
        """Has a directory, if it is still there, go if nothing is in it in the end."""
        if self.is_directory(path):
            self._retired.add(path)
            self._unsettled.update((path, *ancestors(path)))

    def take_out(self, path: str) -> None:
        """Takes out what is at a path with all that is in it; the directory above it stays."""
        self._unsettled.update(place for place in ancestors(path) if self.is_directory(place))
        if self.is_directory(path):
            self._forget_inside(path)
        self._tree.remove(path)
        self._unusual.pop(path, None)

    def _forget_inside(self, directory: str) -> None:
        def is_inside(path: str) -> bool:
            return path == directory or path.startswith(f"{directory}/")

        for empty in list(filter(is_inside, self._bare)):
            self._fill(empty)
        for other in list(filter(is_inside, self._unusual)):
            del self._unusual[other]
        self._unsettled -= set(filter(is_inside, self._unsettled))
        self._retired -= set(filter(is_inside, self._retired))

    def result(self) -> tuple[CapturedState, Sequence[NewObject]]:
        """Returns the state, and the trees of it that may not be stored yet."""
        self._settle()
        tree, made = self._tree.flush()
        captured = replace(
            self._start,
            tree=tree,
            unusual=self._unusual,
            top_mode=self._top_mode,
            empty_directories=frozenset(self._bare),
        )
        return captured, made

    def _settle(self) -> None:
        waiting = sorted(self._unsettled, key=lambda path: path.count("/"))  # The deepest last.
        while waiting:
            path = waiting.pop()
            if self._tree.names(path) or self._around[path] > 0:
                self._fill(path)
            elif path not in self._retired:
                self._empty(path)
            else:
                self._fill(path)
                self._unusual.pop(path, None)

    def _empty(self, path: str) -> None:
        if path not in self._bare:
            self._bare.add(path)
            self._around.update(ancestors(path))

    def _fill(self, path: str) -> None:
        """Notes that a directory is not empty, if it exists."""
        if path in self._bare:
            self._bare.remove(path)
            self._around.subtract(ancestors(path))

    def _set(self, path: str, mode: int, git_mode: str) -> None:
        if mode == self._start.usual.get(git_mode):
            self._unusual.pop(path, None)
        else:
            self._unusual[path] = mode
