"""The snapshots of one sandbox in its mirror: made durable, and read back.

A snapshot is a commit whose tree is exactly the files, so `git diff` and
`git show` work on it. It has no parent: dropping one frees its objects. A second
commit, the anchor, leads to everything else that must stay (document, index,
HEAD); the one ref per snapshot points to it. ADR 0001 has the reasons.

Order on disk: objects, then the ref that keeps them. What was read or made last stays in
memory, because going back and forth meets the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from cleveragents.domain.errors import (
    GitCommandError,
    NoSpaceError,
    SnapshotCorruptError,
    SnapshotMissingError,
)
from cleveragents.domain.sandboxes.sandbox import (
    Evidence,
    SandboxCheckpoint,
    SandboxRef,
    Uncaptured,
)
from cleveragents.domain.sandboxes.uncaptured import IGNORED, ReasonKind
from cleveragents.domain.wording import size
from cleveragents.infrastructure.sandbox.git.command import Git, git_on_mirror
from cleveragents.infrastructure.sandbox.git.objects import (
    EMPTY_TREE,
    GITLINK,
    NewObject,
    ObjectKind,
    stored_pack,
)
from cleveragents.infrastructure.sandbox.store.blobs import BlobReader, missing_objects
from cleveragents.infrastructure.sandbox.store.captured_state import (
    REGULAR,
    CapturedState,
    GitState,
    captured_from,
    staged_objects,
)
from cleveragents.infrastructure.sandbox.store.lazy_tree import DIRECTORY, LazyTree, build_trees
from cleveragents.infrastructure.sandbox.store.refs import SnapshotRefs
from cleveragents.infrastructure.sandbox.store.repacking import combine_packs

_CHECKED_FROM = 300
"""From so many new objects on, it pays to ask which of them are stored already."""
_REPACKED_EVERY = 64
"""After so many new packs, a thread looks whether there are too many."""
_KEPT_TREE_BYTES = 8 << 20
_KEPT_OUTLINES = 20
_RESERVE = 32 << 20
"""Bytes that stay free: the records need room too."""
_AUTHOR = b"CleverAgents <checkpoints@cleveragents.invalid> 0 +0000"
_PART = re.compile(rb"^(tree |Document: |Ignored: |State-Hash: )([0-9a-f]+)$", re.MULTILINE)


class StoredSnapshots:
    """What is stored of one sandbox."""

    def __init__(self, sandbox: SandboxRef, git: Git) -> None:
        self._sandbox = sandbox
        self.unsaved: dict[str, NewObject] = {}
        """Blobs and trees that were found in the sandbox and may not be stored yet.

        Whoever reads the sandbox adds them; trees among them can be read like stored ones.
        """
        self._trees: dict[str, bytes] = {}
        self._tree_bytes = 0
        self._outlines: dict[str, CapturedState] = {}
        """What the snapshots hold that were made last."""
        self.git = git_on_mirror(git, Path(sandbox.store))
        self.refs = SnapshotRefs(sandbox, git)
        self.objects = BlobReader(self.git)
        self._new_packs = 0
        self._repacking: threading.Thread | None = None

    def close(self) -> None:
        self.objects.close()
        self.refs.close()
        self.end_repacking()
        # A short process never gets to a round of its own.
        if self._new_packs:
            self._new_packs = 0
            combine_packs(self.git, Path(self._sandbox.store))

    def end_repacking(self) -> None:
        """Waits for the thread that combines packs, if there is one."""
        if self._repacking is not None:
            self._repacking.join()
            self._repacking = None

    def delete(self, snapshot_ids: Iterable[str]) -> None:
        gone = list(snapshot_ids)
        # Only the refs: the objects stay until a collection, because others may lead to them too.
        self.refs.delete(gone)
        for snapshot_id in gone:
            self._outlines.pop(snapshot_id, None)

    def load(self, snapshot_id: str) -> CapturedState:
        """Returns what a snapshot holds, without reading its files.

        Raises:
            SnapshotMissingError: an object of it is gone.
            SnapshotCorruptError: its objects do not belong together.
        """
        known = self._outlines.get(snapshot_id)
        if known is not None:
            return known
        commit = self.objects.read(snapshot_id)
        named = {name: value.decode() for name, value in _PART.findall(commit)}
        if len(named) < 4:
            raise SnapshotCorruptError(f"{snapshot_id} is not a snapshot")
        document = self.objects.read(named[b"Document: "])
        ignored: list[str] = json.loads(self.objects.read(named[b"Ignored: "]))
        captured = captured_from(document, ignored)
        # Each object matches its id, so damage to the disk cannot make these differ. A snapshot
        # that was put together wrongly can: by an agent, say, which may write to the mirror.
        found = (hashlib.sha256(document).hexdigest(), captured.tree)
        if found != (named[b"State-Hash: "], named[b"tree "]):
            raise SnapshotCorruptError(f"Snapshot {snapshot_id} does not hold what it lists")
        return captured

    def verify(self, snapshot_id: str) -> None:
        """Reads back every byte that a restore needs, and what git in the sandbox needs then."""
        self._outlines.pop(snapshot_id, None)  # What is in memory proves nothing.
        captured = self.load(snapshot_id)
        needed = {node[1] for _, node in LazyTree(captured.tree, self.objects.read).files()}
        needed |= self._index_objects(captured.git)
        if captured.git.commit is not None:
            needed |= self._history(captured.git.commit, snapshot_id)
        self.objects.check(sorted(needed))

    def check_git(self, state: GitState, snapshot_id: str) -> None:
        """Raises SnapshotError unless commit and index can be restored."""
        if state.commit is not None:
            self.objects.check([state.commit])
        if missing_objects(self.git, sorted(self._index_objects(state))):
            raise SnapshotMissingError(snapshot_id, self._sandbox.store)

    def _index_objects(self, state: GitState) -> set[str]:
        needed = self.staged(state)
        if state.index_tree is not None:
            index = LazyTree(state.index_tree, self.objects.read)
            needed |= {object_id for _, (mode, object_id) in index.files() if mode != GITLINK}
        return needed

    def _history(self, commit: str, snapshot_id: str) -> set[str]:
        """Returns what a commit holds, and all that was committed since the plan began.

        What came before is the project's history, which the project has too.
        """
        base = self._sandbox.base_commit
        walks = (("--no-walk", commit), (commit, *([] if base is None else ["--not", base])))
        try:
            listings = [self.git.run("rev-list", "--objects", *walk) for walk in walks]
        except GitCommandError as error:
            if error.status < 0:  # Git was killed or hangs, which says nothing about the objects.
                raise
            raise SnapshotCorruptError(
                f"Commit {commit}, where HEAD is in snapshot {snapshot_id}, "
                f"is damaged or incomplete in {self._sandbox.store}",
                object_id=commit,
            ) from error
        return {line[:40].decode() for listing in listings for line in listing.splitlines()}

    def staged(self, state: GitState) -> set[str]:
        """Returns the blobs that only the index leads to, where it is kept as a listing."""
        if state.index_listing is None:
            return set()
        return staged_objects(self.objects.read(state.index_listing))

    def keep(
        self,
        captured: CapturedState,
        staged: Iterable[str],
        others: Sequence[NewObject],
        evidence: Evidence = Evidence.COMPLETE,
    ) -> SandboxCheckpoint:
        """Makes a state durable unless it is: its objects, those it leads to, then its ref."""
        made = snapshot_objects(captured, staged)
        added = 0
        if not self.refs.has(self.refs.name(made.snapshot.id)):
            # The pack is synced before the ref is written: a ref that leads to missing objects
            # would be a checkpoint that cannot be restored. Until the ref is there, a `.keep`
            # file keeps a collection by the agent's own git from removing the pack.
            with self._pack((*others, *made.all)) as added:
                self.refs.write(made.snapshot.id, made.anchor.id)
            self._new_packs += 1
            is_idle = self._repacking is None or not self._repacking.is_alive()
            if self._new_packs >= _REPACKED_EVERY and is_idle:
                # In a thread, so that no checkpoint waits for it.
                self._new_packs = 0
                self._repacking = threading.Thread(
                    target=combine_packs,
                    args=(self.git, Path(self._sandbox.store)),
                    daemon=True,
                )
                self._repacking.start()
        for item in others:
            if item.kind is ObjectKind.TREE and item.data is not None:
                self._keep_tree(item.id, item.data)
        self._outlines[made.snapshot.id] = captured
        if len(self._outlines) > _KEPT_OUTLINES:
            del self._outlines[next(iter(self._outlines))]
        left_out = [(path, reason.text) for path, reason in captured.not_captured.items()]
        left_out += [(path, IGNORED.text) for path in captured.ignored]
        return SandboxCheckpoint(
            snapshot_id=made.snapshot.id,
            state_hash=made.state_hash,
            size_bytes=added,
            not_captured=tuple(
                Uncaptured(path=path, reason=reason) for path, reason in sorted(left_out)
            ),
            evidence=evidence,
            partial=any(
                reason.kind is ReasonKind.OVERDUE for reason in captured.not_captured.values()
            ),
        )

    def keep_included(
        self, captured: CapturedState, staged: Iterable[str], others: Sequence[NewObject]
    ) -> str:
        """Stores a state for one apply: apart from the snapshots of checkpoints."""
        made = snapshot_objects(captured, staged)
        with self._pack((*others, *made.all)):
            self.refs.keep_included(made.snapshot.id, made.anchor.id)
        self._new_packs += 1
        return made.snapshot.id

    def _pack(self, wanted: Iterable[NewObject]) -> AbstractContextManager[int]:
        """Stores objects for a block; of many, only those that are not stored yet."""
        new = {item.id: item for item in wanted}
        if len(new) > _CHECKED_FROM:
            # git knows the empty tree without having it.
            missing = missing_objects(self.git, new) | {EMPTY_TREE}
            new = {name: item for name, item in new.items() if name in missing}
        disk, needed = os.statvfs(self._sandbox.store), sum(item.size for item in new.values())
        free = disk.f_bavail * disk.f_frsize
        if free < needed + _RESERVE:
            raise NoSpaceError(
                f"There is not enough room for the snapshot: it needs {size(needed)} "
                f"and {size(_RESERVE)} must stay free; {size(free)} are free",
                hint="Make room in the home directory of CleverAgents; "
                "`agents gc` may reclaim some",
            )
        return stored_pack(Path(self._sandbox.store) / "objects", new.values())

    def read_tree(self, object_id: str) -> bytes:
        """Trees never change, so those read last are kept."""
        unsaved = self.unsaved.get(object_id)
        if unsaved is not None and unsaved.data is not None:
            return unsaved.data
        found = self._trees.get(object_id)
        if found is None:
            found = self.objects.read(object_id)
            self._keep_tree(object_id, found)
        return found

    def read_ahead(self, object_ids: Iterable[str]) -> None:
        """Has trees at hand that are about to be read, without a question for each of them."""
        missing = [
            each
            for each in dict.fromkeys(object_ids)
            if each not in self._trees and each not in self.unsaved
        ]
        contents = {object_id: bytearray() for object_id in missing}
        self.objects.copy_many(missing, lambda object_id: contents[object_id].extend)
        for object_id, content in contents.items():
            self._keep_tree(object_id, bytes(content))

    def _keep_tree(self, object_id: str, content: bytes) -> None:
        self._tree_bytes += len(content) - len(self._trees.get(object_id, b""))
        self._trees[object_id] = content
        while self._tree_bytes > _KEPT_TREE_BYTES:
            self._tree_bytes -= len(self._trees.pop(next(iter(self._trees))))


@dataclass(frozen=True)
class SnapshotObjects:
    """What has to be stored besides files and their trees."""

    snapshot: NewObject
    anchor: NewObject
    all: tuple[NewObject, ...]
    """These two, and what they lead to."""
    state_hash: str


def snapshot_objects(captured: CapturedState, staged: Iterable[str]) -> SnapshotObjects:
    """Returns the objects of a snapshot: equal states give equal ids.

    Args:
        captured: The state.
        staged: Blobs that only the index leads to, where it is kept as a listing.
    """
    content = captured.document()
    document = NewObject.of(ObjectKind.BLOB, content)
    ignored = NewObject.of(ObjectKind.BLOB, json.dumps(sorted(captured.ignored)).encode("ascii"))
    state_hash = hashlib.sha256(content).hexdigest()
    message = (
        f"CleverAgents snapshot\n\n"
        f"State-Hash: {state_hash}\nDocument: {document.id}\nIgnored: {ignored.id}\n"
    )
    snapshot = commit_object(captured.tree, (), message.encode())
    git = captured.git
    entries = {"document.json": (REGULAR, document.id), "ignored.json": (REGULAR, ignored.id)}
    if git.index_listing is not None:
        entries["index.listing"] = (REGULAR, git.index_listing)
        entries |= {f"index.objects/{name}": (REGULAR, name) for name in staged}
    elif git.index_tree not in (None, EMPTY_TREE):
        entries["index"] = (DIRECTORY, git.index_tree)
    trees = build_trees(entries)[1]
    head = [git.commit] if git.commit else []
    anchor = commit_object(trees[-1].id, [snapshot.id, *head], b"CleverAgents snapshot anchor\n")
    # git knows the empty tree without having it; a snapshot does not rely on that.
    empty = [NewObject.of(ObjectKind.TREE, b"")] if captured.tree == EMPTY_TREE else []
    every = (document, ignored, *trees, *empty, snapshot, anchor)
    return SnapshotObjects(snapshot, anchor, every, state_hash)


def commit_object(tree: str, parents: Iterable[str], message: bytes) -> NewObject:
    """Returns a commit without a date: equal states are equal commits."""
    lines = [
        b"tree " + tree.encode(),
        *(b"parent " + parent.encode() for parent in parents),
        b"author " + _AUTHOR,
        b"committer " + _AUTHOR,
    ]
    return NewObject.of(ObjectKind.COMMIT, b"\n".join(lines) + b"\n\n" + message)
