"""The objects that are a snapshot in the store.

A snapshot is a commit whose tree is exactly the files, so `git diff` and
`git show` work on it. It has no parent: dropping one frees its objects. A second
commit, the anchor, leads to everything else that must stay (document, index,
HEAD); the one ref per snapshot points to it. ADR 0001 has the reasons.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cleveragents.domain.errors import SnapshotCorruptError
from cleveragents.infrastructure.sandbox.git.objects import EMPTY_TREE, NewObject, ObjectKind
from cleveragents.infrastructure.sandbox.store.captured_state import (
    REGULAR,
    CapturedState,
    state_hash_of,
)
from cleveragents.infrastructure.sandbox.store.lazy_tree import DIRECTORY, build_trees

_AUTHOR = b"CleverAgents <checkpoints@cleveragents.invalid> 0 +0000"
_PART = re.compile(rb"^(tree |Document: |Ignored: |State-Hash: )([0-9a-f]+)$", re.MULTILINE)


@dataclass(frozen=True)
class SnapshotObjects:
    """What has to be stored besides files and their trees."""

    snapshot: NewObject
    anchor: NewObject
    others: tuple[NewObject, ...]
    state_hash: str

    @property
    def all(self) -> tuple[NewObject, ...]:
        return (*self.others, self.snapshot, self.anchor)


@dataclass(frozen=True)
class SnapshotParts:
    """What the commit of a snapshot names."""

    tree: str
    document: str
    ignored: str
    state_hash: str


def snapshot_objects(captured: CapturedState, staged: Iterable[str]) -> SnapshotObjects:
    """Returns the objects of a snapshot: equal states give equal ids.

    Args:
        captured: The state.
        staged: Blobs that only the index leads to, where it is kept as a listing.
    """
    content = captured.document()
    document = NewObject.of(ObjectKind.BLOB, content)
    ignored = NewObject.of(ObjectKind.BLOB, captured.ignored_document())
    state_hash = state_hash_of(content)
    message = (
        f"CleverAgents snapshot\n\n"
        f"State-Hash: {state_hash}\nDocument: {document.id}\nIgnored: {ignored.id}\n"
    )
    snapshot = commit_object(captured.tree, (), message.encode())
    entries = {
        "document.json": (REGULAR, document.id),
        "ignored.json": (REGULAR, ignored.id),
        **_index_entries(captured, staged),
    }
    trees = build_trees(entries)[1]
    head = [captured.git.commit] if captured.git.commit else []
    anchor = commit_object(trees[-1].id, [snapshot.id, *head], b"CleverAgents snapshot anchor\n")
    # git knows the empty tree without having it; a snapshot does not rely on that.
    empty = [NewObject.of(ObjectKind.TREE, b"")] if captured.tree == EMPTY_TREE else []
    return SnapshotObjects(snapshot, anchor, (document, ignored, *trees, *empty), state_hash)


def parts_of(snapshot_id: str, commit: bytes) -> SnapshotParts:
    """Raises SnapshotCorruptError when the commit is not one of ours."""
    found = {name: value.decode() for name, value in _PART.findall(commit)}
    try:
        return SnapshotParts(
            *(found[name] for name in (b"tree ", b"Document: ", b"Ignored: ", b"State-Hash: "))
        )
    except KeyError as error:
        raise SnapshotCorruptError(f"{snapshot_id} is not a snapshot") from error


def commit_object(tree: str, parents: Iterable[str], message: bytes) -> NewObject:
    """Returns a commit without a date: equal states are equal commits."""
    lines = [
        b"tree " + tree.encode(),
        *(b"parent " + parent.encode() for parent in parents),
        b"author " + _AUTHOR,
        b"committer " + _AUTHOR,
    ]
    return NewObject.of(ObjectKind.COMMIT, b"\n".join(lines) + b"\n\n" + message)


def _index_entries(captured: CapturedState, staged: Iterable[str]) -> Mapping[str, tuple[str, str]]:
    """Returns what leads to the index from the anchor."""
    git = captured.git
    if git.index_listing is not None:
        blobs = {f"index.objects/{name}": (REGULAR, name) for name in staged}
        return {"index.listing": (REGULAR, git.index_listing), **blobs}
    if git.index_tree is None or git.index_tree == EMPTY_TREE:
        return {}
    return {"index": (DIRECTORY, git.index_tree)}
