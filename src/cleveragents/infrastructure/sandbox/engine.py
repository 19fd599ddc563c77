"""The snapshot engine of one sandbox that is a directory of files, with git or without.

While it watches, a checkpoint reads only what the kernel says has changed; a new
process finds that out by one scan of change times. Either way only changed files
are read, only the trees above them are rewritten, and everything new is stored as
one pack. Order on disk: objects, then ref, then (by the caller) the row.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from cleveragents.domain.change import PathChange
from cleveragents.domain.errors import (
    BusinessRuleViolation,
    SandboxMissingError,
    SnapshotCorruptError,
    SnapshotError,
    SnapshotMissingError,
)
from cleveragents.domain.named_paths import NamedPaths
from cleveragents.domain.resource import SandboxStrategy
from cleveragents.domain.sandbox import (
    RestorePreview,
    RestoreReport,
    SandboxRef,
    TreeDiff,
    Uncaptured,
)
from cleveragents.infrastructure.sandbox.blobs import BlobReader, missing_objects, object_sizes
from cleveragents.infrastructure.sandbox.captured import (
    Captured,
    GitState,
    captured_from,
    state_hash_of,
)
from cleveragents.infrastructure.sandbox.combination import combined
from cleveragents.infrastructure.sandbox.difference import Difference, difference
from cleveragents.infrastructure.sandbox.git import Git
from cleveragents.infrastructure.sandbox.git_state import GitLook, SandboxGit, staged_objects
from cleveragents.infrastructure.sandbox.kept_blobs import KeptBlobs
from cleveragents.infrastructure.sandbox.layout import git_on_mirror
from cleveragents.infrastructure.sandbox.lazy_tree import LazyTree
from cleveragents.infrastructure.sandbox.limits import Limits, require_room
from cleveragents.infrastructure.sandbox.live_state import OVERDUE
from cleveragents.infrastructure.sandbox.objects import (
    EMPTY_TREE,
    GITLINK,
    Kind,
    NewObject,
    ObjectChangedError,
    StoredPack,
    store_pack,
)
from cleveragents.infrastructure.sandbox.packing import Packing
from cleveragents.infrastructure.sandbox.path_changes import path_changes
from cleveragents.infrastructure.sandbox.refs import SnapshotRefs
from cleveragents.infrastructure.sandbox.restore import SandboxWriter
from cleveragents.infrastructure.sandbox.sight import Sight
from cleveragents.infrastructure.sandbox.snapshot_objects import parts_of, snapshot_objects
from cleveragents.infrastructure.sandbox.store_lock import StoreUse
from cleveragents.infrastructure.sandbox.strategy import SnapshotEngine, StoredSnapshot
from cleveragents.infrastructure.sandbox.tree_diff import tree_diff

_STORE_ATTEMPTS = 12
_SECOND_CHANCES = 2
_CHECKED_FROM = 300
"""From so many new objects on, it pays to ask which of them are stored already."""
_KEPT_TREE_BYTES = 8 << 20
_KEPT_OUTLINES = 20


@dataclass(frozen=True)
class _Stored:
    """What the last snapshot held."""

    captured: Captured
    snapshot: StoredSnapshot


class FileEngine(SnapshotEngine):
    """Snapshots and restores of one sandbox."""

    def __init__(self, sandbox: SandboxRef, git: Git, limits: Limits) -> None:
        self._sandbox = sandbox
        self._git = git_on_mirror(git, Path(sandbox.store))
        self._refs = SnapshotRefs(sandbox, git)
        self._objects = BlobReader(self._git)
        own_git = sandbox.strategy is SandboxStrategy.GIT_WORKTREE
        self._sandbox_git = SandboxGit(sandbox, git) if own_git else None
        self._sight = Sight(
            sandbox,
            git=self._sandbox_git,
            refs=self._refs,
            limits=limits,
            environment=git.environment,
            read_tree=self._read_tree,
            load=self.load,
        )
        self._last: _Stored | None = None
        self._trees: dict[str, bytes] = {}
        self._tree_bytes = 0
        self._outlines: dict[str, Captured] = {}
        """What the snapshots hold that were made last."""
        self._use = StoreUse(Path(sandbox.store))
        self._packing = Packing(git, Path(sandbox.store))

    def watch(self) -> None:
        self._sight.watch()

    def close(self) -> None:
        self._sight.close()
        self._objects.close()
        self._packing.finish()
        self._use.close()
        self._last = None

    def recheck(self) -> Sequence[str]:
        """Returns what changed without the watch having told; from now on it is known."""
        return self._sight.recheck()

    def store(self) -> StoredSnapshot:
        """Makes a durable snapshot of the sandbox as it is.

        Raises:
            SandboxMissingError: there is nothing to store.
            SnapshotError: files keep changing, or the disk is full.
        """
        spoiled: Counter[str] = Counter()
        for _ in range(_STORE_ATTEMPTS):
            try:
                with _translated("The snapshot could not be stored"):
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
        return self._refs.ids()

    def delete(self, snapshot_ids: Iterable[str]) -> None:
        gone = list(snapshot_ids)
        self._refs.delete(gone)
        for snapshot_id in gone:
            self._outlines.pop(snapshot_id, None)

    def load(self, snapshot_id: str) -> Captured:
        """Raises SnapshotMissingError or SnapshotCorruptError unless it is whole in its outline."""
        known = self._outlines.get(snapshot_id)
        return known if known is not None else self._read_outline(snapshot_id)

    def _read_outline(self, snapshot_id: str) -> Captured:
        parts = parts_of(snapshot_id, self._objects.read(snapshot_id))
        document = self._objects.read(parts.document)
        ignored: list[str] = json.loads(self._objects.read(parts.ignored))
        captured = captured_from(document, ignored)
        if (state_hash_of(document), captured.tree) != (parts.state_hash, parts.tree):
            raise SnapshotCorruptError(f"Snapshot {snapshot_id} does not hold what it lists")
        return captured

    def verify(self, snapshot_id: str) -> None:
        """Reads every byte of a snapshot back."""
        captured = self._read_outline(snapshot_id)
        self._check_git(captured.git, snapshot_id)
        tree = LazyTree(captured.tree, self._objects.read)
        self._objects.check(sorted({node[1] for _, node in tree.files()}))

    def preview(self, snapshot_id: str) -> RestorePreview:
        """Raises what `restore` would raise before it touches anything."""
        target = self.load(snapshot_id)
        present, _ = self._present()
        todo = difference(present, target, self._read_tree, self._read_ahead)
        self._refuse_unless_possible(todo, present.git, target.git, snapshot_id)
        self._objects.check(_needed(todo))
        return RestorePreview(changes=todo.changes, left_alone=todo.left_alone)

    def restore(self, snapshot_id: str, sparing: str | None) -> RestoreReport:
        """Makes the sandbox what it was; the safety snapshot is the caller's business."""
        self._packing.wait()
        present, _ = self._present()
        target = self._target(snapshot_id, sparing)
        todo = difference(present, target, self._read_tree, self._read_ahead)
        with _translated("The sandbox could not be restored"):
            self._refuse_unless_possible(todo, present.git, target.git, snapshot_id)
            blobs = KeptBlobs(self._objects, _needed(todo))
            with self._sight.being_rewritten(todo.touched):
                if self._sandbox_git is not None:
                    self._sandbox_git.restore(target.git)
                self._write(todo, blobs)
        return self._read_back(todo, target, snapshot_id)

    def diff(self, old: str, new: str) -> TreeDiff:
        before, after = (old, self.load(old)), (new, self.load(new))
        return tree_diff(self._git, before, after, self._objects.read)

    def changes(self, old: str, new: str) -> Sequence[PathChange]:
        return path_changes(self.load(old), self.load(new), self._read_tree)

    def combine(self, base: str, other: str, paths: NamedPaths) -> StoredSnapshot:
        """Makes a durable snapshot of two; the sandbox is not looked at."""
        before = self.load(base)
        made = combined(before, self.load(other), paths, self._read_tree)
        listing = before.git.index_listing
        staged = staged_objects(self._objects.read(listing)) if listing is not None else ()
        with _translated("The snapshot could not be stored"):
            return self._keep(made.captured, staged, made.trees)

    def sizes(self, hashes: Collection[str]) -> Mapping[str, int]:
        return object_sizes(self._git, hashes)

    def _target(self, snapshot_id: str, sparing: str | None) -> Captured:
        """Returns what a snapshot holds; what another did not hold counts as left out of it too.

        A restore that was killed may have taken back the ignore rules already, so
        that what they hid looks like something to remove.
        """
        target = self.load(snapshot_id)
        if sparing is None:
            return target
        other = self.load(sparing)
        return replace(target, ignored=target.ignored | other.ignored | other.not_captured.keys())

    def _refuse_unless_possible(
        self, todo: Difference, present: GitState, wanted: GitState, snapshot_id: str
    ) -> None:
        """Obstacles and damage must show before the first file is touched."""
        if todo.in_the_way:
            raise BusinessRuleViolation(
                "The rollback would overwrite what no checkpoint holds: "
                + ", ".join(todo.in_the_way),
                hint="Move these away, then roll back again",
                paths=list(todo.in_the_way),
            )
        if self._sandbox_git is not None and present != wanted:
            self._check_git(wanted, snapshot_id)

    def _check_git(self, state: GitState, snapshot_id: str) -> None:
        """Raises SnapshotMissingError unless commit and index can be put back."""
        needed = {state.commit} if state.commit else set[str]()
        if state.index_tree is not None:
            index = LazyTree(state.index_tree, self._objects.read)
            needed |= {object_id for _, (mode, object_id) in index.files() if mode != GITLINK}
        if state.index_listing is not None:
            needed |= staged_objects(self._objects.read(state.index_listing))
        if missing_objects(self._git, sorted(needed)):
            raise SnapshotMissingError(snapshot_id, self._sandbox.store)

    def _write(self, todo: Difference, blobs: KeptBlobs) -> None:
        if todo.is_nothing:
            return
        writer = SandboxWriter(self._sandbox.path)
        try:
            writer.apply(todo, blobs.copy)
        finally:
            writer.close()

    def _read_back(self, done: Difference, target: Captured, snapshot_id: str) -> RestoreReport:
        found = self._sight.known()
        # What was ignored may no longer be, once the ignore rules are back: it stays all the same.
        stayed = {item.path for item in done.left_alone}
        left = difference(found, replace(target, ignored=target.ignored | stayed), self._read_tree)
        wrong = [f"{change.file} should be {change.action}" for change in left.changes]
        if found.git != target.git:
            wrong.append("HEAD, branch or index differ")
        state_hash = state_hash_of(found.document())
        if found == target:
            self._sight.is_stored_as(found, self._refs.name(snapshot_id), 0)
        return RestoreReport(
            changes=done.changes,
            left_alone=done.left_alone,
            state_hash=state_hash,
            differences=tuple(wrong),
        )

    def _present(self) -> tuple[Captured, GitLook]:
        """Returns the sandbox as it is. Raises SandboxMissingError."""
        path = self._sandbox.path
        if os.path.islink(path) or not os.path.isdir(path):
            raise SandboxMissingError(path, "is not there any more")
        return self._sight.present()

    def _store(self) -> StoredSnapshot:
        captured, look = self._present()
        if self._last is not None and self._is_stored(self._last, captured):
            return replace(
                self._last.snapshot,
                size_bytes=0,
                evidence=self._sight.evidence,
                partial=self._sight.is_partial,
            )
        same = self._last is not None and self._last.captured.git.index == captured.git.index
        index = () if same else look.objects
        stored = replace(
            self._keep(captured, look.staged, (*self._sight.unsaved(), *index)),
            evidence=self._sight.evidence,
            partial=self._sight.is_partial,
        )
        name = self._refs.name(stored.snapshot_id)
        self._sight.is_stored_as(captured, name, stored.size_bytes)
        self._last = _Stored(captured, stored)
        return stored

    def _keep(
        self, captured: Captured, staged: Iterable[str], others: Sequence[NewObject]
    ) -> StoredSnapshot:
        """Makes a state durable unless it is: its objects, those it leads to, then its ref."""
        made = snapshot_objects(captured, staged)
        size = 0
        if not self._refs.has(self._refs.name(made.snapshot.id)):
            pack = self._pack((*others, *made.all))
            try:
                self._refs.write(made.snapshot.id, made.anchor.id)
            finally:
                pack.release()
            self._packing.added_one()
            size = pack.size_bytes
        for item in others:
            if item.kind is Kind.TREE and item.data is not None:
                self._keep_tree(item.id, item.data)
        self._outlines[made.snapshot.id] = captured
        if len(self._outlines) > _KEPT_OUTLINES:
            del self._outlines[next(iter(self._outlines))]
        return StoredSnapshot(
            snapshot_id=made.snapshot.id,
            state_hash=made.state_hash,
            size_bytes=size,
            not_captured=_uncaptured(captured),
            partial=OVERDUE in captured.not_captured.values(),
        )

    def _is_stored(self, last: _Stored, captured: Captured) -> bool:
        """Says whether nothing has changed since a snapshot that is still there."""
        name = self._refs.name(last.snapshot.snapshot_id)
        return last.captured is captured and self._refs.has(name)

    def _pack(self, wanted: Iterable[NewObject]) -> StoredPack:
        """Stores objects, leaving out such as are there already when there are many."""
        new = {item.id: item for item in wanted}
        if len(new) > _CHECKED_FROM:
            # git knows the empty tree without having it.
            missing = missing_objects(self._git, new) | {EMPTY_TREE}
            new = {name: item for name, item in new.items() if name in missing}
        free = os.statvfs(self._sandbox.store)
        require_room(free.f_bavail * free.f_frsize, sum(item.size for item in new.values()))
        return store_pack(Path(self._sandbox.store) / "objects", new.values())

    def _read_tree(self, object_id: str) -> bytes:
        """Trees never change, so those read last are kept: going back and forth meets the same."""
        found = self._sight.unsaved_tree(object_id)
        if found is None:
            found = self._trees.get(object_id)
        if found is None:
            found = self._objects.read(object_id)
            self._keep_tree(object_id, found)
        return found

    def _read_ahead(self, object_ids: Iterable[str]) -> None:
        """Has trees at hand that are about to be read, without a question for each of them."""
        wanted = {each for each in object_ids if each not in self._trees}
        missing = [each for each in wanted if self._sight.unsaved_tree(each) is None]
        contents = {object_id: bytearray() for object_id in missing}
        self._objects.copy_many(missing, lambda object_id: contents[object_id].extend)
        for object_id, content in contents.items():
            self._keep_tree(object_id, bytes(content))

    def _keep_tree(self, object_id: str, content: bytes) -> None:
        self._tree_bytes += len(content) - len(self._trees.get(object_id, b""))
        self._trees[object_id] = content
        while self._tree_bytes > _KEPT_TREE_BYTES:
            self._tree_bytes -= len(self._trees.pop(next(iter(self._trees))))


def _needed(todo: Difference) -> list[str]:
    return sorted({entry.object_id for _, entry in todo.write_files})


def _uncaptured(captured: Captured) -> tuple[Uncaptured, ...]:
    found = [*captured.not_captured.items(), *((path, "ignored") for path in captured.ignored)]
    return tuple(Uncaptured(path=path, reason=reason) for path, reason in sorted(found))


@contextmanager
def _translated(what: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise SnapshotError(
            f"{what}: {error}", hint="Make room or give permission, then try again"
        ) from error
