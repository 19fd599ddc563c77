"""Snapshots of SQLite sandboxes, kept in the database's private store.

Order on disk: objects, then ref, then (by the caller) the row. What a snapshot
consists of is in `chunks`, how a database is read and restored in `files` and `restore`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec.structs import replace as replace_fields

from cleveragents.domain.errors import (
    BusinessRuleViolation,
    ConflictError,
    NoSpaceError,
    SandboxMissingError,
    SnapshotError,
)
from cleveragents.domain.sandboxes.change import PathChange
from cleveragents.domain.sandboxes.merge import MergeNames, MergeReport, MergeStrategy
from cleveragents.domain.sandboxes.named_paths import NamedPaths
from cleveragents.domain.sandboxes.sandbox import (
    ChangeAction,
    DiffFile,
    Evidence,
    FileChange,
    FilePatch,
    RestorePreview,
    RestoreReport,
    SandboxCheckpoint,
    SandboxRef,
    TreeDiff,
    Uncaptured,
    UncapturedFile,
)
from cleveragents.infrastructure.files import FULL_DISK
from cleveragents.infrastructure.sandbox.files.engine_protocol import (
    SnapshotEngine,
    refuse_differences,
)
from cleveragents.infrastructure.sandbox.files.known_copies import CopyComparison
from cleveragents.infrastructure.sandbox.git.command import Git, git_on_mirror
from cleveragents.infrastructure.sandbox.git.objects import NewObject, ObjectKind, stored_pack
from cleveragents.infrastructure.sandbox.sqlite.changes import database_changes, merge_databases
from cleveragents.infrastructure.sandbox.sqlite.chunks import (
    DatabaseState,
    FileKind,
    chunks_of,
    document_id,
    load_state,
    rebuild,
    snapshot_of,
)
from cleveragents.infrastructure.sandbox.sqlite.diff import table_summary
from cleveragents.infrastructure.sandbox.sqlite.files import (
    PATIENCE_SECONDS,
    DatabaseBusyError,
    DatabaseFiles,
    Signature,
)
from cleveragents.infrastructure.sandbox.sqlite.inspect import NOT_A_FILE, look, others
from cleveragents.infrastructure.sandbox.sqlite.restore import put_back
from cleveragents.infrastructure.sandbox.states.diff import PATCH_LIMIT
from cleveragents.infrastructure.sandbox.store.blobs import BlobReader, blob_reader, missing_objects
from cleveragents.infrastructure.sandbox.store.directories import scratch
from cleveragents.infrastructure.sandbox.store.refs import SnapshotRefs, mirror_use

_CHUNKS_IN_ONE_PACK = 256
"""As many as are in memory at once: 16 MiB."""
_KEPT_DOCUMENTS = 20
_RACY_NANOSECONDS = 20_000_000
_COARSE_RACY_NANOSECONDS = 2_500_000_000
"""How long after a write another one might leave the same times; file systems differ."""


@dataclass(frozen=True)
class _Fingerprint:
    """How the files of the database look from outside."""

    mode: int | None
    signatures: tuple[Signature | None, ...]

    def is_settled(self, now: int) -> bool:
        """Returns whether any later write is sure to leave other times, in nanoseconds."""
        times = [time for each in self.signatures if each is not None for time in each[2:] if time]
        coarse = all(time % 1_000_000_000 == 0 for time in times)
        slack = _COARSE_RACY_NANOSECONDS if coarse else _RACY_NANOSECONDS
        return max(times, default=0) < now - slack


@dataclass(frozen=True)
class _SettledDatabase:
    """A snapshot that is still right as long as the files look the same."""

    fingerprint: _Fingerprint
    stored: SandboxCheckpoint


class SqliteSnapshots(SnapshotEngine):
    """Snapshots of one database in its sandbox."""

    def __init__(self, sandbox: SandboxRef, git: Git, patience: float = PATIENCE_SECONDS) -> None:
        """`patience` is how many seconds a lock on the database is waited for."""
        self._sandbox = sandbox
        self._place = Path(sandbox.path)
        self._git = git_on_mirror(git, Path(sandbox.store))
        self._refs = SnapshotRefs(sandbox, git)
        self._patience = patience
        self._use: ExitStack | None = None
        self._settled: _SettledDatabase | None = None
        self._documents: dict[str, bytes] = {}
        """What the last snapshots hold."""

    def watch(self) -> None:
        """Nothing need be watched: the times of two files tell whether anything changed."""

    def close(self) -> None:
        self._refs.close()
        if self._use is not None:
            self._use.close()
            self._use = None

    def _use_mirror(self) -> None:
        """Keeps objects from being collected from now on, until this is closed."""
        if self._use is None:
            self._use = ExitStack()
            self._use.enter_context(mirror_use(Path(self._sandbox.store)))

    def snapshot(self) -> SandboxCheckpoint:
        """Makes a durable snapshot of the database as of its last finished transaction.

        Raises:
            SandboxMissingError: the sandbox is gone.
            ConflictError: the database stays locked.
            SnapshotError: the disk is full.
        """
        self._use_mirror()
        if self._settled is not None and self._still_right(self._settled):
            return replace_fields(
                self._settled.stored,
                size_bytes=0,
                not_captured=others(self._place),
                evidence=Evidence.SCAN,
            )
        with self._room("The snapshot could not be stored") as room:
            started, fingerprint = room.stat().st_ctime_ns, self._fingerprint()
            stored = self._store(room)
        settled = fingerprint.is_settled(started)
        self._settled = _SettledDatabase(fingerprint, stored) if settled else None
        return stored

    def preview(self, snapshot_id: str, paths: Collection[str] | None = None) -> RestorePreview:
        """Raises what `restore` would raise before it touches anything."""
        with self._room("The database could not be read") as room, blob_reader(self._git) as blobs:
            wanted = self._load(snapshot_id, blobs)
            found = look(self._place, room / "present", self._patience)
            if paths is not None:
                wanted = self._chosen(found.state, wanted, NamedPaths(paths))
            changes = self._changes(found.state, wanted)
            if changes:
                blobs.check(sorted(set(wanted.chunks)))
        return RestorePreview(changes=changes, left_alone=found.not_captured)

    def restore(self, snapshot_id: str, sparing: str | None = None) -> RestoreReport:
        """Makes the database what it was; what lies beside it is left alone."""
        with (
            self._room("The database could not be restored") as room,
            blob_reader(self._git) as blobs,
        ):
            wanted = self._load(snapshot_id, blobs)
            found = look(self._place, room / "present", self._patience)
            changes = self._changes(found.state, wanted)
            if changes:
                content = rebuild(wanted, room / "wanted", blobs)
                put_back(self._place, content, wanted, found.state.kind, self._patience)
            after = look(self._place, room / "present", self._patience)
        return RestoreReport(
            changes=changes,
            left_alone=after.not_captured,
            differences=tuple(
                f"{change.file} should be {change.action}"
                for change in self._changes(after.state, wanted)
            ),
        )

    def verify(self, snapshot_id: str) -> None:
        """Reads every byte of a snapshot back."""
        with blob_reader(self._git) as blobs:
            blobs.check(sorted(set(self._load(snapshot_id, blobs).chunks)))

    def ids(self) -> Sequence[str]:
        return self._refs.ids()

    def uncaptured(self, start: str, original: str) -> Sequence[UncapturedFile]:
        """Everything beside the database is the plan's: its sandbox starts with nothing else."""
        del start, original
        return [
            UncapturedFile(
                path=item.path,
                reason=item.reason,
                size_bytes=(self._place.parent / item.path).lstat().st_size,
                rebuildable=None,
                can_be_added=False,
            )
            for item in others(self._place)
            if item.path != self._place.name
        ]

    def start(self) -> str | None:
        return next(iter(self._refs.ids(own=False, started=True)), None)

    def keep_start(self, snapshot_id: str) -> None:
        self._refs.keep_start(snapshot_id)

    def delete(self, snapshot_ids: Collection[str]) -> None:
        self._refs.delete(snapshot_ids)

    def diff(self, old: str, new: str, prefix: str = "") -> TreeDiff:
        """Compares two snapshots; the patch says which tables have other rows."""
        name = f"{prefix}{self._place.name}"
        with (
            self._room("The snapshots could not be compared") as room,
            blob_reader(self._git) as blobs,
        ):
            before, after = self._load(old, blobs), self._load(new, blobs)
            if before == after:
                return TreeDiff(files=(), patches=(), patch_truncated=False)
            patch = table_summary(
                self._readable(before, room / "old", blobs),
                self._readable(after, room / "new", blobs),
                name,
            )
        change = DiffFile(path=name, status=_status(before, after), insertions=None, deletions=None)
        return TreeDiff(
            files=(change,),
            patches=(FilePatch(path=name, text=patch[: patch.rfind("\n", 0, PATCH_LIMIT) + 1]),),
            patch_truncated=len(patch) > PATCH_LIMIT,
        )

    def changes(self, old: str, new: str) -> Sequence[PathChange]:
        if old == new:
            return ()
        with blob_reader(self._git) as blobs:
            before, after = (self._document(each, blobs) for each in (old, new))
        return database_changes(self._place.name, before, after)

    def changes_since(self, snapshot_id: str) -> Sequence[PathChange]:
        name = self._place.name
        with self._room("The database could not be read") as room, blob_reader(self._git) as blobs:
            before = self._document(snapshot_id, blobs)
            found = look(self._place, room / "present", self._patience)
        return database_changes(name, before, snapshot_of(found.state, name).document)

    def combine(self, base: str, other: str, paths: Collection[str]) -> SandboxCheckpoint:
        """Keeps the one snapshot or the other: the database is the only path there is."""
        self._use_mirror()
        with blob_reader(self._git) as blobs:
            before, after = self._load(base, blobs), self._load(other, blobs)
        name = self._place.name
        named = NamedPaths(paths)
        state = self._chosen(before, after, named)
        snapshot_id = other if named.covers(name) else base
        self._refs.write(snapshot_id, snapshot_id)
        left_out = (
            [Uncaptured(path=name, reason=NOT_A_FILE)] if state.kind is FileKind.OTHER else []
        )
        state_hash = snapshot_of(state, name).state_hash
        return SandboxCheckpoint(
            snapshot_id=snapshot_id,
            state_hash=state_hash,
            size_bytes=0,
            not_captured=tuple(left_out),
        )

    def merge(
        self, mine: str, base: str, theirs: str, strategy: MergeStrategy, names: MergeNames
    ) -> MergeReport:
        """Takes the whole database, or leaves it."""
        if base == theirs:
            return MergeReport(merged=(), conflicts=())
        with blob_reader(self._git) as blobs:
            old, own, new = (self._load(each, blobs) for each in (base, mine, theirs))
        report = merge_databases(self._place.name, old, own, new, strategy)
        if report.merged:
            refuse_differences(self.restore(theirs))
        return report

    def restore_paths(self, snapshot_id: str, paths: Collection[str]) -> None:
        """Restores the whole database if it is named."""
        if NamedPaths(paths).covers(self._place.name):
            refuse_differences(self.restore(snapshot_id))

    def start_as(self, snapshot_id: str, source: SandboxRef, known: CopyComparison | None) -> None:
        """Makes the database of a fork from the stored chunks."""
        self._refs.inherit(snapshot_id, source)
        refuse_differences(self.restore(snapshot_id))

    def _chosen(
        self, base: DatabaseState, other: DatabaseState, paths: NamedPaths
    ) -> DatabaseState:
        """Returns `other` if the database is among the paths, else `base`."""
        name = self._place.name
        if not paths.covers(name):
            return base
        if FileKind.OTHER in (base.kind, other.kind):
            raise SnapshotError(
                f"A checkpoint does not hold the database: {name} was not a file then",
                hint="Choose another checkpoint; nothing was changed",
                path=name,
            )
        return other

    def _document(self, snapshot_id: str, blobs: BlobReader) -> bytes:
        known = self._documents.get(snapshot_id)
        if known is not None:
            return known
        return blobs.read(document_id(snapshot_id, blobs.read(snapshot_id)))

    def _store(self, room: Path) -> SandboxCheckpoint:
        copy = room / "present"
        found = look(self._place, copy, self._patience)
        made = snapshot_of(found.state, self._place.name)
        objects = Path(self._sandbox.store) / "objects"
        added = 0
        with ExitStack() as kept:
            for new in self._missing(found.state, copy, made.objects):
                added += kept.enter_context(stored_pack(objects, new))
            self._refs.write(made.id, made.id)
        self._documents[made.id] = made.document
        if len(self._documents) > _KEPT_DOCUMENTS:
            del self._documents[next(iter(self._documents))]
        return SandboxCheckpoint(
            snapshot_id=made.id,
            state_hash=made.state_hash,
            size_bytes=added,
            not_captured=found.not_captured,
        )

    def _missing(
        self, state: DatabaseState, copy: Path, others: Sequence[NewObject]
    ) -> Iterator[list[NewObject]]:
        """Yields what the store does not have yet, in portions that fit into memory."""
        missing = missing_objects(self._git, {*state.chunks, *(item.id for item in others)})
        portion: list[NewObject] = []
        if missing.intersection(state.chunks):
            for chunk in chunks_of(copy, state.kind):
                item = NewObject.of(ObjectKind.BLOB, chunk)
                if item.id in missing:
                    missing.remove(item.id)
                    portion.append(item)
                if len(portion) == _CHUNKS_IN_ONE_PACK:
                    yield portion
                    portion = []
        portion += [item for item in others if item.id in missing]
        if portion:
            yield portion

    def _load(self, snapshot_id: str, blobs: BlobReader) -> DatabaseState:
        return load_state(self._git, snapshot_id, blobs, self._place.name)

    def _changes(self, found: DatabaseState, wanted: DatabaseState) -> tuple[FileChange, ...]:
        """Raises BusinessRuleViolation when the one cannot become the other."""
        if found == wanted:
            return ()
        name = self._place.name
        if found.kind is FileKind.OTHER:
            raise BusinessRuleViolation(
                f"The rollback would overwrite what no checkpoint holds: {name}",
                hint="Move it away, then roll back again",
                paths=[name],
            )
        if wanted.kind is FileKind.OTHER:
            raise BusinessRuleViolation(
                f"The checkpoint does not hold the database: {name} was not a file then",
                hint="Choose another checkpoint; nothing was changed",
            )
        removed = wanted.kind is FileKind.MISSING
        action = ChangeAction.REMOVED if removed else ChangeAction.RESTORED
        return (FileChange(file=name, action=action),)

    def _readable(self, state: DatabaseState, target: Path, blobs: BlobReader) -> Path | None:
        if state.kind is not FileKind.DATABASE:
            return None
        return rebuild(state, target, blobs)

    @contextmanager
    def _room(self, failure: str) -> Generator[Path]:
        """Gives a directory for the time of one act, and says what went wrong in it."""
        if self._place.parent.is_symlink() or not self._place.parent.is_dir():
            raise SandboxMissingError(self._sandbox.path, "is missing")
        try:
            with scratch(self._place.parent) as room:
                yield room
        except DatabaseBusyError as error:
            raise ConflictError(
                f"{failure}: another process keeps it locked: {self._place}",
                hint="End the processes that use the database, then try again",
                path=str(self._place),
            ) from error
        except (OSError, sqlite3.Error) as error:
            is_full = isinstance(error, OSError) and error.errno in FULL_DISK
            is_full |= getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
            raise (NoSpaceError if is_full else SnapshotError)(
                f"{failure}: {error}", hint="Make room or give permission, then try again"
            ) from error

    def _fingerprint(self) -> _Fingerprint:
        try:
            mode = self._place.lstat().st_mode
        except OSError:
            mode = None
        return _Fingerprint(mode, DatabaseFiles(self._place).signature())

    def _still_right(self, known: _SettledDatabase) -> bool:
        return known.fingerprint == self._fingerprint() and self._refs.has(
            self._refs.name(known.stored.snapshot_id)
        )


def _status(before: DatabaseState, after: DatabaseState) -> str:
    if before.kind is FileKind.MISSING:
        return "added"
    if after.kind is FileKind.MISSING:
        return "deleted"
    return "mode changed" if replace(before, mode=after.mode) == after else "modified"
