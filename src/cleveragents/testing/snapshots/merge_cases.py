"""Small trees, and what has to come of merging them, for the contract of merging."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cleveragents.domain.sandboxes.merge import ConflictKind, MergeStrategy
from cleveragents.testing.trees import Node, Tree

Files = Mapping[str, "bytes | Node"]
"""What is in a sandbox: the bytes of an ordinary file, or a node; directories are as usual."""
FILE_MODE, DIRECTORY_MODE = 0o644, 0o755


def file(content: bytes, mode: int) -> Node:
    return Node("file", mode, content)


def link(target: str) -> Node:
    return Node("link", 0, target.encode())


def directory(mode: int = DIRECTORY_MODE) -> Node:
    return Node("directory", mode, b"")


def tree_of(files: Files) -> Tree:
    """Returns all of it, with the directories that hold it."""
    found = {".": directory()}
    for path, content in files.items():
        above = path
        while above := above.rpartition("/")[0]:
            found.setdefault(above, directory())
        node = content if isinstance(content, Node) else file(content, FILE_MODE)
        found[path] = node
    return found


def arrange(root: Path, files: Files) -> Tree:
    """Makes a sandbox hold exactly this; its own `.git` stays."""
    for entry in root.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            for directory, _, _ in os.walk(entry):  # Some of it may be closed to its owner.
                Path(directory).chmod(0o700)
            shutil.rmtree(entry)
        elif entry.name != ".git":
            entry.unlink()
    wanted = tree_of(files)
    for path in sorted(wanted):
        _make(root / path, wanted[path])
    for path in sorted(wanted, reverse=True):
        if wanted[path].kind == "directory":
            (root / path).chmod(wanted[path].mode)
    return wanted


def _make(place: Path, node: Node) -> None:
    if node.kind == "directory":
        place.mkdir(exist_ok=True)
    elif node.kind == "link":
        place.symlink_to(node.content.decode())
    else:
        place.write_bytes(node.content)
        place.chmod(node.mode)


@dataclass(frozen=True)
class Outcome:
    """What a sandbox holds after a merge, and what could not be merged."""

    files: Files
    conflicts: Mapping[str, ConflictKind] = field(default_factory=dict[str, ConflictKind])
    marked: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Case:
    """Three trees, and what comes of them with each strategy."""

    base: Files
    mine: Files
    theirs: Files
    merged: Outcome
    """By lines."""
    applied: Files
    """With `sequential_apply`."""
    last: Files
    """With `last_wins`."""

    def outcome(self, strategy: MergeStrategy) -> Outcome:
        if strategy is MergeStrategy.SEQUENTIAL_APPLY:
            return Outcome(self.applied)
        if strategy is MergeStrategy.LAST_WINS:
            return Outcome(self.last)
        if strategy is MergeStrategy.FAIL_ON_CONFLICT and self.merged.conflicts:
            return Outcome(self.mine, self.merged.conflicts)
        return self.merged


def agreed(base: Files, mine: Files, theirs: Files, result: Files) -> Case:
    """A case in which nothing is in conflict, whatever the strategy."""
    return Case(base, mine, theirs, Outcome(result), result, result)


def merged(base: Files, mine: Files, theirs: Files, result: Files) -> Case:
    """A case in which both have changed the same path, and can be merged."""
    return Case(base, mine, theirs, Outcome(result), result, theirs)


def contested(
    base: Files, mine: Files, theirs: Files, conflicts: Mapping[str, ConflictKind]
) -> Case:
    """A case in which everything is as mine or as theirs."""
    return Case(base, mine, theirs, Outcome(mine, conflicts), theirs, theirs)
