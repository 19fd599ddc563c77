"""A git tree of which only the directories that are looked at are in memory.

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
_LOADED_AT_MOST = 2_000

_ENTRY = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)
_ENCODING, _ERRORS = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()
_PAIRS_AT_ONCE = 500

Node = tuple[str, str]
"""Git mode and object id."""

ReadTree = Callable[[str], bytes]
ReadAhead = Callable[[Iterable[str]], None]
"""Is told of trees that are about to be read, so that they are got in one go."""


def not_ahead(_: Iterable[str]) -> None:
    """Reads nothing ahead."""


def parse_tree(data: bytes) -> dict[str, Node]:
    """Returns what a tree object lists, by name."""
    entries = {
        name.decode(_ENCODING, _ERRORS): (mode.decode(), object_id.hex())
        for mode, name, object_id in _ENTRY.findall(data)
    }
    if ESCAPED.encode() in data:
        return {unescaped(name): node for name, node in entries.items()}
    return entries


def tree_bytes(entries: Mapping[str, Node]) -> bytes:
    """Returns the tree object for some entries, in git's own order."""
    ordered = sorted(
        (os.fsencode(escaped(name)) + (b"/" if node[0] == DIRECTORY else b""), node)
        for name, node in entries.items()
    )
    return b"".join(
        b"%s %s\0%s" % (mode.encode(), name.rstrip(b"/"), bytes.fromhex(object_id))
        for name, (mode, object_id) in ordered
    )


@dataclass(slots=True)
class _Directory:
    entries: dict[str, Node]
    loaded: dict[str, _Directory] = field(default_factory=dict[str, "_Directory"])
    changed: bool = False


class LazyTree:
    """One tree that can be read and changed by path; paths have no leading slash."""

    def __init__(self, root: str, read: ReadTree) -> None:
        self._read = read
        self._id = root
        self._top: _Directory | None = None
        self._count = 1

    def get(self, path: str) -> Node | None:
        """Returns what is at a path, or None."""
        parent, _, name = path.rpartition("/")
        directory = self._open(parent)
        return None if directory is None else directory.entries.get(name)

    def is_directory(self, path: str) -> bool:
        node = self.get(path)
        return node is not None and node[0] == DIRECTORY

    def is_file(self, path: str) -> bool:
        node = self.get(path)
        return node is not None and node[0] != DIRECTORY

    def names(self, path: str) -> Mapping[str, Node]:
        """Returns what is directly in a directory; nothing if it is not in the tree."""
        directory = self._open(path)
        return {} if directory is None else directory.entries

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
        directory = self._make(parent)
        directory.loaded.pop(name, None)
        directory.entries[name] = node

    def remove(self, path: str) -> None:
        """Takes out what is at a path, and the directories above it that are left empty."""
        while path:
            parent, _, name = path.rpartition("/")
            directory = self._open(parent)
            if directory is None or name not in directory.entries:
                return
            self._make(parent)
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
        order: list[tuple[_Directory, str, _Directory]] = []
        waiting = [self._root]
        while waiting:
            directory = waiting.pop()
            directory.changed = False
            for name, inner in directory.loaded.items():
                if inner.changed:
                    order.append((directory, name, inner))
                    waiting.append(inner)
        for parent, name, directory in reversed(order):
            tree = NewObject.of(ObjectKind.TREE, tree_bytes(directory.entries))
            made.append(tree)
            parent.entries[name] = (DIRECTORY, tree.id)
        root = NewObject.of(ObjectKind.TREE, tree_bytes(self._root.entries))
        made.append(root)
        self._id = root.id
        return self._id, made

    def shrink(self) -> None:
        """Lets go of what is loaded if that is much; everything must be flushed and stored."""
        if self._count > _LOADED_AT_MOST and self._top is not None and not self._top.changed:
            self._top = None
            self._count = 1

    def _open(self, path: str) -> _Directory | None:
        directory = self._root
        for name in path.split("/") if path else ():
            inner = directory.loaded.get(name)
            if inner is None:
                node = directory.entries.get(name)
                if node is None or node[0] != DIRECTORY:
                    return None
                inner = directory.loaded[name] = self._load(node[1])
                self._count += 1
            directory = inner
        return directory

    def _make(self, path: str) -> _Directory:
        """Returns a directory, marked as changed with all above it; it is made if need be."""
        directory = self._root
        directory.changed = True
        for name in path.split("/") if path else ():
            inner = directory.loaded.get(name)
            if inner is None:
                node = directory.entries.get(name)
                known = node is not None and node[0] == DIRECTORY
                inner = self._load(node[1]) if node is not None and known else _Directory({})
                if not known:
                    directory.entries[name] = (DIRECTORY, EMPTY_TREE)
                directory.loaded[name] = inner
                self._count += 1
            directory = inner
            directory.changed = True
        return directory

    @property
    def _root(self) -> _Directory:
        """Loaded when it is first needed: a tree that nobody asks about costs nothing."""
        if self._top is None:
            self._top = self._load(self._id)
        return self._top

    def _load(self, object_id: str) -> _Directory:
        return _Directory({} if object_id == EMPTY_TREE else parse_tree(self._read(object_id)))


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
        for pair in some:
            yield from _changes_in(read, pair, waiting)


def _changes_in(read: ReadTree, pair: Pair, waiting: list[Pair]) -> Iterator[Change]:
    """Yields what differs directly in a directory; adds the directories there that differ."""
    path, first, second = pair
    before = {} if first == EMPTY_TREE else parse_tree(read(first))
    after = {} if second == EMPTY_TREE else parse_tree(read(second))
    start = f"{path}/" if path else ""
    for name in {name for name, _ in before.items() ^ after.items()}:
        was, now = before.get(name), after.get(name)
        were, are = (node is not None and node[0] == DIRECTORY for node in (was, now))
        if not (were and are):
            yield start + name, was, now
        if were or are:
            waiting.append(
                (
                    start + name,
                    was[1] if was is not None and were else EMPTY_TREE,
                    now[1] if now is not None and are else EMPTY_TREE,
                )
            )
