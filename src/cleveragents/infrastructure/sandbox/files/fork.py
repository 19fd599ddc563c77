"""Filling the sandbox of a fork with files, which were copied already or not.

Where the copied sandbox was what the snapshot says, nothing of the copy is read. Where it was
not, those paths are looked at and restored; and where nobody knows, everything is.
"""

from __future__ import annotations

from dataclasses import replace

from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.infrastructure.sandbox.files.git_state import ObservedGit, forked
from cleveragents.infrastructure.sandbox.files.known_copies import CopyComparison, state_of_copy
from cleveragents.infrastructure.sandbox.files.restorer import (
    FileRestorer,
    refuse_differences,
    translated,
)
from cleveragents.infrastructure.sandbox.files.scan import FileSystemTime
from cleveragents.infrastructure.sandbox.states.difference import difference
from cleveragents.infrastructure.sandbox.store.captured_state import CapturedState, GitState


def likeness(files: FileRestorer, snapshot_id: str, since: FileSystemTime) -> CopyComparison | None:
    """Compares a sandbox with a snapshot of it; None if it was touched since a moment."""
    present, look = files.present()
    wanted = files.stored.load(snapshot_id)
    todo = difference(present, wanted, files.stored.read_tree)
    if not files.sight.is_unchanged_since(since):
        return None
    return CopyComparison(
        ignored=frozenset(present.ignored),
        not_captured=present.not_captured,
        directories=files.sight.directories(),
        is_same=todo.is_nothing,
        differing=frozenset(todo.touched),
        tracked_though_ignored=_tracked(look, wanted.git),
    )


def _tracked(look: ObservedGit, wanted: GitState) -> frozenset[str] | None:
    """An index that is a listing has to be read again: its blobs are kept by name."""
    is_known = look.state == wanted and wanted.index_listing is None
    return look.tracked_though_ignored if is_known else None


def fill(
    files: FileRestorer, snapshot_id: str, source: SandboxRef, known: CopyComparison | None
) -> None:
    """Makes a new sandbox what a snapshot of another is; `SnapshotEngine.fill` says more.

    Raises:
        BusinessRuleViolation: something that no snapshot holds is in the way.
        SnapshotMissingError: there is no such snapshot.
    """
    target = files.stored.load(snapshot_id)
    ref = files.stored.refs.inherit(snapshot_id, source)
    if files.git is not None:
        target = replace(target, git=forked(target.git, source, files.sandbox))
        with translated("The sandbox could not be made"):
            files.git.start(target.git)
    if known is not None:
        _adopt(files, target, known, ref)
        if known.is_same and files.is_already(target, ref):
            return
    report = files.bring_to(target, snapshot_id, ref)
    if files.sight.known().tree != target.tree:
        # What the source ignores by later rules is something to remove under those of then.
        report = files.bring_to(target, snapshot_id, ref)
    refuse_differences(report)


def _adopt(files: FileRestorer, target: CapturedState, known: CopyComparison, ref: str) -> None:
    seen = None
    if files.git is not None and known.tracked_though_ignored is not None:
        # It was just made so: git need not be asked.
        look = ObservedGit(target.git, tracked_though_ignored=known.tracked_though_ignored)
        files.git.know(look)
        seen = files.git.seen
    moment = files.sight.now()
    state = state_of_copy(files.sandbox, target, known, ref, moment, seen)
    files.sight.take_over(state)
    files.sight.doubt(known.differing)
