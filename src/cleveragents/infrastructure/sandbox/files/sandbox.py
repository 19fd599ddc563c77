"""FileSandbox: one sandbox that is a directory of files, with git or without.

While it is watched, a snapshot reads only what the kernel reports as changed; a new
process finds that out by one scan of change times. Either way only changed files are
read, only the trees above them are rewritten, and everything new is stored as one pack.
Order on disk: objects, then ref, then (by the caller) the row.

A restore finds obstacles and damage before it touches the first file. What is merged, or
restored path by path, becomes a snapshot first, which is then restored like any other: so
everything is written exactly, never through a link, and read back. A kill leaves at most
a snapshot that no record names, and a sandbox for which the restore can be repeated.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, closing, nullcontext
from dataclasses import replace
from pathlib import Path

from msgspec.structs import replace as replace_fields

from cleveragents.domain.errors import BusinessRuleViolation, SnapshotError
from cleveragents.domain.sandboxes.change import PathChange
from cleveragents.domain.sandboxes.merge import MergeNames, MergeReport, MergeStrategy
from cleveragents.domain.sandboxes.named_paths import NamedPaths, inside
from cleveragents.domain.sandboxes.patterns import PathPatterns
from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import (
    ChangeAction,
    FileChange,
    RestorePreview,
    RestoreReport,
    SandboxCheckpoint,
    SandboxRef,
    TreeDiff,
    Uncaptured,
    UncapturedFile,
)
from cleveragents.infrastructure.files import sync_files
from cleveragents.infrastructure.sandbox.files.engine_protocol import (
    SnapshotEngine,
    refuse_differences,
)
from cleveragents.infrastructure.sandbox.files.git_state import ObservedGit, SandboxGit, forked
from cleveragents.infrastructure.sandbox.files.ignore_rules import (
    GitIgnoreRules,
    IgnoreRules,
    SmallIgnoredFilesKept,
)
from cleveragents.infrastructure.sandbox.files.known_copies import CopyComparison, state_of_copy
from cleveragents.infrastructure.sandbox.files.layer import (
    CHANGED_OUTSIDE,
    GIT,
    bring_back_objects,
    changed_outside,
    is_object_directory,
    remove_objects,
)
from cleveragents.infrastructure.sandbox.files.project_git import ProjectGit
from cleveragents.infrastructure.sandbox.files.scan import FileSystemTime
from cleveragents.infrastructure.sandbox.files.tracker import (
    STATE,
    SandboxTracker,
    note_path,
    os_errors_as,
)
from cleveragents.infrastructure.sandbox.files.uncaptured_files import UncapturedFiles, with_files
from cleveragents.infrastructure.sandbox.files.views import Layer
from cleveragents.infrastructure.sandbox.files.writer import SandboxWriter, room_for
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.objects import NewObject, ObjectChangedError
from cleveragents.infrastructure.sandbox.states.combine import combined
from cleveragents.infrastructure.sandbox.states.diff import tree_diff
from cleveragents.infrastructure.sandbox.states.difference import StateDifference, difference
from cleveragents.infrastructure.sandbox.states.line_merge import LineMerge
from cleveragents.infrastructure.sandbox.states.path_changes import path_changes
from cleveragents.infrastructure.sandbox.states.taken_paths import with_taken
from cleveragents.infrastructure.sandbox.states.three_way import (
    ThreeStates,
    ThreeWayResult,
    merge_states,
)
from cleveragents.infrastructure.sandbox.store.blobs import object_sizes
from cleveragents.infrastructure.sandbox.store.captured_state import (
    CapturedState,
    without_special_files,
)
from cleveragents.infrastructure.sandbox.store.directories import scratch
from cleveragents.infrastructure.sandbox.store.lazy_tree import LazyTree, not_ahead
from cleveragents.infrastructure.sandbox.store.limits import Limits
from cleveragents.infrastructure.sandbox.store.refs import mirror_use
from cleveragents.infrastructure.sandbox.store.snapshots import StoredSnapshots
from cleveragents.infrastructure.system import counted

_STORE_ATTEMPTS = 12
_SECOND_CHANCES = 2
_MARKERS = (b"<<<<<<< ", b">>>>>>> ")
_READ_AHEAD_BYTES = 64 << 20


class FileSandbox(SnapshotEngine):
    """Snapshots and restores of one sandbox."""

    def __init__(self, sandbox: SandboxRef, git: Git, limits: Limits) -> None:
        self._sandbox = sandbox
        is_view = sandbox.strategy is SandboxStrategy.PRIVATE_VIEW
        self._layer = Layer.of(sandbox) if is_view else None
        self._environment = git.environment
        self._git: SandboxGit | ProjectGit | None = None
        place, rebuildable = sandbox.path, PathPatterns(limits.rebuildable)
        rules = IgnoreRules()
        if sandbox.strategy is SandboxStrategy.GIT_WORKTREE:
            self._git = SandboxGit(sandbox, git)
            rules = GitIgnoreRules(self._git.outside, place)
        elif sandbox.strategy in (SandboxStrategy.IN_PLACE, SandboxStrategy.PRIVATE_VIEW):
            self._git = ProjectGit(sandbox, git, note_path(sandbox, "index"))
            if self._git.outside is not None:
                most = limits.ignored_max_bytes
                rules = SmallIgnoredFilesKept(
                    self._git.outside, place, rebuildable=rebuildable, most=most
                )
        if "all" in limits.include_ignored:
            rules = IgnoreRules()
        self._stored = StoredSnapshots(sandbox, git)
        self._tracker = SandboxTracker(
            sandbox, self._layer, self._git, rules, self._stored, limits, git.environment
        )
        notes = note_path(sandbox, "uncaptured")
        self._uncaptured = UncapturedFiles(place, notes, rebuildable)
        self._last: tuple[CapturedState, SandboxCheckpoint] | None = None
        """The last snapshot, and what it holds."""
        # While this is open, no collection removes objects that are not yet named by a ref.
        self._use = ExitStack()
        self._use.enter_context(mirror_use(Path(sandbox.store)))

    def watch(self) -> None:
        self._tracker.watch()

    def close(self) -> None:
        self._tracker.close()
        self._stored.close()
        self._use.close()
        self._last = None

    def commits_since(self, head: str) -> Sequence[str]:
        return self._git.commits_since(head) if isinstance(self._git, ProjectGit) else ()

    def wakeup(self) -> int | None:
        return self._tracker.wakeup

    def note_changes(self) -> None:
        self._tracker.note_changes()

    def doubt(self, paths: Collection[str]) -> None:
        self._tracker.doubt(paths)

    def recheck(self) -> Sequence[str]:
        return self._tracker.recheck()

    def marked(self, paths: Collection[str]) -> Sequence[str]:
        root = Path(self._sandbox.path)
        return [path for path in paths if _has_markers(root / path)]

    def ids(self) -> list[str]:
        return self._stored.refs.ids()

    def start(self) -> str | None:
        return next(iter(self._stored.refs.ids(own=False, started=True)), None)

    def keep_start(self, snapshot_id: str) -> None:
        with os_errors_as("The start of the plan could not be stored"):
            self._stored.refs.keep_start(snapshot_id)

    def delete(self, snapshot_ids: Collection[str]) -> None:
        self._stored.delete(snapshot_ids)

    def verify(self, snapshot_id: str) -> None:
        self._stored.verify(snapshot_id)

    def sizes(self, hashes: Collection[str]) -> Mapping[str, int]:
        return object_sizes(self._stored.git, hashes)

    def diff(self, old: str, new: str, prefix: str = "") -> TreeDiff:
        before, after = (old, self._stored.load(old)), (new, self._stored.load(new))
        found = tree_diff(self._stored.git, before, after, self._stored.objects.read, prefix)
        return found if self._layer is None else _diff_of_files(found, prefix)

    def changes(self, old: str, new: str) -> Sequence[PathChange]:
        if old == new:
            return ()
        before, after = self._stored.load(old), self._stored.load(new)
        found = path_changes(before, after, self._stored.read_tree)
        return found if self._layer is None else _changes_of_files(found)

    def changes_since(self, snapshot_id: str) -> Sequence[PathChange]:
        present, _ = self._tracker.present()
        before = self._stored.load(snapshot_id)
        found = path_changes(before, present, self._stored.read_tree)
        return found if self._layer is None else _changes_of_files(found)

    def preview(self, snapshot_id: str, paths: Collection[str] | None = None) -> RestorePreview:
        """Raises what `restore` would raise before it touches anything."""
        target = self._stored.load(snapshot_id)
        present, _ = self._tracker.present()
        read, ahead = self._stored.read_tree, self._stored.read_ahead
        if paths is not None:
            made = combined(present, target, NamedPaths(paths), read)
            target, read, ahead = made.captured, made.reader(read), not_ahead
        todo = difference(present, target, read, ahead)
        self._refuse_unless_possible(todo, present, target, snapshot_id)
        self._stored.objects.check(sorted({entry.object_id for _, entry in todo.write_files}))
        changes, left_alone = todo.changes, todo.left_alone
        if self._layer is not None:
            changes = _with_git_as_one(changes)
            left_alone += self._changed_outside(self._layer)
        return RestorePreview(changes=changes, left_alone=left_alone, replaced=todo.replaced)

    def _changed_outside(self, layer: Layer) -> tuple[Uncaptured, ...]:
        """Returns what only somebody else changed in the real project of a private view."""
        start = self.start()
        if start is None:
            return ()
        with os_errors_as("The project could not be read"):
            found = changed_outside(
                layer,
                self._stored.load(start),
                self._stored.read_tree,
                self._tracker.known_directories(),
                self._environment,
            )
        return tuple(Uncaptured(path=path, reason=CHANGED_OUTSIDE) for path in found)

    def snapshot(self) -> SandboxCheckpoint:
        """Makes a durable snapshot of the sandbox as it is, and notes the project's `HEAD`.

        Raises:
            SandboxMissingError: there is nothing to store.
            SnapshotError: files keep changing, or the disk is full.
        """
        refs, spoiled = self._stored.refs, Counter[str]()
        for _ in range(_STORE_ATTEMPTS):
            try:
                with os_errors_as("The snapshot could not be stored"):
                    captured, look = self._tracker.present()
                    last, made = self._last or (None, None)
                    evidence = self._tracker.evidence
                    head = self._git.head if isinstance(self._git, ProjectGit) else None
                    # The tracker returns the very same value while nothing has changed.
                    if made and last is captured and refs.has(refs.name(made.snapshot_id)):
                        return replace_fields(made, size_bytes=0, evidence=evidence, head=head)
                    objects = [*self._stored.unsaved.values()]
                    if last is None or last.git != captured.git:
                        if look.to_sync:
                            sync_files(look.to_sync)
                        objects += look.objects
                    stored = self._stored.keep(captured, look.staged, objects, evidence)
                    made = replace_fields(stored, head=head)
                    self._tracker.note_stored(
                        captured, refs.name(made.snapshot_id), made.size_bytes
                    )
                    self._last = (captured, made)
                    return made
            except ObjectChangedError as changed:
                # A large file is only hashed when it is found and read again when it is packed.
                # One that was written to in between is read again, and left out in the end.
                path = os.path.relpath(changed.path, self._sandbox.path)
                spoiled[path] += 1
                self._tracker.look_again(path, give_up=spoiled[path] > _SECOND_CHANCES)
        raise SnapshotError(
            "The snapshot could not be stored: files of the sandbox keep changing",
            hint="End the processes that write to the sandbox",
        )

    def combine(self, base: str, other: str, paths: Collection[str]) -> SandboxCheckpoint:
        before, named = self._stored.load(base), NamedPaths(paths)
        made = combined(before, self._stored.load(other), named, self._stored.read_tree)
        with os_errors_as("The snapshot could not be stored"):
            return self._stored.keep(made.captured, self._stored.staged(before.git), made.trees)

    def restore(self, snapshot_id: str, sparing: str | None = None) -> RestoreReport:
        target = self._stored.load(snapshot_id)
        if sparing is not None:
            # A killed restore may have restored the ignore rules already, so that what they hid
            # looks like something to remove: what the other did not hold counts as left out too.
            other = self._stored.load(sparing)
            unknown = {path for path, why in other.not_captured.items() if not why.is_special_file}
            left_out = target.ignored | other.ignored | unknown
            target = replace(target, ignored=left_out)
        # A restore that has begun is finished without a check of the free space: half is worse.
        begun = sparing is not None
        ref = self._stored.refs.name(snapshot_id)
        return self._restore_to(target, snapshot_id, ref, begun=begun)

    def restore_paths(self, snapshot_id: str, paths: Collection[str]) -> None:
        wanted = sorted({inside(path) for path in paths})
        self.snapshot()  # What is there now must be stored before anything is overwritten.
        present, _ = self._tracker.known()
        other = self._stored.load(snapshot_id)
        made = with_taken(present, other, wanted, self._stored.read_tree)
        if made.captured != present:
            self._restore_to_new(made.captured, made.trees)

    def uncaptured(self, start: str, original: str) -> Sequence[UncapturedFile]:
        captured, _ = self._tracker.present()
        return self._uncaptured.differing(captured, self._stored.load(start), original)

    def with_uncaptured(self, snapshot_id: str, paths: Collection[str]) -> str:
        base = self._stored.load(snapshot_id)
        what = "What no checkpoint holds could not be stored"
        try:
            with os_errors_as(what):
                state, objects = with_files(
                    base, self._sandbox.path, sorted(paths), self._stored.read_tree
                )
                return self._stored.keep_included(state, self._stored.staged(base.git), objects)
        except ObjectChangedError as error:
            raise SnapshotError(
                f"{what}: files of the sandbox keep changing",
                hint="End the processes that write to the sandbox",
            ) from error

    def keep_uncaptured(self) -> None:
        captured, _ = self._tracker.present()
        with os_errors_as("What no checkpoint holds could not be copied"):
            self._uncaptured.keep(captured, self._tracker.directories())

    def restore_uncaptured(self) -> None:
        if not self._uncaptured.is_kept:
            return
        captured, _ = self._tracker.present()
        tree = LazyTree(captured.tree, self._stored.read_tree)
        with os_errors_as("What no checkpoint holds could not be restored"):
            self._uncaptured.restore(captured, tree.is_directory)

    def merge(
        self, mine: str, base: str, theirs: str, strategy: MergeStrategy, names: MergeNames
    ) -> MergeReport:
        if base == theirs:
            return MergeReport(merged=(), conflicts=())
        own = self._stored.load(mine)
        merged = self._merged(
            self._stored.load(base), own, self._stored.load(theirs), strategy, names
        )
        if merged.conflicts and strategy is MergeStrategy.FAIL_ON_CONFLICT:
            untouched = [replace_fields(item, marked=False) for item in merged.conflicts]
            return MergeReport(merged=(), conflicts=tuple(untouched))
        if merged.captured != own:
            self._restore_to_new(merged.captured, merged.objects)
        changes = path_changes(own, merged.captured, self._stored.read_tree)
        paths = tuple(change.path for change in changes)
        return MergeReport(merged=paths, conflicts=merged.conflicts)

    def _merged(
        self,
        base: CapturedState,
        mine: CapturedState,
        theirs: CapturedState,
        strategy: MergeStrategy,
        names: MergeNames,
    ) -> ThreeWayResult:
        stored = self._stored
        present, _ = self._tracker.present()
        left_out = {*mine.ignored, *mine.not_captured, *present.ignored, *present.not_captured}
        states = ThreeStates(base, mine, theirs, left_out)
        with (
            os_errors_as("The work could not be merged"),
            scratch(note_path(self._sandbox, STATE).with_name(self._sandbox.resource)) as directory,
        ):
            lines = LineMerge(stored.git, stored.objects, directory, names)
            return merge_states(states, stored.read_tree, lines, strategy)

    def compare_copy(self, snapshot_id: str, since: FileSystemTime) -> CopyComparison | None:
        """Compares the sandbox with a snapshot; None if it was touched since a moment."""
        present, look = self._tracker.present()
        wanted = self._stored.load(snapshot_id)
        todo = difference(present, wanted, self._stored.read_tree)
        if not self._tracker.is_unchanged_since(since):
            return None
        # An index that is a listing has to be read again: its blobs are kept by name.
        is_git_known = look.state == wanted.git and wanted.git.index_listing is None
        return CopyComparison(
            ignored=frozenset(present.ignored),
            not_captured=present.not_captured,
            directories=self._tracker.directories(),
            is_same=not (todo.touched or todo.set_modes),
            differing=todo.touched,
            tracked_though_ignored=look.tracked_though_ignored if is_git_known else None,
        )

    def start_as(self, snapshot_id: str, source: SandboxRef, known: CopyComparison | None) -> None:
        """Restores a new sandbox to a snapshot of another; `SnapshotEngine` says more.

        Where the copied sandbox was what the snapshot says, nothing of the copy is read.
        Where it was not, those paths are read and restored; where nothing is known,
        everything is.

        Raises:
            BusinessRuleViolation: something that no snapshot holds is in the way.
            SnapshotMissingError: there is no such snapshot.
        """
        target = without_special_files(self._stored.load(snapshot_id))
        ref = self._stored.refs.inherit(snapshot_id, source)
        if isinstance(self._git, SandboxGit):
            target = replace(target, git=forked(target.git, source, self._sandbox))
            with os_errors_as("The sandbox could not be created"):
                self._git.start(target.git)
        if known is not None:
            self._adopt(target, known, ref)
            found, _ = self._tracker.known()
            if known.is_same and (found.tree, found.git) == (target.tree, target.git):
                self._tracker.note_stored(found, ref, 0)
                return
        report = self._restore_to(target, snapshot_id, ref)
        found, _ = self._tracker.known()
        if found.tree != target.tree:
            # What the source ignores by later rules is something to remove under those of then.
            report = self._restore_to(target, snapshot_id, ref)
        refuse_differences(report)

    def _adopt(self, target: CapturedState, known: CopyComparison, ref: str) -> None:
        """Tells the tracker what a copy holds, so that it need not read the whole copy."""
        seen = None
        if isinstance(self._git, SandboxGit) and known.tracked_though_ignored is not None:
            # It was just created like this, so git is not asked.
            look = ObservedGit(target.git, tracked_though_ignored=known.tracked_though_ignored)
            self._git.know(look)
            seen = self._git.seen
        moment = FileSystemTime.now_in(Path(self._sandbox.path).parent)
        state = state_of_copy(self._sandbox, target, known, ref, moment, seen)
        self._tracker.take_over(state, doubtful=known.differing)

    def _restore_to_new(self, target: CapturedState, objects: Sequence[NewObject]) -> None:
        """Stores a state that the sandbox never had, and restores the sandbox to it.

        Raises:
            SnapshotError: something is not as it should be afterwards.
        """
        with os_errors_as("The snapshot could not be stored"):
            made = self._stored.keep(target, self._stored.staged(target.git), objects)
        ref = self._stored.refs.name(made.snapshot_id)
        refuse_differences(self._restore_to(target, made.snapshot_id, ref))

    def _restore_to(
        self, target: CapturedState, snapshot_id: str, ref: str, *, begun: bool = False
    ) -> RestoreReport:
        """Restores the sandbox to a state; `ref` is what keeps that state stored."""
        self._stored.end_repacking()
        present, _ = self._tracker.present()
        todo = difference(present, target, self._stored.read_tree, self._stored.read_ahead)
        with os_errors_as("The sandbox could not be restored"):
            self._refuse_unless_possible(todo, present, target, snapshot_id)
            blobs = _ReadAhead(self._stored, todo)
            with (
                nullcontext() if begun else room_for(self._sandbox.path, todo, blobs.sizes),
                self._tracker.rewriting(todo),
            ):
                if isinstance(self._git, SandboxGit):
                    self._git.restore(target.git)
                if self._layer is not None and any(map(_is_git, todo.touched)):
                    todo = self._with_objects(self._layer, todo, target)
                if todo.touched or todo.set_modes:
                    with closing(SandboxWriter(self._sandbox.path)) as writer:
                        writer.apply(todo, blobs.copy)
        # The report is measured: what is on disk now is compared with what was wanted.
        found, _ = self._tracker.known()
        # A path may no longer be ignored under the restored rules, but the restore left it alone.
        stayed = {item.path for item in todo.left_alone}
        spared = replace(target, ignored=target.ignored | stayed)
        left = difference(found, spared, self._stored.read_tree)
        wrong = [f"{change.file} should be {change.action}" for change in left.changes]
        if found.git != target.git and not target.git.is_met_by(found.git):
            wrong.append("HEAD, branch or index differ")
        if (found.tree, found.git) == (target.tree, target.git):
            self._tracker.note_stored(found, ref, 0)
        changes, left_alone = todo.changes, todo.left_alone
        if self._layer is not None:
            changes = _with_git_as_one(changes)
            left_alone += self._changed_outside(self._layer)
        return RestoreReport(
            changes=changes,
            left_alone=left_alone,
            replaced=todo.replaced,
            differences=tuple(wrong),
            differing=tuple(change.file for change in left.changes),
        )

    def _with_objects(
        self, layer: Layer, todo: StateDifference, target: CapturedState
    ) -> StateDifference:
        """Sees to the objects that no snapshot holds; returns what is left to do."""
        if not LazyTree(target.tree, self._stored.read_tree).is_directory(GIT):
            remove_objects(layer)
            return todo
        bring_back_objects(layer)
        staying = {path for path in todo.remove_directories if is_object_directory(path)}
        gone = tuple(path for path in todo.remove_directories if path not in staying)
        return replace(todo, remove_directories=gone)

    def _refuse_unless_possible(
        self,
        todo: StateDifference,
        present: CapturedState,
        target: CapturedState,
        snapshot_id: str,
    ) -> None:
        if todo.in_the_way:
            raise BusinessRuleViolation(
                "The rollback would overwrite what no checkpoint holds: "
                + ", ".join(todo.in_the_way),
                hint="Move these away, then roll back again",
                paths=list(todo.in_the_way),
            )
        if isinstance(self._git, SandboxGit) and present.git != target.git:
            self._stored.check_git(target.git, snapshot_id)


def _is_git(path: str) -> bool:
    return path.rstrip("/") == GIT or path.startswith(f"{GIT}/")


def _with_git_as_one(changes: tuple[FileChange, ...]) -> tuple[FileChange, ...]:
    """Returns the changes in a private view, in which its git is one entry."""
    files = tuple(change for change in changes if not _is_git(change.file))
    if len(files) == len(changes):
        return changes
    return (FileChange(file=f"{GIT}/", action=ChangeAction.RESTORED), *files)


def _changes_of_files(changes: Sequence[PathChange]) -> Sequence[PathChange]:
    """Leaves out what changed in the git of a private view."""
    return [change for change in changes if not _is_git(change.path)]


def _diff_of_files(found: TreeDiff, prefix: str) -> TreeDiff:
    start = len(prefix)
    return replace_fields(
        found,
        files=tuple(item for item in found.files if not _is_git(item.path[start:])),
        patches=tuple(item for item in found.patches if not _is_git(item.path[start:])),
    )


def _has_markers(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    lines = path.read_bytes().splitlines()
    return all(any(line.startswith(marker) for line in lines) for marker in _MARKERS)


class _ReadAhead:
    """The bytes that a restore will write, all read and checked before the first file is touched.

    They stay in memory as far as there is room; the rest is read a second time.
    """

    def __init__(self, stored: StoredSnapshots, todo: StateDifference) -> None:
        self._objects = stored.objects
        self._kept: dict[str, bytearray] = {}
        self.sizes = Counter[str]()
        """How many bytes each object has."""
        self._room = _READ_AHEAD_BYTES
        needed = sorted({entry.object_id for _, entry in todo.write_files})
        if needed:
            self._objects.copy_many(counted("Reading stored files", needed), self._keep)

    def copy(self, object_id: str, write: Callable[[bytes], object]) -> None:
        kept = self._kept.get(object_id)
        if kept is None:
            self._objects.copy(object_id, write)
        else:
            write(bytes(kept))

    def _keep(self, object_id: str) -> Callable[[bytes], object]:
        content = self._kept[object_id] = bytearray()

        def take(chunk: bytes) -> None:
            self.sizes[object_id] += len(chunk)
            self._room -= len(chunk)
            if self._room < 0:
                self._kept.pop(object_id, None)
            elif object_id in self._kept:
                content.extend(chunk)

        return take
