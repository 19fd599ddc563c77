"""Tracks a sandbox: what is known of it, and how that is kept up to date.

A watch reports what changes while a plan runs. A new process, an overflow or any
doubt is answered by a scan from the last good moment; without such a moment
everything is read.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Collection, Generator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cleveragents.domain.errors import (
    CleverAgentsError,
    NoSpaceError,
    SandboxMissingError,
    SnapshotCorruptError,
    SnapshotError,
    ViewUnavailableError,
)
from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import Evidence, SandboxRef
from cleveragents.domain.sandboxes.uncaptured import reason_from
from cleveragents.infrastructure.files import FULL_DISK
from cleveragents.infrastructure.sandbox.files.git_state import ObservedGit, SandboxGit, Stamps
from cleveragents.infrastructure.sandbox.files.ignore_rules import IgnoreRules
from cleveragents.infrastructure.sandbox.files.inotify import (
    PendingChanges,
    Watch,
    WatchUnavailableError,
)
from cleveragents.infrastructure.sandbox.files.layer import (
    ObjectsBelow,
    changes_in,
    is_change_of_view,
)
from cleveragents.infrastructure.sandbox.files.live_tree import (
    KnownDirectories,
    LiveTree,
    RememberedFile,
)
from cleveragents.infrastructure.sandbox.files.overlay_mounts import require_mounted
from cleveragents.infrastructure.sandbox.files.project_git import ProjectGit
from cleveragents.infrastructure.sandbox.files.scan import (
    BEGINNING,
    FileSystemTime,
    scan,
    slack_of,
)
from cleveragents.infrastructure.sandbox.files.usual_modes import usual_modes_in
from cleveragents.infrastructure.sandbox.files.views import Layer, enter
from cleveragents.infrastructure.sandbox.git.objects import EMPTY_TREE
from cleveragents.infrastructure.sandbox.states.difference import StateDifference
from cleveragents.infrastructure.sandbox.store.captured_state import (
    CapturedState,
    GitState,
    UsualModes,
    captured_from,
)
from cleveragents.infrastructure.sandbox.store.directories import sandbox_place
from cleveragents.infrastructure.sandbox.store.lazy_tree import DIRECTORY, LazyTree, tree_changes
from cleveragents.infrastructure.sandbox.store.limits import Limits
from cleveragents.infrastructure.sandbox.store.snapshots import StoredSnapshots

STATE = "state.json"
"""The name of the note that `SavedState` is written down in."""
_SAVED_EVERY = 32
"""Snapshots, while there is a watch: after a kill, the next process scans from that far back."""
_FORMAT = b"cleveragents engine 4\0"
"""Part of the digest of a saved state, so that another version does not believe it."""
_NO_GIT = ObservedGit()


@dataclass(frozen=True)
class SavedState:
    """A sandbox as it was known at a moment, written down for the next process.

    Losing it costs a full look, nothing else. It always describes a state that is stored;
    without the ref that proves this it is not believed.
    """

    proof: str
    """The ref that leads to its objects."""
    remembered: RememberedFile
    moment: FileSystemTime
    git: tuple[Stamps, ObservedGit] | None
    """What was found of the sandbox's git; None if it must be read again."""
    snapshots: frozenset[str]
    """The snapshots there were: what these hold is in `remembered`."""
    stored_bytes: int
    """What all snapshots of the sandbox have added to the store."""
    layer: Mapping[str, int] = field(default_factory=dict[str, int])
    """The directories of a private view's upper layer, by path, with their inodes."""


class SandboxTracker:
    """What is known of one sandbox: a tree in memory, and how far it can be believed.

    The tree is loaded from what an earlier process wrote down, if a ref still proves that its
    objects are stored. From then on it is updated, never rebuilt, unless nothing can be
    believed: another boot, another clock, another directory in the sandbox's place.
    """

    def __init__(
        self,
        sandbox: SandboxRef,
        layer: Layer | None,
        git: SandboxGit | ProjectGit | None,
        rules: IgnoreRules,
        stored: StoredSnapshots,
        limits: Limits,
        environment: Mapping[str, str],
    ) -> None:
        self._sandbox = sandbox
        self._git = git
        self._stored = stored
        self._limits = limits
        self._environment = environment
        self._layer = layer
        self._layer_directories: Mapping[str, int] = {}
        """The directories that the layer of a private view had when it was read last."""
        self._layer_watch: Watch | None = None
        self._layer_watched: set[tuple[str, int]] = set()
        self._is_known = False
        """Whether what is known of a private view differs from it only where its layer says."""
        self._rules = rules
        self._beside = str(note_path(sandbox, STATE).parent)
        """Where the time of the sandbox's file system is read."""
        self._live: LiveTree | None = None
        self._watch: Watch | None = None
        self._moment = BEGINNING
        """Everything was found by a scan at this time, whatever the watch has reported since."""
        self._stored_bytes = 0
        self._room: int | None = None
        """How many bytes may still be stored for the plan; None for any number."""
        self._snapshots: set[str] = set()
        self._present: tuple[CapturedState, ObservedGit] | None = None
        self._to_save: SavedState | None = None
        self._not_saved = 0
        """How many snapshots were stored since the state was last written down."""
        self._proof = ""
        """The ref of what was written down when this was opened."""
        self._nothing_late = False
        self._scanned_from = 0
        self._doubted: set[str] = set()
        self.evidence = Evidence.COMPLETE
        """How the last `present` found out what changed."""

    def watch(self) -> None:
        """Has the kernel report changes from now on, if that is possible.

        The next user of the sandbox reports what is wrong with it.
        """
        if self._watch is not None or self._layer_watch is not None:
            return
        if self._layer is not None:
            # What changed is read from the layer; the watch only tells when to look.
            with suppress(WatchUnavailableError):
                self._layer_watch = Watch(str(self._layer.upper))
                self._layer_watch.add("")
            return
        try:
            live = self._known()
            self._watch = Watch(self._sandbox.path)
            self._rules.start()
            # Watches first: they report what changes during the scan, and the scan finds the rest.
            live.watch_with(self._watch)
            self._scan(live)
        except (WatchUnavailableError, OSError):
            self._stop_watching()

    @property
    def wakeup(self) -> int | None:
        """A descriptor that can be read once something has changed; None without a watch."""
        watch = self._layer_watch or self._watch
        return watch.descriptor if watch is not None else None

    def note_changes(self) -> None:
        """Notes what has changed, so that `wakeup` tells of the next change."""
        if self._layer_watch is not None:
            self._layer_watch.drain()  # It only tells when to read the layer.
        elif self._watch is not None:
            self._watch.gather()

    def doubt(self, paths: Collection[str]) -> None:
        """Has `present` read some files the next time, whatever the watch says."""
        self._doubted.update(paths)

    def close(self) -> None:
        """Writes down what is known, and ends watch and processes."""
        for watch in (self._watch, self._layer_watch):
            if watch is not None:
                watch.close()
        self._watch = self._layer_watch = None
        if self._not_saved and self._to_save is not None:
            with suppress(OSError):  # What was written down before still holds.
                save_state(self._sandbox, self._to_save)
            self._not_saved = 0
        self._rules.close()
        self._live = None
        self._present = None

    def present(self) -> tuple[CapturedState, ObservedGit]:
        """Returns the sandbox as it is now; the very same value if nothing has changed.

        Raises:
            SandboxMissingError: it is gone, or something else is in its place.
            SnapshotError: it may not be read, or there is no room for what git writes to answer.
        """
        path = self._sandbox.path
        if os.path.islink(path) or not os.path.isdir(path):
            raise SandboxMissingError(path, "is missing")
        if self._sandbox.strategy is SandboxStrategy.OVERLAY:
            require_mounted(self._sandbox)
        if self._layer is not None:
            self._enter()
        with os_errors_as("The sandbox cannot be read"):
            live = self._known()
            if self._layer is None and os.lstat(path).st_ino != live.top:
                if isinstance(self._git, SandboxGit):
                    self._git.require_links()
                elif not _has_most(path, live.known_at_top()):
                    # What somebody put in its place is not ours to fill. A copy is recognized by
                    # its names: a home that was restored from a backup has other inodes.
                    raise SandboxMissingError(path, "is not what was there before")
                self._moment = BEGINNING  # Another directory is in its place: nothing holds.
            if self._watch is not None and live.is_blind:
                self._stop_watching()
            if self._watch is None:
                self._scan(live)
            elif self._moment == BEGINNING:
                # The watch is on the directory that was replaced, and says nothing about this one.
                self._watch_again()
            else:
                self._take_in(self._watch.drain())
            if self._doubted:
                live.look_at(self._doubted)
                self._doubted.clear()
            return self.known()

    def known(self) -> tuple[CapturedState, ObservedGit]:
        """Returns the sandbox's files as they were found last, and its git as it is now."""
        live = self._known()
        look = self._git.look() if self._git is not None else _NO_GIT
        if look.tracked_though_ignored != live.forced:
            live.force(look.tracked_though_ignored)
        if self._present is None or live.changed or self._present[1] is not look:
            captured = live.captured(look.state, look.uncaptured)
            if self._present is None or self._present[0] != captured:
                self._present = (captured, look)
            else:
                self._present = (self._present[0], look)
        return self._present

    def recheck(self) -> Sequence[str]:
        """Scans although there is a watch; returns what the watch had not reported."""
        before, _ = self.present()
        if self._watch is None:
            return []
        self._scan(self._known())
        after, _ = self.known()
        changed = {
            path for path, _, _ in tree_changes(self._stored.read_tree, before.tree, after.tree)
        }
        changed |= {path for path, _ in before.unusual.items() ^ after.unusual.items()}
        pending = self._watch.drain()  # What was reported during the scan was not missed.
        self._take_in(pending)
        self.evidence = Evidence.SCAN
        return sorted(changed - pending.paths)

    def directories(self) -> frozenset[str]:
        """Returns the directories that are looked into, as they were found last."""
        return frozenset(self._known().directories.inodes)

    def known_directories(self) -> KnownDirectories:
        return self._known().directories

    def is_unchanged_since(self, moment: FileSystemTime) -> bool:
        """Says whether nothing was touched since a moment before `present` was last asked."""
        if not moment.is_comparable(FileSystemTime.now_in(self._beside)):
            return False
        if self._watch is None and self._nothing_late and self._scanned_from <= moment.nanoseconds:
            return True  # The last scan looked back further, and found nothing.
        live = self._known()
        if self._layer is not None:
            found = changes_in(self._layer, moment.nanoseconds, self._layer_directories)
            return not (found.paths or found.changed)
        return not scan(
            self._sandbox.path, moment, live.skipped(), live.directories, self._environment
        )

    def take_over(self, state: SavedState, doubtful: Set[str]) -> None:
        """Adopts the state of a copy that was just made, except for some paths."""
        self._snapshots = set(state.snapshots)
        live = self._begin_from(state)
        self._proof = ""  # None of it is written down yet.
        live.look_at(doubtful, doubtful)

    def look_again(self, path: str, *, give_up: bool) -> None:
        """Reads a file that changed while it was stored; with `give_up` it is left out."""
        self._known().look_again(path, give_up=give_up)

    def note_stored(self, captured: CapturedState, ref: str, added_bytes: int) -> None:
        """Notes that a state which `present` returned is stored, kept by a ref."""
        live = self._known()
        if self._git is not None:
            self._git.durable = captured.git.commit
        self._stored_bytes += added_bytes
        if self._room is not None:
            self._room = max(self._room - added_bytes, 0)
        self._snapshots.add(ref.rpartition("/")[2])
        self._to_save = SavedState(
            ref,
            live.note_stored(captured, self._room),
            self._moment,
            self._git.seen if self._git is not None else None,
            frozenset(self._snapshots),
            self._stored_bytes,
            self._layer_directories,
        )
        if self._watch is None and self._nothing_late and ref == self._proof:
            return  # What is written down says the same.
        # Without a watch this process may end after one act, and the next one would have to
        # scan from an older moment. With one, many follow, and writing each down costs more.
        self._not_saved += 1
        if self._watch is None or self._not_saved >= _SAVED_EVERY:
            with suppress(OSError):
                save_state(self._sandbox, self._to_save)
            self._not_saved = 0

    @contextmanager
    def rewriting(self, todo: StateDifference) -> Generator[None]:
        """Lets the caller write a difference; afterwards its paths are read again."""
        paths = todo.touched
        # What is written is captured from now on, even where rules ignore it.
        self._known().will_hold((path for path, _ in todo.write_files), todo.make_directories)
        try:
            yield
        except BaseException:
            self._live = None  # How far it got is unknown: everything is read again.
            self._stop_watching()
            raise
        # The watch has reported our own writes too. They are taken in now, or the next look would
        # read all of it once more.
        changes = self._watch.drain() if self._watch is not None else None
        if changes is None or changes.lost:
            self._known().look_at(paths, paths)
        else:
            # With the paths of the difference: a directory that was made has no watch until it is
            # looked into, so what was written into it was not reported.
            self._known().look_at(changes.paths | paths, changes.replaced)
        if changes is not None and changes.lost:
            self._watch_again()

    def _known(self) -> LiveTree:
        if self._live is not None:
            return self._live
        state = load_state(self._sandbox)
        self._snapshots = set(self._stored.refs.ids(inherited=True))
        if state is None or not self._stored.refs.has(state.proof):
            state = self._from_scratch(state)
        # Nothing that a rollback could overwrite may be missing from the snapshot before it, so
        # what was captured once is captured even if it is ignored by now. The state may be older
        # than some snapshots, so what these hold is added.
        was, once = state.remembered.captured, state.remembered.captured_once
        for snapshot in self._snapshots - state.snapshots:
            with suppress(CleverAgentsError):
                held = self._stored.load(snapshot)
                for path, _, now in tree_changes(self._stored.read_tree, was.tree, held.tree):
                    if now is not None and now[0] != DIRECTORY:
                        once.add(path)
                empty = held.empty_directories - was.empty_directories
                once.update(f"{path}/" for path in empty)
        return self._begin_from(state)

    def _begin_from(self, state: SavedState) -> LiveTree:
        self._proof = state.proof
        self._moment = state.moment
        self._layer_directories, self._is_known = state.layer, bool(state.proof)
        self._stored_bytes = state.stored_bytes
        most = self._limits.max_plan_bytes
        self._room = None if most is None else max(most - self._stored_bytes, 0)
        self._present = None
        self._stored.unsaved.clear()
        self._rules.settle()  # An error may have left answers about what was there before.
        if self._git is not None:
            self._git.seen = state.git
            self._git.durable = state.remembered.captured.git.commit
        self._live = LiveTree(
            self._sandbox.path,
            own_git=self._git is not None and self._layer is None,
            kept_below=None if self._layer is None else ObjectsBelow(self._layer),
            remembered=state.remembered,
            rules=self._rules,
            limits=self._limits,
            stored=self._stored,
            room=self._room,
        )
        return self._live

    def _from_scratch(self, untrusted: SavedState | None) -> SavedState:
        """Returns a state from which everything is read."""
        usual: UsualModes | None = None
        for snapshot in sorted(self._snapshots):
            with suppress(CleverAgentsError):
                usual = self._stored.load(snapshot).usual
                break
        once = untrusted.remembered.captured_once if untrusted else set[str]()
        stored_bytes = untrusted.stored_bytes if untrusted else 0
        usual = usual or usual_modes_in(self._sandbox.path)
        captured = CapturedState(EMPTY_TREE, usual, {}, 0, frozenset(), {}, frozenset(), GitState())
        remembered = RememberedFile(captured, {}, 0, once)
        return SavedState("", remembered, BEGINNING, None, frozenset(), stored_bytes)

    def _take_in(self, pending: PendingChanges) -> None:
        if pending.lost:
            self._watch_again()
            return
        live = self._known()
        live.look_at(pending.paths, pending.replaced)
        self.evidence = Evidence.WATCH
        if live.links.are_unknown or pending.doubtful:
            self._scan(live)

    def _watch_again(self) -> None:
        """Starts again after events were lost, or continues without a watch."""
        self._stop_watching()
        self.watch()
        if self._watch is None:
            self._scan(self._known())

    def _stop_watching(self) -> None:
        if self._watch is not None:
            self._watch.close()
            self._watch = None
            if self._live is not None:
                self._live.watch_with(None)

    def _scan(self, live: LiveTree) -> None:
        # Read before the scan: what changes while it runs is late for the next one too.
        now = FileSystemTime.now_in(self._beside)
        # The notes of a sandbox in place can be on another file system, whose clock says nothing
        # about its files: then everything is read.
        place = self._sandbox.path if self._layer is None else self._layer.upper
        has_its_clock = os.lstat(self._beside).st_dev == os.lstat(place).st_dev
        is_comparable = has_its_clock and self._moment.is_comparable(now)
        since = self._moment if is_comparable else BEGINNING
        if self._layer is not None:
            self._read_layer(self._layer, live, since.nanoseconds)
        elif since == BEGINNING:
            top = os.listdir(self._sandbox.path)
            live.look_at([*top, *live.known_at_top()], [*top, *live.known_at_top()])
            self.evidence = Evidence.COMPLETE
        else:
            found = scan(
                self._sandbox.path, since, live.skipped(), live.directories, self._environment
            )
            self._nothing_late, self._scanned_from = not found, since.nanoseconds
            paths: set[str] = set()
            replaced: set[str] = set()
            known: list[str] = []
            for item in found:
                # A directory with another inode was moved there, and what is in it may have old
                # times: all of it is read. In one that is known, names came or went.
                if not item.is_directory:
                    paths.add(item.path)
                elif not item.path or live.directories.inodes.get(item.path) == item.inode:
                    known.append(item.path)
                else:
                    replaced.add(item.path)
            live.look_at(paths.union(live.names_changed(known)), replaced)
            self.evidence = Evidence.SCAN
        live.links.are_unknown = False
        self._moment = now

    def _read_layer(self, layer: Layer, live: LiveTree, since: int) -> None:
        """Looks at what the view changed since a moment; at everything if nothing is known."""
        start = max(since - slack_of(since), 0)
        found = changes_in(layer, start, self._layer_directories)
        while self._watch_layer(found.directories):
            # What came into a directory before it was watched is in no report.
            found = changes_in(layer, start, self._layer_directories)
        if self._is_known:
            had_at_start = self._start_of_view()
            paths = {
                path
                for path in live.names_changed(found.changed)
                if path in found.paths or is_change_of_view(layer, path, had_at_start)
            }
            live.look_at(paths | found.paths, found.replaced)
            self.evidence = Evidence.SCAN
        else:
            top = os.listdir(self._sandbox.path)
            live.look_at([*top, *live.known_at_top()], [*top, *live.known_at_top()])
            self.evidence = Evidence.COMPLETE
        self._nothing_late, self._scanned_from = not (found.paths or found.changed), since
        self._layer_directories, self._is_known = found.directories, True

    def _watch_layer(self, directories: Mapping[str, int]) -> bool:
        """Watches the directories of the layer; returns whether one of them is new."""
        if self._layer_watch is None:
            return False
        new = directories.items() - self._layer_watched
        self._layer_watched = {*directories.items()}
        try:
            for path, _ in new:
                self._layer_watch.add(path)
        except WatchUnavailableError:
            self._layer_watch.close()
            self._layer_watch = None
        return bool(new)

    def _enter(self) -> None:
        """Has this process see the private view, which it cannot once it has threads."""
        try:
            enter(self._sandbox)
        except ViewUnavailableError as error:
            raise SnapshotError(error.message, hint=error.hint) from error

    def _start_of_view(self) -> Callable[[str], bool]:
        """Returns what says whether a path was in the project when the session began."""
        started = next(iter(self._stored.refs.ids(own=False, started=True)), None)
        if started is None:
            return lambda _: False
        start = self._stored.load(started)
        tree = LazyTree(start.tree, self._stored.read_tree)
        left_out = {path.rstrip("/") for path in (*start.ignored, *start.not_captured)}
        others = left_out | start.bare_directories
        return lambda path: path in others or tree.get(path) is not None


@contextmanager
def os_errors_as(what: str) -> Generator[None]:
    """Raises SnapshotError for a full disk or a missing permission; `what` says what failed."""
    try:
        yield
    except OSError as error:
        kind = NoSpaceError if error.errno in FULL_DISK else SnapshotError
        raise kind(
            f"{what}: {error}", hint="Make room or give permission, then try again"
        ) from error


def _has_most(directory: str, names: Set[str]) -> bool:
    """Says whether half of the names are there: the user may have changed others meanwhile."""
    return 2 * len(names & {*os.listdir(directory)}) >= len(names)


def note_path(sandbox: SandboxRef, name: str) -> Path:
    """Returns where to keep what belongs to a sandbox: never in a directory of the user.

    Nor in the layer of a private view.
    """
    place = Path(sandbox.path)
    if sandbox.strategy in (SandboxStrategy.IN_PLACE, SandboxStrategy.PRIVATE_VIEW):
        home = Path(sandbox.store).parent.parent
        place = sandbox_place(home, sandbox.plan_id, sandbox.resource)
    return place.with_name(f".{sandbox.resource}.{name}")


def load_state(sandbox: SandboxRef) -> SavedState | None:
    """Returns what was written down, or None if that is not whole or of another version."""
    try:
        digest, _, body = note_path(sandbox, STATE).read_bytes().partition(b"\n")
        if digest != hashlib.sha256(_FORMAT + body).hexdigest().encode():
            return None
        content: dict[str, Any] = json.loads(body)
        captured = captured_from(content["document"].encode(), content["ignored"])
    except (OSError, ValueError, SnapshotCorruptError):
        return None
    seen: tuple[Stamps, ObservedGit] | None = None
    if (git := content["git"]) is not None:
        uncaptured = tuple((path, reason_from(text)) for path, text in git["uncaptured"])
        forced = frozenset(git["forced"])
        look = ObservedGit(captured.git, uncaptured=uncaptured, tracked_though_ignored=forced)
        seen = (git["stamps"], look)
    return SavedState(
        proof=content["proof"],
        remembered=RememberedFile(
            captured, content["directories"], content["top"], set(content["captured_once"])
        ),
        moment=FileSystemTime(*content["moment"]),
        git=seen,
        snapshots=frozenset(content["snapshots"]),
        stored_bytes=content["stored_bytes"],
        layer=content.get("layer", {}),
    )


def save_state(sandbox: SandboxRef, state: SavedState) -> None:
    captured = state.remembered.captured
    git: dict[str, object] | None = None
    if state.git is not None and state.git[1].state.index_listing is None:
        stamps, look = state.git
        uncaptured = [(path, reason.text) for path, reason in look.uncaptured]
        forced = sorted(look.tracked_though_ignored)
        git = {"stamps": stamps, "uncaptured": uncaptured, "forced": forced}
    content: dict[str, object] = {
        "proof": state.proof,
        "document": captured.document().decode(),
        "ignored": sorted(captured.ignored),
        "directories": state.remembered.directories,
        "top": state.remembered.top,
        "captured_once": sorted(state.remembered.captured_once),
        "moment": [state.moment.nanoseconds, state.moment.clock_offset, state.moment.boot],
        "git": git,
        "snapshots": sorted(state.snapshots),
        "stored_bytes": state.stored_bytes,
        "layer": dict(state.layer),
    }
    body = json.dumps(content).encode("ascii")
    digest = hashlib.sha256(_FORMAT + body).hexdigest().encode()
    # Nothing is synced. What a kill leaves half is not believed, and after a power failure
    # nothing is: the moment is of another boot. The old file is removed first instead of renamed
    # over: some file systems wait for the disk when a rename replaces a file.
    path = note_path(sandbox, STATE)
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as stream:
        stream.write(digest + b"\n" + body)
