"""A project's index, read without touching it, and as it is to be."""

from __future__ import annotations

import os
from collections.abc import Set
from dataclasses import dataclass

from cleveragents.infrastructure.sandbox.apply.merge_workspace import MergeWorkspace, Nodes
from cleveragents.infrastructure.sandbox.git.repository import Repository

_PLAIN = ("H", "0")
_CONFLICTED = ("conflicted", "")


@dataclass(frozen=True)
class IndexMove:
    """The bytes of an index; None where there is none, or it stays."""

    before: bytes | None = None
    after: bytes | None = None
    time: int | None = None
    """When what is there was written, in nanoseconds."""


@dataclass(frozen=True)
class ProjectIndex:
    """What is staged, and which files are not as they are staged."""

    nodes: Nodes
    changed: Set[str]
    room: MergeWorkspace
    repository: Repository

    def node(self, path: str) -> tuple[str, str] | None:
        """Returns what is staged; what has a conflict or a flag is like nothing else."""
        return self.nodes.get(path)

    def with_nodes(self, nodes: Nodes) -> IndexMove:
        """Returns the index as it is, and with other entries in the place of some."""
        with self.room.looking_at(self.repository.git_dir, self.repository.root) as git:
            place = git.directory / "index"
            before = place.read_bytes() if place.exists() else None
            time = place.stat().st_mtime_ns if before is not None else None
            # Its parts may be in files of their own, which would have to be brought in too.
            git.run("update-index", "--no-split-index")
            git.run("update-index", "-z", "--index-info", stdin=_listed(nodes))
            return IndexMove(before, place.read_bytes(), time)


def look_at_index(room: MergeWorkspace, repository: Repository) -> ProjectIndex:
    with room.looking_at(repository.git_dir, repository.root) as git:
        listing = git.run("ls-files", "-z", "--stage", "-v").split(b"\0")[:-1]
        # A file that was only touched is read, and found to be the same.
        git.run("update-index", "-q", "--unmerged", "--refresh", ok=(0, 1))
        changed = git.run("diff-files", "-z", "--name-only").split(b"\0")[:-1]
    nodes: Nodes = {}
    for line in listing:
        head, _, name = line.partition(b"\t")
        tag, mode, object_id, stage = head.decode().split(" ")
        plain = (tag, stage) == _PLAIN
        nodes[os.fsdecode(name)] = (mode, object_id) if plain else _CONFLICTED
    return ProjectIndex(nodes, {os.fsdecode(name) for name in changed}, room, repository)


def _listed(nodes: Nodes) -> bytes:
    return b"".join(
        f"{mode} {object_id}\t".encode() + os.fsencode(path) + b"\0"
        for path, (mode, object_id) in nodes.items()
    )
