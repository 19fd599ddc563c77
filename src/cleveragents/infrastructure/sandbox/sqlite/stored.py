"""Stored snapshots of databases, read back."""

from __future__ import annotations

import os
from pathlib import Path

from cleveragents.domain.errors import GitCommandError, SnapshotCorruptError, SnapshotMissingError
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.sqlite.chunks import (
    DatabaseState,
    document_id,
    snapshot_of,
    state_from,
)
from cleveragents.infrastructure.sandbox.store.blobs import BlobReader


def load_state(git: Git, snapshot_id: str, blobs: BlobReader, name: str) -> DatabaseState:
    """Returns what a snapshot holds.

    Args:
        git: Git on the store.
        snapshot_id: The snapshot.
        blobs: Reads from the store.
        name: The name of the database.

    Raises:
        SnapshotMissingError, SnapshotCorruptError: it is not whole in its outline.
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


def _tree(git: Git, commit: str) -> dict[str, str]:
    try:
        listing = git.run("ls-tree", "-r", "-z", "--full-tree", commit)
    except GitCommandError as error:
        raise SnapshotMissingError(commit, str(git.directory.with_suffix(".git"))) from error
    entries = (line.partition("\t") for line in os.fsdecode(listing).split("\0")[:-1])
    return {path: head.split(" ")[2] for head, _, path in entries}
