"""How states of a database differ, and which of two wins: it has no parts to merge."""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Sequence

from msgspec.structs import replace

from cleveragents.domain.sandboxes.change import ChangeOperation, PathChange, PathState, change_of
from cleveragents.domain.sandboxes.merge import (
    ConflictKind,
    MergeConflict,
    MergeReport,
    MergeStrategy,
)
from cleveragents.infrastructure.sandbox.sqlite.chunks import (
    DatabaseState,
    FileKind,
    snapshot_of,
    state_from,
)


def database_changes(name: str, old: bytes, new: bytes) -> Sequence[PathChange]:
    """Returns the one change of the database, or none.

    The hash is the state hash of the snapshot, so it tells permission bits too.
    Something that is not a file in the place of the database counts as nothing.

    Raises:
        SnapshotCorruptError: a document has another format.
    """
    change = change_of(name, _state(old), _state(new))
    if change is None:
        return ()
    if change.operation is ChangeOperation.MODIFIED and _but_mode(old) == _but_mode(new):
        return (replace(change, operation=ChangeOperation.MODE_CHANGED),)
    return (change,)


def database_state(state: DatabaseState, state_hash: str) -> PathState | None:
    """Returns what a change would say of the database; None if there is no such file."""
    if state.kind in (FileKind.MISSING, FileKind.OTHER):
        return None
    return PathState(mode=stat.S_IFREG | state.mode, hash=state_hash)


def merge_databases(
    name: str,
    base: DatabaseState,
    mine: DatabaseState,
    theirs: DatabaseState,
    strategy: MergeStrategy,
) -> MergeReport:
    """Returns the report of a merge; if it says that something merged, theirs replaces mine.

    What is not a file is in no snapshot: then theirs is not taken, and mine not touched.
    """
    if theirs in (base, mine) or theirs.kind is FileKind.OTHER:
        return MergeReport(merged=(), conflicts=())
    wins = mine == base or strategy.prefers_theirs
    if wins and mine.kind is not FileKind.OTHER:
        return MergeReport(merged=(name,), conflicts=())
    conflict = MergeConflict(
        path=name,
        kind=ConflictKind.DATABASE,
        marked=False,
        mine=database_state(mine, snapshot_of(mine, name).state_hash),
        theirs=database_state(theirs, snapshot_of(theirs, name).state_hash),
    )
    return MergeReport(merged=(), conflicts=(conflict,))


def _state(document: bytes) -> PathState | None:
    return database_state(state_from(document, {}), hashlib.sha256(document).hexdigest())


def _but_mode(document: bytes) -> dict[str, object]:
    return {**json.loads(document), "mode": None}
