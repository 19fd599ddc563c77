"""Directories as plain values, read without any of the code that is being tested."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from cleveragents.domain.sandboxes.change import PathChange, PathState, change_of


class Node(NamedTuple):
    """One entry of a directory."""

    kind: str
    """`file`, `directory`, `link` or `special`."""
    mode: int
    """All permission bits; 0 for a link."""
    content: bytes
    """The bytes of a file, or the target of a link."""


Tree = dict[str, Node]


def read_tree(root: Path) -> Tree:
    """Returns all that is in a directory, itself as `.`, without a `.git` at its top."""
    found: Tree = {".": _node(str(root))}
    waiting = [""]
    while waiting:
        directory = waiting.pop()
        for entry in (root / directory).iterdir():
            path = f"{directory}/{entry.name}" if directory else entry.name
            if path == ".git":
                continue
            found[path] = _node(f"{root}/{path}")
            if found[path].kind == "directory":
                waiting.append(path)
    return found


def differing(old: Tree, new: Tree) -> list[str]:
    """Returns the paths that are not the same in both."""
    return sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path))


def changes_by_hand(old: Tree, new: Tree) -> list[PathChange]:
    """Returns how each path changed, by comparing all of them; a special file counts as nothing."""
    paths = sorted(old.keys() | new.keys())
    found = [change_of(path, _state(old.get(path)), _state(new.get(path))) for path in paths]
    return [change for change in found if change is not None]


def combined_by_hand(base: Tree, other: Tree, paths: Collection[str]) -> Tree:
    """Returns the one tree with what the other has at some paths, by going through all of both."""

    def is_named(path: str) -> bool:
        return any(path == top or path.startswith(f"{top}/") or top == "." for top in paths)

    found = {path: node for path, node in base.items() if not is_named(path)}
    brought = {path: node for path, node in other.items() if is_named(path)}
    for path in brought:
        while path := path.rpartition("/")[0]:
            if path not in found or found[path].kind != "directory":
                found[path] = other[path]
    return found | brought


def _state(node: Node | None) -> PathState | None:
    if node is None or node.kind == "special":
        return None
    if node.kind == "directory":
        return PathState(mode=stat.S_IFDIR | node.mode, hash=None)
    blob = b"blob %d\0" % len(node.content) + node.content
    mode = stat.S_IFLNK | 0o777 if node.kind == "link" else stat.S_IFREG | node.mode
    return PathState(mode=mode, hash=hashlib.sha1(blob, usedforsecurity=False).hexdigest())


def _node(path: str) -> Node:
    status = os.lstat(path)
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISLNK(status.st_mode):
        return Node("link", 0, os.fsencode(os.readlink(path)))  # noqa: PTH115 # bytes as they are
    if stat.S_ISDIR(status.st_mode):
        return Node("directory", mode, b"")
    if stat.S_ISREG(status.st_mode):
        return Node("file", mode, Path(path).read_bytes())
    return Node("special", mode, b"")
