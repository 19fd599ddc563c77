"""The snapshot engine of one sandbox that is a directory of files, with git or without.

While it watches, a checkpoint reads only what the kernel says has changed; a new
process finds that out by one scan of change times. Either way only changed files
are read, only the trees above them are rewritten, and everything new is stored as
one pack. Order on disk: objects, then ref, then (by the caller) the row.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cleveragents.domain.errors import SnapshotError
from cleveragents.domain.sandboxes.change import PathChange
from cleveragents.domain.sandboxes.merge import MergeNames, MergeReport, MergeStrategy
from cleveragents.domain.sandboxes.named_paths import NamedPaths, inside
from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import (
    RestorePreview,
    RestoreReport,
    SandboxCheckpoint,
    SandboxRef,
    TreeDiff,
)
from cleveragents.infrastructure.sandbox.files.engine_protocol import SnapshotEngine
from cleveragents.infrastructure.sandbox.files.fork import fill, likeness
from cleveragents.infrastructure.sandbox.files.git_state import SandboxGit
from cleveragents.infrastructure.sandbox.files.known_copies import CopyComparison
from cleveragents.infrastructure.sandbox.files.merge import Merging, merge_into, take_paths
from cleveragents.infrastructure.sandbox.files.restorer import FileRestorer, translated
from cleveragents.infrastructure.sandbox.files.scan import FileSystemTime
from cleveragents.infrastructure.sandbox.files.tracker import SandboxTracker
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.objects import ObjectChangedError
from cleveragents.infrastructure.sandbox.states.combine import combined
from cleveragents.infrastructure.sandbox.states.diff import tree_diff
from cleveragents.infrastructure.sandbox.states.path_changes import path_changes
from cleveragents.infrastructure.sandbox.store.blobs import object_sizes
from cleveragents.infrastructure.sandbox.store.captured_state import CapturedState
from cleveragents.infrastructure.sandbox.store.limits import Limits
from cleveragents.infrastructure.sandbox.store.lock import MirrorUse
from cleveragents.infrastructure.sandbox.store.snapshots import StoredSnapshots

_STORE_ATTEMPTS = 12
_SECOND_CHANCES = 2


@dataclass(frozen=True)
class _Stored:
    """What the last snapshot held."""

    captured: CapturedState
    snapshot: SandboxCheckpoint


class FileEngine(SnapshotEngine):
    """Snapshots and restores of one sandbox."""

    def __init__(self, sandbox: SandboxRef, git: Git, limits: Limits) -> None:
        self._sandbox = sandbox
        self._stored = StoredSnapshots(sandbox, git, self._unsaved_tree)
        has_git = sandbox.strategy is SandboxStrategy.GIT_WORKTREE
        own_git = SandboxGit(sandbox, git) if has_git else None
        self._sight = SandboxTracker(
            sandbox,
            git=own_git,
            refs=self._stored.refs,
            limits=limits,
            environment=git.environment,
            read_tree=self._stored.read_tree,
            load=self._stored.load,
        )
        self._files = FileRestorer(sandbox, self._stored, self._sight, own_git)
        self._last: _Stored | None = None
        self._use = MirrorUse(Path(sandbox.store))

    def watch(self) -> None:
        self._sight.watch()

    def close(self) -> None:
        self._sight.close()
        self._stored.close()
        self._use.close()
        self._last = None

    def recheck(self) -> Sequence[str]:
        """Returns what changed without the watch having told; from now on it is known."""
        return self._sight.recheck()

    def snapshot(self) -> SandboxCheckpoint:
        """Makes a durable snapshot of the sandbox as it is.

        Raises:
            SandboxMissingError: there is nothing to store.
            SnapshotError: files keep changing, or the disk is full.
        """
        spoiled: Counter[str] = Counter()
        for _ in range(_STORE_ATTEMPTS):
            try:
                with translated("The snapshot could not be stored"):
                    return self._store()
            except ObjectChangedError as changed:
                path = os.path.relpath(changed.path, self._sandbox.path)
                spoiled[path] += 1
                self._sight.look_again(path, give_up=spoiled[path] > _SECOND_CHANCES)
        raise SnapshotError(
            "The snapshot could not be stored: files of the sandbox keep changing",
            hint="End the processes that write to the sandbox",
        )

    def ids(self) -> list[str]:
        return self._stored.refs.ids()

    def delete(self, snapshot_ids: Collection[str]) -> None:
        self._stored.delete(snapshot_ids)

    def verify(self, snapshot_id: str) -> None:
        self._stored.verify(snapshot_id)

    def preview(self, snapshot_id: str, paths: Collection[str] | None = None) -> RestorePreview:
        return self._files.preview(snapshot_id, None if paths is None else NamedPaths(paths))

    def restore(self, snapshot_id: str, sparing: str | None = None) -> RestoreReport:
        self._stored.packing.wait()
        target = self._target(snapshot_id, sparing)
        return self._files.bring_to(target, snapshot_id, self._stored.refs.name(snapshot_id))

    def diff(self, old: str, new: str, prefix: str = "") -> TreeDiff:
        before, after = (old, self._stored.load(old)), (new, self._stored.load(new))
        return tree_diff(self._stored.git, before, after, self._stored.objects.read, prefix)

    def changes(self, old: str, new: str) -> Sequence[PathChange]:
        if old == new:
            return ()
        return path_changes(self._stored.load(old), self._stored.load(new), self._stored.read_tree)

    def changes_since(self, snapshot_id: str) -> Sequence[PathChange]:
        present, _ = self._files.present()
        return path_changes(self._stored.load(snapshot_id), present, self._stored.read_tree)

    def combine(self, base: str, other: str, paths: Collection[str]) -> SandboxCheckpoint:
        """Makes a durable snapshot of two; the sandbox is not looked at."""
        named = NamedPaths(paths)
        before = self._stored.load(base)
        made = combined(before, self._stored.load(other), named, self._stored.read_tree)
        staged = self._stored.staged(before.git)
        with translated("The snapshot could not be stored"):
            return self._stored.keep(made.captured, staged, made.trees)

    def merge(
        self, mine: str, base: str, theirs: str, strategy: MergeStrategy, names: MergeNames
    ) -> MergeReport:
        if base == theirs:
            return MergeReport(merged=(), conflicts=())
        return merge_into(self._files, Merging(mine, base, theirs, strategy, names))

    def restore_paths(self, snapshot_id: str, paths: Collection[str]) -> None:
        """Makes single paths what a snapshot has there; what is there now is stored first."""
        wanted = sorted({inside(path) for path in paths})
        self.snapshot()
        take_paths(self._files, snapshot_id, wanted)

    def likeness(self, snapshot_id: str, since: FileSystemTime) -> CopyComparison | None:
        """Compares the sandbox with a snapshot; None if it was touched since a moment."""
        return likeness(self._files, snapshot_id, since)

    def start_as(self, snapshot_id: str, source: SandboxRef, known: CopyComparison | None) -> None:
        fill(self._files, snapshot_id, source, known)

    def sizes(self, hashes: Collection[str]) -> Mapping[str, int]:
        return object_sizes(self._stored.git, hashes)

    def _target(self, snapshot_id: str, sparing: str | None) -> CapturedState:
        """Returns what a snapshot holds; what another did not hold counts as left out of it too.

        A restore that was killed may have taken back the ignore rules already, so
        that what they hid looks like something to remove.
        """
        target = self._stored.load(snapshot_id)
        if sparing is None:
            return target
        other = self._stored.load(sparing)
        return replace(target, ignored=target.ignored | other.ignored | other.not_captured.keys())

    def _store(self) -> SandboxCheckpoint:
        captured, look = self._files.present()
        if self._last is not None and self._is_stored(self._last, captured):
            return self._last.snapshot.model_copy(
                update={
                    "size_bytes": 0,
                    "evidence": self._sight.evidence,
                    "partial": self._sight.is_partial,
                }
            )
        same = self._last is not None and self._last.captured.git.index == captured.git.index
        index = () if same else look.objects
        kept = self._stored.keep(captured, look.staged, (*self._sight.unsaved(), *index))
        stored = kept.model_copy(
            update={"evidence": self._sight.evidence, "partial": self._sight.is_partial}
        )
        name = self._stored.refs.name(stored.snapshot_id)
        self._sight.is_stored_as(captured, name, stored.size_bytes)
        self._last = _Stored(captured, stored)
        return stored

    def _is_stored(self, last: _Stored, captured: CapturedState) -> bool:
        """Says whether nothing has changed since a snapshot that is still there."""
        name = self._stored.refs.name(last.snapshot.snapshot_id)
        return last.captured is captured and self._stored.refs.has(name)

    def _unsaved_tree(self, object_id: str) -> bytes | None:
        return self._sight.unsaved_tree(object_id)
