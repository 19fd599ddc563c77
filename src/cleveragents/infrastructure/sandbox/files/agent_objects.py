"""What the agent's own git stored and a checkpoint needs.

Git does not sync the single files that it stores new objects in, so a power failure can take
them. A checkpoint must not depend on that: small objects go into the snapshot's own pack,
and the files of large ones are synced. What a checkpoint before it needed is durable already.
"""

from __future__ import annotations

import io
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cleveragents.domain.errors import SnapshotError
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.objects import GITLINK, NewObject, ObjectKind
from cleveragents.infrastructure.sandbox.store.blobs import missing_objects

ABSENT = "000000"
_READ_BYTES = 16 << 20
"""How much of the agent's objects is read into memory, by the size of their files."""


@dataclass(frozen=True)
class AgentObjects:
    """Objects that CleverAgents has not made durable."""

    to_store: tuple[NewObject, ...] = ()
    to_sync: tuple[Path, ...] = ()
    """Files of objects that are too large to be stored once more."""


def objects_of_commit(git: Git, commit: str, known: Iterable[str]) -> set[str]:
    """Returns the objects that a commit leads to, and the known commits do not.

    The cost follows what was committed, not the size of the project.

    Raises:
        GitCommandError: a commit or a tree among them is missing or damaged.
    """
    # A known commit may be gone: then more is returned.
    options = ("--ignore-missing", "--no-commit-header", "--format=%H %T")
    listing = git.run("rev-list", *options, commit, "--not", *known).decode().split()
    commits = "".join(f"{each}\n" for each in listing[::2])
    changes = git.run(
        *("diff-tree", "--stdin", "-r", "-t", "-m", "--root", "--raw", "-z", "--no-abbrev"),
        *("--no-commit-id", "--no-renames"),
        stdin=commits.encode(),
    )
    return {*listing, *named_objects(raw_changes(changes))}


RawChange = tuple[str, str, str]
"""Mode and object of a path, and the path; `ABSENT` is the mode of what was removed."""


def raw_changes(listing: bytes) -> list[RawChange]:
    """Returns what a raw diff says that paths have become."""
    fields = listing.split(b"\0")[:-1]
    heads = (head.decode().split(" ") for head in fields[::2])
    names = map(os.fsdecode, fields[1::2])
    return [(head[1], head[3], name) for head, name in zip(heads, names, strict=True)]


def named_objects(changes: Iterable[RawChange]) -> set[str]:
    return {object_id for mode, object_id, _ in changes if mode not in (ABSENT, GITLINK)}


def agent_objects(git: Git, store: Path, object_ids: Collection[str]) -> AgentObjects:
    """Returns what has to be done to make objects durable; those in packs are.

    Raises:
        SnapshotError: one of them is missing or damaged.
    """
    small: list[str] = []
    large: list[Path] = []
    others: list[str] = []
    room = _READ_BYTES
    for object_id in sorted(object_ids):
        path = store / "objects" / object_id[:2] / object_id[2:]
        size = -1
        with suppress(OSError):
            size = path.stat().st_size
        room -= size
        if size >= 0 and room >= 0:
            small.append(object_id)
            continue
        others.append(object_id)
        if size >= 0:
            large.append(path)
    if missing := missing_objects(git, others):
        raise SnapshotError(f"Object {sorted(missing)[0]} of the agent's git is missing")
    return AgentObjects(tuple(_read(git, small)), tuple(large))


def _read(git: Git, object_ids: Collection[str]) -> Iterator[NewObject]:
    if not object_ids:
        return
    asked = "".join(f"{object_id}\n" for object_id in object_ids).encode()
    answers = io.BytesIO(git.run("cat-file", "--batch", "--buffer", stdin=asked))
    for object_id in object_ids:
        _, kind, *size = answers.readline().decode().split()
        content = answers.read(int(size[0])) if size else b""
        answers.read(1)
        found = NewObject.of(ObjectKind[kind.upper()], content) if size else None
        if found is None or found.id != object_id:
            raise SnapshotError(f"Object {object_id} of the agent's git is damaged")
        yield found
