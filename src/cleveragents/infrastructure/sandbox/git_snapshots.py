"""Snapshots of git sandboxes, kept in the project's private mirror.

A snapshot is a commit whose tree is exactly the files, so `git diff` and
`git show` work on it. It has no parent: dropping one frees its objects. A second
commit, the anchor, leads to everything else that must stay (document, index,
HEAD); the one ref per snapshot points to it. Order on disk: objects, then ref,
then (by the caller) the row. ADR 0001 has the reasons.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
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
from cleveragents.infrastructure.sandbox.git_state import SandboxGit
from cleveragents.infrastructure.sandbox.manifest import (
    GitState,
    Manifest,
    document_of,
    manifest_from,
    state_hash_of,
)
from cleveragents.infrastructure.sandbox.objects import (
    EMPTY_TREE,
    Kind,
    NewObject,
    ObjectChangedError,
    build_trees,
    store_pack,
)
from cleveragents.infrastructure.sandbox.restore import SandboxWriter
from cleveragents.infrastructure.sandbox.scan import Scan, Scanner
from cleveragents.infrastructure.sandbox.scan_cache import ScanCache, load_cache, save_cache

_AUTHOR = b"CleverAgents <checkpoints@cleveragents.invalid> 0 +0000"
_TRAILER = re.compile(rb"^(Document|Ignored|State-Hash): ([0-9a-f]+)$", re.MULTILINE)
_STORE_ATTEMPTS = 5


@dataclass(frozen=True)
class StoredSnapshot:
    """What `GitSnapshots.store` has made durable."""

    snapshot_id: str
    state_hash: str
    size_bytes: int
    manifest: Manifest


class GitSnapshots:
    """Snapshots of one sandbox."""

    def __init__(self, sandbox: SandboxRef, git: Git) -> None:
        self._sandbox = sandbox
        self._git = git.at(Path(sandbox.store))
        self._sandbox_git = SandboxGit(sandbox, git)
        self._refs = f"refs/cleveragents/snapshots/{sandbox.plan_id}/{sandbox.resource}"

    def store(self) -> StoredSnapshot:
        """Makes a durable snapshot of the sandbox as it is.

        Raises:
            SnapshotError: files keep changing, or the disk is full.
        """
        for _ in range(_STORE_ATTEMPTS):
            try:
                return self._try_to_store()
            except ObjectChangedError:
                continue
            except OSError as error:
                raise SnapshotError(
                    f"The snapshot could not be stored: {error}",
                    hint="Make room in the home directory of CleverAgents",
                ) from error
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
            parts = dict(_TRAILER.findall(blobs.read(snapshot_id)))
            try:
                document = blobs.read(parts[b"Document"].decode())
                ignored: list[str] = json.loads(blobs.read(parts[b"Ignored"].decode()))
                expected = parts[b"State-Hash"].decode()
            except (KeyError, ValueError) as error:
                raise SnapshotCorruptError(f"{snapshot_id} is not a snapshot") from error
        if state_hash_of(document) != expected:
            raise SnapshotCorruptError(f"The document of snapshot {snapshot_id} is damaged")
        return manifest_from(document, self._tree(snapshot_id), ignored)

    def verify(self, snapshot_id: str) -> None:
        """Reads every byte of a snapshot back."""
        manifest = self.load(snapshot_id)
        with blob_reader(self._git) as blobs:
            blobs.check(sorted({entry.object_id for entry in manifest.files.values()}))

    def preview(self, snapshot_id: str) -> RestorePreview:
        present, _ = self._look(self._cache())
        wanted = difference(present, self.load(snapshot_id))
        return RestorePreview(changes=wanted.changes, left_alone=wanted.left_alone)

    def restore(self, snapshot_id: str) -> RestoreReport:
        """Makes the sandbox what it was; the safety snapshot is the caller's business."""
        target = self.load(snapshot_id)
        present, scan = self._look(self._cache())
        todo = difference(present, target)
        _refuse_if_blocked(todo)
        with blob_reader(self._git) as blobs:
            # Damage must show before the first file is touched.
            blobs.check(sorted({entry.object_id for _, entry in todo.write_files}))
            self._write(todo, scan, blobs)
        self._sandbox_git.restore(target.git)
        return self._read_back(todo, target)

    def _write(self, todo: Difference, scan: Scan, blobs: BlobReader) -> None:
        writer = SandboxWriter(self._sandbox.path)
        try:
            writer.apply(todo, scan.leftovers, blobs.copy)
        finally:
            writer.close()

    def _read_back(self, done: Difference, target: Manifest) -> RestoreReport:
        found, _ = self._look(self._cache())
        left = difference(found, target)
        wrong = [f"{change.file} should be {change.action}" for change in left.changes]
        if found.git != target.git:
            wrong.append("HEAD, branch or index differ")
        return RestoreReport(
            changes=done.changes,
            left_alone=left.left_alone,
            state_hash=state_hash_of(document_of(found, build_trees(found.tree_entries())[0])),
            differences=tuple(wrong),
        )

    def _try_to_store(self) -> StoredSnapshot:
        cache = self._cache()
        manifest, scan = self._look(cache)
        tree, trees = build_trees(manifest.tree_entries())
        document = NewObject.of(Kind.BLOB, document_of(manifest, tree))
        ignored = NewObject.of(Kind.BLOB, json.dumps(sorted(manifest.ignored)).encode("ascii"))
        state_hash = state_hash_of(document.data or b"")
        snapshot = _snapshot_commit(tree, state_hash, document, ignored)
        anchor_tree = _anchor_tree(manifest.git, document, ignored)
        anchor = _anchor_commit(anchor_tree, snapshot, manifest.git)
        candidates = {
            item.id: item
            for item in (
                *scan.read.values(),
                *(item for item in trees if item.id not in cache.trees),
                *(document, ignored, snapshot, anchor_tree, anchor),
            )
        }
        missing = missing_objects(self._git, candidates)
        pack = None
        if missing:
            pack = store_pack(
                Path(self._sandbox.store) / "objects",
                [candidates[name] for name in candidates if name in missing],
            )
        self._git.run("update-ref", f"{self._refs}/{snapshot.id}", anchor.id)
        if pack is not None:
            pack.release()
        save_cache(
            self._sandbox,
            ScanCache(
                scan.known, cache.captured | manifest.files.keys(), {item.id for item in trees}
            ),
        )
        return StoredSnapshot(snapshot.id, state_hash, pack.size_bytes if pack else 0, manifest)

    def _look(self, cache: ScanCache) -> tuple[Manifest, Scan]:
        """Raises SandboxMissingError when there is nothing to look at."""
        try:
            ignored = self._sandbox_git.ignored()
            state, listing = self._sandbox_git.state()
            scan = Scanner(self._sandbox.path, ignored, cache.captured, cache.known).run()
        except (FileNotFoundError, GitCommandError) as error:
            if not Path(self._sandbox.path).is_dir():
                raise SandboxMissingError(self._sandbox.path, "is not there any more") from error
            raise
        scan.read.update({item.id: item for item in listing})
        manifest = Manifest(
            files=scan.files,
            directories=scan.directories,
            git=state,
            not_captured=tuple(sorted(scan.not_captured)),
            ignored=tuple(sorted(scan.ignored)),
        )
        return manifest, scan

    def _cache(self) -> ScanCache:
        return load_cache(self._sandbox, self._paths_ever_captured)

    def _paths_ever_captured(self) -> frozenset[str]:
        return frozenset(path for snapshot in self.ids() for path in self._tree(snapshot))

    def _tree(self, snapshot_id: str) -> dict[str, tuple[str, str]]:
        try:
            listing = self._git.run("ls-tree", "-r", "-z", "--full-tree", snapshot_id)
        except GitCommandError as error:
            raise SnapshotMissingError(snapshot_id, self._sandbox.store) from error
        entries: dict[str, tuple[str, str]] = {}
        for line in listing.split(b"\0")[:-1]:
            head, _, name = line.partition(b"\t")
            mode, _, object_id = os.fsdecode(head).split(" ")
            entries[os.fsdecode(name)] = (mode, object_id)
        return entries


def _refuse_if_blocked(todo: Difference) -> None:
    if todo.in_the_way:
        raise BusinessRuleViolation(
            "The rollback would overwrite what no checkpoint holds: " + ", ".join(todo.in_the_way),
            hint="Move these away, then roll back again",
            paths=list(todo.in_the_way),
        )


def _snapshot_commit(
    tree: str, state_hash: str, document: NewObject, ignored: NewObject
) -> NewObject:
    message = (
        f"CleverAgents snapshot\n\n"
        f"State-Hash: {state_hash}\nDocument: {document.id}\nIgnored: {ignored.id}\n"
    )
    return _commit(tree, (), message.encode())


def _anchor_tree(state: GitState, document: NewObject, ignored: NewObject) -> NewObject:
    entries = {
        "document.json": ("100644", document.id),
        "ignored.json": ("100644", ignored.id),
    }
    if state.index_listing is not None:
        entries["index.listing"] = ("100644", state.index_listing)
    elif state.index_tree not in (None, EMPTY_TREE):
        entries["index"] = ("40000", state.index_tree)
    return build_trees(entries)[1][-1]


def _anchor_commit(tree: NewObject, snapshot: NewObject, state: GitState) -> NewObject:
    parents = [snapshot.id, *([state.commit] if state.commit else [])]
    return _commit(tree.id, parents, b"CleverAgents snapshot anchor\n")


def _commit(tree: str, parents: Iterable[str], message: bytes) -> NewObject:
    """Returns a commit without a date: equal states are equal commits."""
    lines = [
        b"tree " + tree.encode(),
        *(b"parent " + parent.encode() for parent in parents),
        b"author " + _AUTHOR,
        b"committer " + _AUTHOR,
    ]
    return NewObject.of(Kind.COMMIT, b"\n".join(lines) + b"\n\n" + message)
