"""Snapshots of git sandboxes, kept in the project's private mirror.

Order on disk: objects, then ref, then (by the caller) the row. What a snapshot
consists of is in `snapshot_objects`.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Generator, Iterable, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from cleveragents.domain.errors import (
    BusinessRuleViolation,
    GitCommandError,
    SandboxMissingError,
    SnapshotCorruptError,
    SnapshotError,
    SnapshotMissingError,
)
from cleveragents.domain.sandbox import RestorePreview, RestoreReport, SandboxRef
from cleveragents.infrastructure.sandbox.blobs import BlobReader, blob_reader, missing_objects
from cleveragents.infrastructure.sandbox.difference import Difference, difference
from cleveragents.infrastructure.sandbox.git import Git
from cleveragents.infrastructure.sandbox.git_state import GitLook, SandboxGit, staged_objects
from cleveragents.infrastructure.sandbox.layout import git_on_mirror
from cleveragents.infrastructure.sandbox.manifest import (
    GitState,
    Manifest,
    document_of,
    manifest_from,
    state_hash_of,
)
from cleveragents.infrastructure.sandbox.objects import (
    EMPTY_TREE,
    GITLINK,
    NewObject,
    ObjectChangedError,
    StoredPack,
    build_trees,
    store_pack,
)
from cleveragents.infrastructure.sandbox.restore import SandboxWriter
from cleveragents.infrastructure.sandbox.scan import Scan, Scanner
from cleveragents.infrastructure.sandbox.scan_cache import ScanCache, load_cache, save_cache
from cleveragents.infrastructure.sandbox.snapshot_objects import (
    SnapshotObjects,
    parts_of,
    snapshot_objects,
)

_STORE_ATTEMPTS = 5
_SECOND_CHANCES = 1
"""How often a file may be written to while it is being stored, before it is left out."""


@dataclass(frozen=True)
class StoredSnapshot:
    """What `GitSnapshots.store` has made durable."""

    snapshot_id: str
    state_hash: str
    size_bytes: int
    manifest: Manifest


@dataclass(frozen=True)
class _Look:
    """Everything there is to know about the sandbox at one moment."""

    manifest: Manifest
    scan: Scan
    git: GitLook


class GitSnapshots:
    """Snapshots of one sandbox."""

    def __init__(self, sandbox: SandboxRef, git: Git) -> None:
        self._sandbox = sandbox
        self._git = git_on_mirror(git, Path(sandbox.store))
        self._sandbox_git = SandboxGit(sandbox, git)
        self._refs = f"refs/cleveragents/snapshots/{sandbox.plan_id}/{sandbox.resource}"

    def store(self) -> StoredSnapshot:
        """Makes a durable snapshot of the sandbox as it is.

        Raises:
            SnapshotError: files keep changing, or the disk is full.
        """
        spoiled: Counter[str] = Counter()
        for _ in range(_STORE_ATTEMPTS):
            restless = {path for path in spoiled if spoiled[path] > _SECOND_CHANCES}
            try:
                with _translated("The snapshot could not be stored"):
                    return self._try_to_store(restless)
            except ObjectChangedError as changed:
                spoiled[os.path.relpath(changed.path, self._sandbox.path)] += 1
        raise SnapshotError(
            "The snapshot could not be stored: files of the sandbox keep changing",
            hint="End the processes that write to the sandbox",
        )

    def ids(self) -> list[str]:
        listing = self._git.run("for-each-ref", "--format=%(refname:lstrip=-1)", self._refs)
        return os.fsdecode(listing).split()

    def delete(self, snapshot_ids: Iterable[str]) -> None:
        commands = [f"delete {self._refs}/{snapshot}\n" for snapshot in snapshot_ids]
        if commands:
            self._git.run("update-ref", "--stdin", stdin="".join(commands).encode())

    def load(self, snapshot_id: str) -> Manifest:
        """Raises SnapshotMissingError or SnapshotCorruptError unless it is whole in its outline."""
        with blob_reader(self._git) as blobs:
            parts = parts_of(snapshot_id, blobs.read(snapshot_id))
            document = blobs.read(parts.document)
            ignored: list[str] = json.loads(blobs.read(parts.ignored))
        manifest = manifest_from(document, self._tree(snapshot_id), ignored)
        if _document(manifest) != document or state_hash_of(document) != parts.state_hash:
            raise SnapshotCorruptError(f"Snapshot {snapshot_id} does not hold what it lists")
        return manifest

    def verify(self, snapshot_id: str) -> None:
        """Reads every byte of a snapshot back."""
        manifest = self.load(snapshot_id)
        with blob_reader(self._git) as blobs:
            self._check_git(manifest.git, snapshot_id, blobs)
            blobs.check(sorted({entry.object_id for entry in manifest.files.values()}))

    def preview(self, snapshot_id: str) -> RestorePreview:
        """Raises what `restore` would raise before it touches anything."""
        target = self.load(snapshot_id)
        todo = difference(self._look(target.files.keys()).manifest, target)
        with blob_reader(self._git) as blobs:
            self._refuse_unless_possible(todo, target.git, snapshot_id, blobs)
        return RestorePreview(changes=todo.changes, left_alone=todo.left_alone)

    def restore(self, snapshot_id: str, sparing: str | None) -> RestoreReport:
        """Makes the sandbox what it was; the safety snapshot is the caller's business."""
        target = self._target(snapshot_id, sparing)
        present = self._look(target.files.keys())
        todo = difference(present.manifest, target)
        with blob_reader(self._git) as blobs, _translated("The sandbox could not be restored"):
            self._refuse_unless_possible(todo, target.git, snapshot_id, blobs)
            self._sandbox_git.restore(target.git)
            self._write(todo, present.scan, blobs)
        return self._read_back(todo, target)

    def _target(self, snapshot_id: str, sparing: str | None) -> Manifest:
        """Returns what a snapshot holds; what another did not hold counts as left out of it too.

        A restore that was killed may have taken back the ignore rules already, so
        that what they hid looks like something to remove.
        """
        target = self.load(snapshot_id)
        if sparing is None:
            return target
        other = self.load(sparing)
        left_out = (*other.ignored, *(path for path, _ in other.not_captured))
        return replace(target, ignored=(*target.ignored, *left_out))

    def _refuse_unless_possible(
        self, todo: Difference, state: GitState, snapshot_id: str, blobs: BlobReader
    ) -> None:
        """Obstacles and damage must show before the first file is touched."""
        if todo.in_the_way:
            raise BusinessRuleViolation(
                "The rollback would overwrite what no checkpoint holds: "
                + ", ".join(todo.in_the_way),
                hint="Move these away, then roll back again",
                paths=list(todo.in_the_way),
            )
        self._check_git(state, snapshot_id, blobs)
        blobs.check(sorted({entry.object_id for _, entry in todo.write_files}))

    def _check_git(self, state: GitState, snapshot_id: str, blobs: BlobReader) -> None:
        """Raises SnapshotMissingError unless commit and index can be put back."""
        needed = {state.commit} if state.commit else set[str]()
        if state.index_tree is not None:
            entries = self._tree(state.index_tree).values()
            needed |= {object_id for mode, object_id in entries if mode != GITLINK}
        if state.index_listing is not None:
            needed |= staged_objects(blobs.read(state.index_listing))
        if missing_objects(self._git, sorted(needed)):
            raise SnapshotMissingError(snapshot_id, self._sandbox.store)

    def _write(self, todo: Difference, scan: Scan, blobs: BlobReader) -> None:
        writer = SandboxWriter(self._sandbox.path)
        try:
            writer.apply(todo, scan.leftovers, blobs.copy)
        finally:
            writer.close()

    def _read_back(self, done: Difference, target: Manifest) -> RestoreReport:
        found = self._look(target.files.keys()).manifest
        # What was ignored may no longer be, once the ignore rules are back: it stays all the same.
        stayed = tuple(item.path for item in done.left_alone)
        left = difference(found, replace(target, ignored=(*target.ignored, *stayed)))
        wrong = [f"{change.file} should be {change.action}" for change in left.changes]
        if found.git != target.git:
            wrong.append("HEAD, branch or index differ")
        return RestoreReport(
            changes=done.changes,
            left_alone=done.left_alone,
            state_hash=state_hash_of(_document(found)),
            differences=tuple(wrong),
        )

    def _try_to_store(self, restless: Set[str]) -> StoredSnapshot:
        cache = self._cache()
        found = self._look(frozenset(), restless, cache)
        made = snapshot_objects(found.manifest, found.git)
        new_trees = (item for item in made.trees if item.id not in cache.trees)
        added = self._store_missing((*found.scan.read.values(), *new_trees, *made.others))
        try:
            self._remember(found, made, cache)
            self._git.run("update-ref", f"{self._refs}/{made.snapshot.id}", made.anchor.id)
        finally:
            added.release()
        return StoredSnapshot(made.snapshot.id, made.state_hash, added.size_bytes, found.manifest)

    def _remember(self, found: _Look, made: SnapshotObjects, before: ScanCache) -> None:
        """Writes the cache, before the ref.

        One that does not know of a snapshot would be wrong; one that knows of a
        snapshot which never came about is only useless.
        """
        captured = before.captured | found.manifest.files.keys()
        trees = {item.id for item in made.trees}
        cache = ScanCache(made.snapshot.id, found.scan.known, captured, trees)
        save_cache(self._sandbox, cache)

    def _store_missing(self, wanted: Iterable[NewObject]) -> StoredPack:
        candidates = {item.id: item for item in wanted}
        # git knows the empty tree without having it.
        missing = missing_objects(self._git, candidates) | ({EMPTY_TREE} & candidates.keys())
        new = [candidates[name] for name in candidates if name in missing]
        return store_pack(Path(self._sandbox.store) / "objects", new)

    def _look(
        self,
        also_captured: Set[str],
        restless: Set[str] = frozenset(),
        cache: ScanCache | None = None,
    ) -> _Look:
        """Raises SandboxMissingError when there is nothing to look at."""
        path = Path(self._sandbox.path)
        if path.is_symlink() or not path.is_dir():
            raise SandboxMissingError(self._sandbox.path, "is not there any more")
        cache = cache or self._cache()
        git = self._sandbox_git.look()
        scan = Scanner(
            self._sandbox.path,
            ignored=self._sandbox_git.ignored(),
            captured_before=cache.captured | also_captured,
            known=cache.known,
            restless=restless,
            now=_file_system_time(path.parent),
        ).run()
        manifest = Manifest(
            files=scan.files,
            directories=scan.directories,
            top_mode=scan.top_mode,
            git=git.state,
            not_captured=tuple(sorted((*scan.not_captured, *git.uncaptured))),
            ignored=tuple(sorted(scan.ignored)),
        )
        return _Look(manifest, scan, git)

    def _cache(self) -> ScanCache:
        """Returns the cache as far as it can be trusted.

        Only a snapshot that still is there proves that what was read for it is stored.
        """
        cache, snapshots = load_cache(self._sandbox), self.ids()
        if cache is None:
            captured = frozenset(path for each in snapshots for path in self._tree(each))
            return ScanCache("", {}, captured, frozenset())
        if cache.snapshot not in snapshots:
            return ScanCache("", {}, cache.captured, frozenset())
        return cache

    def _tree(self, commit_or_tree: str) -> dict[str, tuple[str, str]]:
        try:
            listing = self._git.run("ls-tree", "-r", "-z", "--full-tree", commit_or_tree)
        except GitCommandError as error:
            raise SnapshotMissingError(commit_or_tree, self._sandbox.store) from error
        entries: dict[str, tuple[str, str]] = {}
        for line in listing.split(b"\0")[:-1]:
            head, _, name = line.partition(b"\t")
            mode, _, object_id = os.fsdecode(head).split(" ")
            entries[os.fsdecode(name)] = (mode, object_id)
        return entries


def _document(manifest: Manifest) -> bytes:
    return document_of(manifest, build_trees(manifest.tree_entries())[0])


@contextmanager
def _translated(what: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise SnapshotError(
            f"{what}: {error}", hint="Make room or give permission, then try again"
        ) from error


def _file_system_time(directory: Path) -> int:
    """Returns the time in nanoseconds as files in a directory get it: clocks can differ."""
    with tempfile.TemporaryFile(dir=directory) as probe:
        return os.fstat(probe.fileno()).st_mtime_ns
