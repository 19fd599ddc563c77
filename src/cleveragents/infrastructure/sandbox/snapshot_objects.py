"""The objects that are a snapshot in the store.

A snapshot is a commit whose tree is exactly the files, so `git diff` and
`git show` work on it. It has no parent: dropping one frees its objects. A second
commit, the anchor, leads to everything else that must stay (document, index,
HEAD); the one ref per snapshot points to it. ADR 0001 has the reasons.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from cleveragents.domain.errors import SnapshotCorruptError
from cleveragents.infrastructure.sandbox.git_state import GitLook, staged_objects
from cleveragents.infrastructure.sandbox.manifest import Manifest, document_of, state_hash_of
from cleveragents.infrastructure.sandbox.objects import (
    EMPTY_TREE,
    Kind,
    NewObject,
    build_trees,
)

_AUTHOR = b"CleverAgents <checkpoints@cleveragents.invalid> 0 +0000"
_TRAILER = re.compile(rb"^(Document|Ignored|State-Hash): ([0-9a-f]+)$", re.MULTILINE)


@dataclass(frozen=True)
class SnapshotObjects:
    """What has to be stored besides the files themselves."""

    snapshot: NewObject
    anchor: NewObject
    trees: list[NewObject]
    others: list[NewObject]
    state_hash: str


@dataclass(frozen=True)
class SnapshotParts:
    """What the commit of a snapshot names."""

    document: str
    ignored: str
    state_hash: str


def snapshot_objects(manifest: Manifest, found: GitLook) -> SnapshotObjects:
    tree, trees = build_trees(manifest.tree_entries())
    content = document_of(manifest, tree)
    document = NewObject.of(Kind.BLOB, content)
    ignored = NewObject.of(Kind.BLOB, json.dumps(sorted(manifest.ignored)).encode("ascii"))
    state_hash = state_hash_of(content)
    message = (
        f"CleverAgents snapshot\n\n"
        f"State-Hash: {state_hash}\nDocument: {document.id}\nIgnored: {ignored.id}\n"
    )
    snapshot = _commit(tree, (), message.encode())
    anchor_trees = _anchor_trees(found, document, ignored)
    head = [manifest.git.commit] if manifest.git.commit else []
    anchor = _commit(anchor_trees[-1].id, [snapshot.id, *head], b"CleverAgents snapshot anchor\n")
    others = [document, ignored, *found.objects, *anchor_trees, snapshot, anchor]
    return SnapshotObjects(snapshot, anchor, trees, others, state_hash)


def parts_of(snapshot_id: str, commit: bytes) -> SnapshotParts:
    """Raises SnapshotCorruptError when the commit is not one of ours."""
    found = {name: value.decode() for name, value in _TRAILER.findall(commit)}
    try:
        return SnapshotParts(found[b"Document"], found[b"Ignored"], found[b"State-Hash"])
    except KeyError as error:
        raise SnapshotCorruptError(f"{snapshot_id} is not a snapshot") from error


def _anchor_trees(found: GitLook, document: NewObject, ignored: NewObject) -> list[NewObject]:
    """Returns the anchor's tree, last, and the trees in it: it leads to all that must stay."""
    entries = {
        "document.json": ("100644", document.id),
        "ignored.json": ("100644", ignored.id),
    }
    state = found.state
    if state.index_listing is not None:
        entries["index.listing"] = ("100644", state.index_listing)
        staged = staged_objects(found.objects[0].data or b"")
        entries |= {f"index.objects/{name}": ("100644", name) for name in staged}
    elif state.index_tree not in (None, EMPTY_TREE):
        entries["index"] = ("40000", state.index_tree)
    return build_trees(entries)[1]


def _commit(tree: str, parents: Iterable[str], message: bytes) -> NewObject:
    """Returns a commit without a date: equal states are equal commits."""
    lines = [
        b"tree " + tree.encode(),
        *(b"parent " + parent.encode() for parent in parents),
        b"author " + _AUTHOR,
        b"committer " + _AUTHOR,
    ]
    return NewObject.of(Kind.COMMIT, b"\n".join(lines) + b"\n\n" + message)
