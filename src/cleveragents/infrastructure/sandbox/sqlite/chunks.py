"""What a snapshot of a SQLite database is in the store.

The file is cut into chunks, each a blob, so that what did not change costs
nothing. A document says what the chunks do not: kind, size, permission bits and
journal mode. Both lie in the tree of one commit without parent and date, so
equal states are equal commits. ADR 0011 has the reasons.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from cleveragents.domain.errors import GitCommandError, SnapshotCorruptError, SnapshotMissingError
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.objects import NewObject, ObjectKind
from cleveragents.infrastructure.sandbox.store.blobs import BlobReader
from cleveragents.infrastructure.sandbox.store.lazy_tree import build_trees
from cleveragents.infrastructure.sandbox.store.snapshots import commit_object

CHUNK_BYTES = 1 << 16
"""The largest page SQLite knows, so a chunk always holds whole pages."""
_DOCUMENT = "document.json"
_CHUNKS = "chunks/"
_FILE = "100644"
_VERSION = 1
_TRAILER = re.compile(rb"^(Document|State-Hash): ([0-9a-f]+)$", re.MULTILINE)

_ROLLBACK_FORMAT = b"\1\1"
_WRITE_AHEAD_FORMAT = b"\2\2"
# Fields of the header that say nothing about the content: how it is journaled (kept in the
# document), how often it was written, how often its schema was, and which SQLite wrote it.
_FORMAT_AT = 18
_NORMAL = ((_FORMAT_AT, _ROLLBACK_FORMAT), (24, bytes(4)), (40, b"\0\0\0\1"), (92, bytes(8)))


class FileKind(StrEnum):
    """What is at the place of the database."""

    DATABASE = "database"
    BYTES = "bytes"
    """A file that SQLite cannot read, or an empty one: kept as it is."""
    MISSING = "missing"
    OTHER = "other"
    """A directory, a link, a special file: not kept."""


@dataclass(frozen=True)
class DatabaseState:
    """Everything that makes two databases the same."""

    kind: FileKind
    size: int = 0
    mode: int = 0
    write_ahead: bool = False
    chunks: tuple[str, ...] = ()
    """The ids of their blobs, in order."""


@dataclass(frozen=True)
class ChunkedSnapshot:
    """The objects of a snapshot besides its chunks, the commit last."""

    objects: Sequence[NewObject]
    state_hash: str
    document: bytes

    @property
    def id(self) -> str:
        return self.objects[-1].id


def chunks_of(content: Path, kind: FileKind) -> Iterator[bytes]:
    """Reads a file chunk by chunk; of a database the header is given in its normal form."""
    with content.open("rb") as stream:
        first = kind is FileKind.DATABASE
        while chunk := stream.read(CHUNK_BYTES):
            yield _normal(chunk) if first else chunk
            first = False


def chunk_ids(content: Path, kind: FileKind) -> tuple[str, ...]:
    return tuple(NewObject.of(ObjectKind.BLOB, chunk).id for chunk in chunks_of(content, kind))


def set_journaling(content: Path, *, write_ahead: bool) -> None:
    """Makes the header of a database file ask for a write-ahead log, or not."""
    with content.open("r+b") as stream:
        stream.seek(_FORMAT_AT)
        stream.write(_WRITE_AHEAD_FORMAT if write_ahead else _ROLLBACK_FORMAT)


def snapshot_of(state: DatabaseState, name: str) -> ChunkedSnapshot:
    content = _document(state, name)
    document = NewObject.of(ObjectKind.BLOB, content)
    entries = {_chunk_path(index): (_FILE, chunk) for index, chunk in enumerate(state.chunks)}
    tree, trees = build_trees({**entries, _DOCUMENT: (_FILE, document.id)})
    state_hash = hashlib.sha256(content).hexdigest()
    message = f"CleverAgents snapshot\n\nState-Hash: {state_hash}\nDocument: {document.id}\n"
    commit = commit_object(tree, (), message.encode())
    return ChunkedSnapshot((document, *trees, commit), state_hash, content)


def document_id(snapshot_id: str, commit: bytes) -> str:
    """Raises SnapshotCorruptError unless the commit is one of our snapshots."""
    found = dict(_TRAILER.findall(commit))
    if found.keys() != {b"Document", b"State-Hash"}:
        raise SnapshotCorruptError(f"{snapshot_id} is not a snapshot of a database")
    return found[b"Document"].decode()


def state_from(document: bytes, tree: Mapping[str, str]) -> DatabaseState:
    """Returns the state that was stored; `tree` has an object id for every path.

    Raises:
        SnapshotCorruptError: the document has another format.
    """
    try:
        content: dict[str, Any] = json.loads(document)
        return DatabaseState(
            kind=FileKind(content["kind"]),
            size=int(content["size"]),
            mode=int(content["mode"]),
            write_ahead=bool(content["write_ahead"]),
            chunks=tuple(tree[path] for path in sorted(tree) if path.startswith(_CHUNKS)),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise SnapshotCorruptError(f"A snapshot's document cannot be read: {error!r}") from error


def load_state(git: Git, snapshot_id: str, blobs: BlobReader, name: str) -> DatabaseState:
    """Returns what a snapshot holds.

    Args:
        git: Git on the store.
        snapshot_id: The snapshot.
        blobs: Reads from the store.
        name: The name of the database.

    Raises:
        SnapshotMissingError, SnapshotCorruptError: something of it is gone or damaged.
    """
    document = blobs.read(document_id(snapshot_id, blobs.read(snapshot_id)))
    state = state_from(document, _tree(git, snapshot_id))
    if snapshot_of(state, name).id != snapshot_id:
        raise SnapshotCorruptError(f"Snapshot {snapshot_id} does not hold what it lists")
    return state


def rebuild(state: DatabaseState, target: Path, blobs: BlobReader) -> Path:
    """Writes the stored bytes to a new file, each chunk checked against its name."""
    with target.open("xb") as stream:
        for chunk in state.chunks:
            blobs.copy(chunk, stream.write)
    return target


def _document(state: DatabaseState, name: str) -> bytes:
    """Canonical, so equal states have equal bytes."""
    content: dict[str, object] = {
        "version": _VERSION,
        "name": name,
        "kind": state.kind,
        "size": state.size,
        "mode": state.mode,
        "write_ahead": state.write_ahead,
        "chunk_bytes": CHUNK_BYTES,
        "content": hashlib.sha256("".join(state.chunks).encode()).hexdigest(),
    }
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode("ascii")


def _normal(chunk: bytes) -> bytes:
    header = bytearray(chunk)
    for start, value in _NORMAL:
        header[start : start + len(value)] = value
    return bytes(header)


def _chunk_path(index: int) -> str:
    """Two levels, so that one changed chunk does not rewrite a list of all of them."""
    return f"{_CHUNKS}{index >> 8:08x}/{index & 0xFF:02x}"


def _tree(git: Git, commit: str) -> dict[str, str]:
    try:
        listing = git.run("ls-tree", "-r", "-z", "--full-tree", commit)
    except GitCommandError as error:
        raise SnapshotMissingError(commit, str(git.directory.with_suffix(".git"))) from error
    entries = (line.partition("\t") for line in os.fsdecode(listing).split("\0")[:-1])
    return {path: head.split(" ")[2] for head, _, path in entries}
