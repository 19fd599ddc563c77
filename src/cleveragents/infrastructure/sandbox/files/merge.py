"""Merging into a sandbox of files, and taking single paths into it.

What is to be there becomes a snapshot first, which is then restored like any other: so
everything is written exactly, never through a link, and read back. A kill leaves at most a
snapshot that no record names, and a sandbox for which the restore can be done again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cleveragents.domain.sandboxes.merge import MergeNames, MergeReport, MergeStrategy
from cleveragents.infrastructure.sandbox.files.restorer import FileRestorer, translated
from cleveragents.infrastructure.sandbox.states.line_merge import LineMerge
from cleveragents.infrastructure.sandbox.states.path_changes import path_changes
from cleveragents.infrastructure.sandbox.states.taken_paths import with_taken
from cleveragents.infrastructure.sandbox.states.three_way import (
    ThreeStates,
    ThreeWayResult,
    merge_states,
)
from cleveragents.infrastructure.sandbox.store.drafts import scratch


@dataclass(frozen=True)
class Merging:
    """What is to be merged, and how."""

    mine: str
    base: str
    theirs: str
    strategy: MergeStrategy
    names: MergeNames


def merge_into(files: FileRestorer, wanted: Merging) -> MergeReport:
    """Brings in what changed between two snapshots; `SnapshotStore.merge` says how."""
    merged = _merged(files, wanted)
    if merged.conflicts and wanted.strategy is MergeStrategy.FAIL_ON_CONFLICT:
        untouched = [item.model_copy(update={"marked": False}) for item in merged.conflicts]
        return MergeReport(merged=(), conflicts=tuple(untouched))
    mine = files.stored.load(wanted.mine)
    if merged.captured != mine:
        files.become(merged.captured, merged.objects)
    changes = path_changes(mine, merged.captured, files.stored.read_tree)
    paths = tuple(change.path for change in changes)
    return MergeReport(merged=paths, conflicts=merged.conflicts)


def _merged(files: FileRestorer, wanted: Merging) -> ThreeWayResult:
    stored = files.stored
    base, mine, theirs = map(stored.load, (wanted.base, wanted.mine, wanted.theirs))
    present, _ = files.present()
    left_out = {*mine.ignored, *mine.not_captured, *present.ignored, *present.not_captured}
    states = ThreeStates(base, mine, theirs, left_out)
    with translated("The work could not be merged"), scratch(Path(files.sandbox.path)) as room:
        lines = LineMerge(stored.git, stored.objects, room, wanted.names)
        return merge_states(states, stored.read_tree, lines, wanted.strategy)


def take_paths(files: FileRestorer, snapshot_id: str, paths: Sequence[str]) -> None:
    """Makes single paths what a snapshot has there; the sandbox as it is MUST be stored."""
    present = files.sight.known()
    other = files.stored.load(snapshot_id)
    made = with_taken(present, other, paths, files.stored.read_tree)
    if made.captured != present:
        files.become(made.captured, made.trees)
