"""What a captured state has at each path, which paths differ between two states, and by how much.

The cost follows the difference, not the size of the sandbox.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

from cleveragents.domain.sandboxes.change import PathChange, PathState, change_of
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.objects import shown
from cleveragents.infrastructure.sandbox.states.difference import TOP, in_terms_of
from cleveragents.infrastructure.sandbox.store.captured_state import (
    CapturedState,
    ancestors,
)
from cleveragents.infrastructure.sandbox.store.lazy_tree import (
    DIRECTORY,
    LazyTree,
    Node,
    ReadTree,
    tree_changes,
)

DIFF_OPTIONS = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames")


@dataclass(frozen=True)
class PathStates:
    """One state, asked about by path; the sandbox itself is `.`."""

    captured: CapturedState
    _tree: LazyTree
    """The tree of the state."""

    def at(self, path: str) -> PathState | None:
        return self.state(path, None if path == TOP else self._tree.get(path))

    def state(self, path: str, node: Node | None) -> PathState | None:
        """Returns what is at a path that has this node in the tree; the tree lacks empty ones."""
        if path == TOP:
            mode = self.captured.top_mode
        elif node is not None and node[0] != DIRECTORY:
            return PathState(mode=self.captured.mode_of(path, node[0]), hash=node[1])
        elif node is not None or path in self.captured.bare_directories:
            mode = self.captured.mode_of(path, DIRECTORY)
        else:
            return None
        return PathState(mode=stat.S_IFDIR | mode, hash=None)

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


def path_changes(old: CapturedState, new: CapturedState, read: ReadTree) -> list[PathChange]:
    """Returns how each path changed, in the order of the paths.

    A path that one of the states left out, ignored or too large, is left out
    here: nobody knows what was there. A special file counts as nothing.
    """
    if old.usual != new.usual:
        new = in_terms_of(old, new, read)
    before, after = (PathStates(each, LazyTree(each.tree, read)) for each in (old, new))
    pairs = [
        (path, before.state(path, was), after.state(path, now))
        for path, was, now in tree_changes(read, old.tree, new.tree)
    ]
    # Trees have neither empty directories nor modes, so these may differ where trees do not.
    others = old.bare_directories ^ new.bare_directories
    others |= {path for path, _ in old.unusual.items() ^ new.unusual.items()}
    others -= {path for path, _, _ in pairs}
    pairs += [(path, before.at(path), after.at(path)) for path in others]
    pairs.append((TOP, before.state(TOP, None), after.state(TOP, None)))
    found = (
        change_of(path, was, now)
        for path, was, now in pairs
        if not (was is None and before.left_out(path))
        and not (now is None and after.left_out(path))
    )
    changes = [change for change in found if change is not None]
    return sorted(changes, key=lambda change: change.path)


def line_counts(git: Git, old: str, new: str) -> dict[str, tuple[int | None, int | None]]:
    """Returns lines added and removed in each file that differs; None and None for a binary one."""
    counts: dict[str, tuple[int | None, int | None]] = {}
    for record in git.run("diff", *DIFF_OPTIONS, "--numstat", "-z", old, new).split(b"\0")[:-1]:
        added, removed, path = record.split(b"\t", 2)
        is_binary = added == b"-"
        lines = (None, None) if is_binary else (int(added), int(removed))
        counts[shown(os.fsdecode(path))] = lines
    return counts
