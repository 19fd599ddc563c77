"""A git tree of which only the directories that were read are in memory.

Changing one file loads and rewrites the trees from it to the root and no others,
so the cost follows what changed, not the size of the project.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from cleveragents.infrastructure.sandbox.git.objects import (
    EMPTY_TREE,
    ESCAPED,
    NewObject,
    ObjectKind,
    escaped,
    unescaped,
)

DIRECTORY = "40000"

_ENTRY = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)
_ENCODING, _ERRORS = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()
_PAIRS_AT_ONCE = 500

Node = tuple[str, str]
"""Git mode and object id."""

ReadTree = Callable[[str], bytes]
ReadAhead = Callable[[Iterable[str]], None]
"""Announces trees that are about to be read, so that one question fetches them all."""


def not_ahead(_: Iterable[str]) -> None:
    """Reads nothing ahead."""


def tree_entries(read: ReadTree, tree: str) -> dict[str, Node]:
    """Returns what a tree lists, by name. The empty one is known without reading it."""
    if tree == EMPTY_TREE:
        return {}
    data = read(tree)
    entries = {
        name.decode(_ENCODING, _ERRORS): (mode.decode(), object_id.hex())
        for mode, name, object_id in _ENTRY.findall(data)
    }
    if ESCAPED.encode() in data:
        return {unescaped(name): node for name, node in entries.items()}
    return entries


@dataclass(slots=True)
class _Directory:
    entries: dict[str, Node]
    loaded: dict[str, _Directory] = field(default_factory=dict[str, "_Directory"])
    changed: bool = False


@dataclass(eq=False)
class LazyTree:
    """One tree that can be read and changed by path; paths have no leading slash."""

    _id: str
    _read: ReadTree
    _top: _Directory | None = None
    loaded: int = 1
    """How many directories are loaded."""

    def get(self, path: str) -> Node | None:
        """Returns what is at a path, or None."""
        parent, _, name = path.rpartition("/")
        return self._open(parent).entries.get(name)

    def is_directory(self, path: str) -> bool:
        node = self.get(path)
        return node is not None and node[0] == DIRECTORY

    def is_file(self, path: str) -> bool:
        node = self.get(path)
        return node is not None and node[0] != DIRECTORY

    def names(self, path: str) -> Mapping[str, Node]:
        """Returns what is directly in a directory; nothing if it is not in the tree."""
        return self._open(path).entries

    def files(self, path: str = "") -> Iterator[tuple[str, Node]]:
        """Yields every file at or below a path; the tree must not change meanwhile."""
        node = self.get(path) if path else None
        if node is not None and node[0] != DIRECTORY:
            yield path, node
            return
        waiting = [path]
        while waiting:
            directory = waiting.pop()
            start = f"{directory}/" if directory else ""
            for name, inner in self.names(directory).items():
                if inner[0] == DIRECTORY:
                    waiting.append(start + name)
                else:
                    yield start + name, inner

    def put(self, path: str, node: Node) -> None:
        """Puts a file at a path, making the directories above it."""
        parent, _, name = path.rpartition("/")
        directory = self._open(parent, make=True)
        directory.loaded.pop(name, None)
        directory.entries[name] = node

    def remove(self, path: str) -> None:
        """Takes out what is at a path, and the directories above it that are left empty."""
        while path:
            parent, _, name = path.rpartition("/")
            directory = self._open(parent)
            if name not in directory.entries:
                return
            self._open(parent, make=True)  # Marks it as changed, and all above it.
            del directory.entries[name]
            directory.loaded.pop(name, None)
            if directory.entries:
                return
            path = parent

    def flush(self) -> tuple[str, list[NewObject]]:
        """Returns the tree's id and the tree objects made since the last time."""
        made: list[NewObject] = []
        if self._top is None or not self._top.changed:
            return self._id, made
        # A directory comes before those in it. In reverse order, each has its id before its parent
        # needs it.
        order: list[tuple[_Directory, str, _Directory]] = [(_Directory({}), "", self._top)]
        for _, _, directory in order:
            directory.changed = False
            order += [
                (directory, name, inner)
                for name, inner in directory.loaded.items()
                if inner.changed
            ]
        for parent, name, directory in reversed(order):
            # Git sorts a directory as if its name ended with a slash.
            ordered = sorted(
                (os.fsencode(escaped(entry)) + (b"/" if node[0] == DIRECTORY else b""), node)
                for entry, node in directory.entries.items()
            )
            content = b"".join(
                b"%s %s\0%s" % (mode.encode(), entry.rstrip(b"/"), bytes.fromhex(object_id))
                for entry, (mode, object_id) in ordered
            )
            tree = NewObject.of(ObjectKind.TREE, content)
            made.append(tree)
            parent.entries[name] = (DIRECTORY, tree.id)
        self._id = made[-1].id
        return self._id, made

    def _open(self, path: str, *, make: bool = False) -> _Directory:
        """Returns a directory; if there is none, an empty one that is not part of the tree.

        With `make` it is part of the tree, and marked as changed with all above it.
        """
        # The root is loaded here: a tree that nobody asks about costs nothing.
        directory = self._top = self._top or _Directory(tree_entries(self._read, self._id))
        directory.changed |= make
        for name in path.split("/") if path else ():
            inner = directory.loaded.get(name)
            if inner is None:
                node = directory.entries.get(name)
                if node is None or node[0] != DIRECTORY:
                    if not make:
                        return _Directory({})
                    node = directory.entries[name] = (DIRECTORY, EMPTY_TREE)
                inner = directory.loaded[name] = _Directory(tree_entries(self._read, node[1]))
                self.loaded += 1
            directory = inner
            directory.changed |= make
        return directory


def build_trees(files: Mapping[str, Node]) -> tuple[str, list[NewObject]]:
    """Returns the id of the tree that holds some files, and every tree it is made of, root last."""
    tree = LazyTree(EMPTY_TREE, lambda _: b"")
    for path, node in files.items():
        tree.put(path, node)
    return tree.flush()


Change = tuple[str, Node | None, Node | None]
"""A path, what was there and what is there."""


Pair = tuple[str, str, str]
"""A path, and the trees of both sides there, which differ."""


def tree_changes(
    read: ReadTree, old: str, new: str, ahead: ReadAhead = not_ahead
) -> Iterator[Change]:
    """Yields every path whose entry differs, directories only where one side has none.

    Equal ids end the descent, so the cost follows the difference.
    """
    waiting: list[Pair] = [("", old, new)] if old != new else []
    while waiting:
        some, waiting = waiting[-_PAIRS_AT_ONCE:], waiting[:-_PAIRS_AT_ONCE]
        if len(some) > 1:
            ahead(tree for _, *pair in some for tree in pair if tree != EMPTY_TREE)
        for path, first, second in some:
            before, after = tree_entries(read, first), tree_entries(read, second)
            start = f"{path}/" if path else ""
            for name in {name for name, _ in before.items() ^ after.items()}:
                was, now = before.get(name), after.get(name)
                old_tree = was[1] if was is not None and was[0] == DIRECTORY else None
                new_tree = now[1] if now is not None and now[0] == DIRECTORY else None
                if old_tree is None or new_tree is None:
                    yield start + name, was, now
                if old_tree is not None or new_tree is not None:
                    waiting.append((start + name, old_tree or EMPTY_TREE, new_tree or EMPTY_TREE))
