"""Whether a database becomes what a fork of it is: it has no parts that could be merged."""

from __future__ import annotations

from cleveragents.domain.sandboxes.merge import (
    ConflictKind,
    MergeConflict,
    MergeReport,
    MergeStrategy,
)
from cleveragents.infrastructure.sandbox.sqlite.changes import database_state
from cleveragents.infrastructure.sandbox.sqlite.chunks import DatabaseState, FileKind, snapshot_of


def merge_databases(
    name: str,
    base: DatabaseState,
    mine: DatabaseState,
    theirs: DatabaseState,
    strategy: MergeStrategy,
) -> MergeReport:
    """Returns what is to be reported; theirs is to be taken if it says that something merged.

    What is no file is in no snapshot: theirs is not taken then, and mine not touched.
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
