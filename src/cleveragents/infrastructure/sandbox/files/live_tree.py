"""The state of a sandbox as it is known now, brought up to date path by path.

The watch and the scan only report where something may have changed. This module
reads what is there, so both lead to the same state.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Protocol

from cleveragents.domain.sandboxes.patterns import PathPatterns
from cleveragents.domain.sandboxes.uncaptured import (
    CHANGING,
    OVERDUE,
    PLAN_LIMIT,
    Reason,
    special_file,
    special_kind,
    too_large,
    unreadable,
)
from cleveragents.infrastructure.sandbox.files.ignore_rules import IgnoreRules
from cleveragents.infrastructure.sandbox.files.inotify import Watch, WatchUnavailableError
from cleveragents.infrastructure.sandbox.git.objects import (
    NewObject,
    ObjectChangedError,
    ObjectKind,
    hash_file,
)
from cleveragents.infrastructure.sandbox.store.captured_state import (
    FIFO,
    LINK_MODE,
    CapturedState,
    GitState,
    UsualModes,
    ancestors,
    git_mode_of,
    usual_mode,
)
from cleveragents.infrastructure.sandbox.store.lazy_tree import DIRECTORY, LazyTree
from cleveragents.infrastructure.sandbox.store.limits import Limits
from cleveragents.infrastructure.sandbox.store.snapshots import StoredSnapshots
from cleveragents.infrastructure.system import counted

_READ_ATTEMPTS = 3
# The agent works on while files are read: a link or a FIFO may have taken the place of a file
# since it was looked at. The link must not be followed, and the FIFO must not block.
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
# Small files stay in memory from the moment they are read, so that a later write cannot spoil them.
_SMALL = 1 << 20
_KEPT_ALTOGETHER = 16 << 20
_LOADED_AT_MOST = 2_000
"""Directories of the tree in memory; with more, it is loaded again as it is needed."""
_NO_PATHS: Set[str] = frozenset()


@dataclass
class RememberedFile:
    """What is known of a sandbox between two looks at it, small enough to be saved."""

    captured: CapturedState
    directories: dict[str, int]
    """Inode of every directory that is looked into."""
    top: int
    """Inode of the sandbox's own directory."""
    captured_once: set[str] = field(default_factory=set[str])
    """Paths that some snapshot holds and the present does not; an empty directory ends with `/`."""


class KnownDirectories:
    """The directories that are looked into; a whole subtree is found without going through all."""

    def __init__(self, inodes: Mapping[str, int]) -> None:
        self.inodes = dict(inodes)
        """Inode of each, by its path: another directory in its place has another."""
        self.inside: dict[str, set[str]] = {}
        """The paths of those directly in one. Read only: `add` and `remove` keep it right."""
        for path in self.inodes:
            self.inside.setdefault(path.rpartition("/")[0], set()).add(path)

    def add(self, path: str, inode: int) -> None:
        self.inodes[path] = inode
        self.inside.setdefault(path.rpartition("/")[0], set()).add(path)

    def remove(self, path: str) -> list[str]:
        """Removes a directory that is known and all below it, and returns them."""
        self.inside[path.rpartition("/")[0]].discard(path)
        gone: list[str] = []
        waiting = [path]
        while waiting:
            each = waiting.pop()
            gone.append(each)
            del self.inodes[each]
            waiting += self.inside.pop(each, ())
        return gone


@dataclass
class HardLinks:
    """Files that have several names: a watch reports only the name that was used."""

    are_unknown: bool = False
    """Whether a file has names that were never met: a scan finds those inside."""
    _names: dict[int, set[str]] = field(default_factory=dict[int, set[str]])
    _files: dict[str, int] = field(default_factory=dict[str, int])
    _below: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """Known names by each directory above them, so that no look goes through all of them."""
    _counts: dict[int, int] = field(default_factory=dict[int, int])

    def meet(self, path: str, status: os.stat_result) -> Set[str]:
        """Returns the other known names of the file that is at a path now."""
        names = self._names.setdefault(status.st_ino, set())
        names.add(path)
        self._files[path] = status.st_ino
        for directory in ancestors(path):
            self._below.setdefault(directory, set()).add(path)
        if self._counts.get(status.st_ino) != status.st_nlink:
            self._counts[status.st_ino] = status.st_nlink
            self.are_unknown = True
        return names - {path}

    def met_with(self, paths: Iterable[str], directories: Iterable[str]) -> set[str]:
        """Returns the names of all files that were met at these paths or below these directories.

        What is there now may be something else: then its other names tell what was changed.
        """
        if not self._files:
            return set()
        found = {path for path in paths if path in self._files}
        for directory in directories:
            found |= self._below.get(directory, set())
        return {name for path in found for name in self._names[self._files[path]]}


@dataclass
class _PresentState:
    """What a snapshot of the sandbox would hold now, beside its git; see `CapturedState`."""

    tree: LazyTree
    usual: UsualModes
    unusual: dict[str, int]
    top_mode: int
    empty: set[str]
    not_captured: dict[str, Reason]
    ignored: set[str]


@dataclass
class _IgnoreExceptions:
    """What is captured although rules ignore it."""

    wanted: PathPatterns
    """What the user wants captured anyway."""
    captured_once: set[str]
    """Paths that some snapshot holds. A rollback may overwrite them, so the snapshot before it
    must hold them too, even if rules ignore them now."""
    once_above: set[str]
    """Directories that held something captured at some time."""
    forced_above: Set[str] = _NO_PATHS
    """Directories that hold a path which git tracks although it is ignored."""


@dataclass
class _PendingPaths:
    """Paths that the next look always reads, and what one look leaves for its end."""

    unsettled: set[str]
    """Left out so far, for a reason that may no longer hold."""
    overdue: set[str] = field(default_factory=set[str])
    """Not read because the deadline had passed."""
    same_file: set[str] = field(default_factory=set[str])
    """Other names of files that were read."""
    touched: set[str] = field(default_factory=set[str])
    """Directories that may have become empty, or no longer be."""


class KeptBelow(Protocol):
    """What of `.git` is no content of a private view: the project below it has that."""

    def keeps(self, path: str) -> bool:
        """Says whether a path of `.git` is left out."""
        ...

    def holds(self, path: str) -> bool:
        """Says whether a directory is there for such paths alone."""
        ...


class LiveTree:
    """One sandbox, in memory.

    Args:
        root: Top of the sandbox.
        own_git: Whether `.git` at the top is the sandbox's own and no content.
        kept_below: Which paths of `.git` are no content, where the others are.
        remembered: What was known last.
        rules: What is ignored.
        limits: What is too much, and what is wanted though it is ignored.
        stored: Reads stored trees; what is found and not stored is added to its `unsaved`.
        room: Bytes that may still be stored for the plan; None for any number.
    """

    def __init__(
        self,
        root: str,
        *,
        own_git: bool,
        kept_below: KeptBelow | None = None,
        remembered: RememberedFile,
        rules: IgnoreRules,
        limits: Limits,
        stored: StoredSnapshots,
        room: int | None,
    ) -> None:
        known, wanted = remembered.captured, PathPatterns(limits.include_ignored)
        self._root = root
        self._own_git = own_git
        self._kept_below = kept_below
        self._rules = rules
        self._limits = limits
        self._state = _PresentState(
            tree=LazyTree(known.tree, stored.read_tree),
            usual=known.usual,
            unusual=dict(known.unusual),
            top_mode=known.top_mode,
            empty=set(known.empty_directories),
            not_captured={
                path: reason
                for path, reason in known.not_captured.items()
                if not (own_git and (path == ".git" or path.startswith(".git/")))
            },
            ignored=set(known.ignored),
        )
        once = set(remembered.captured_once)
        above_once = {above for path in once for above in ancestors(path)}
        self._exceptions = _IgnoreExceptions(wanted, once, above_once)
        # Under other limits than last time, what was left out may no longer have to be.
        unsettled = {
            path
            for path in (path.rstrip("/") for path in known.ignored)
            if "all" in limits.include_ignored or wanted.takes(path) or wanted.may_take_below(path)
        }
        unsettled.update(path.rstrip("/") for path in self._state.not_captured)
        self._pending = _PendingPaths(unsettled)
        self._watch: Watch | None = None
        self.directories = KnownDirectories(remembered.directories)
        self.links = HardLinks()
        self._unsaved = stored.unsaved
        self._read_tree = stored.read_tree
        self._room = room
        self._in_memory = 0
        """Bytes of files that were read and are not stored yet."""
        self.top = remembered.top
        """Inode of the sandbox's own directory."""
        self.forced: Set[str] = _NO_PATHS
        """Ignored paths that git tracks anyway."""
        self.changed: bool = True
        """Whether anything may differ from the value `captured` last returned."""
        self.is_blind = False
        """Whether a directory could not be watched: from then on, scanning has to do."""

    def captured(
        self, git: GitState, git_uncaptured: Iterable[tuple[str, Reason]]
    ) -> CapturedState:
        """Returns the state as a value; the trees made for it are unsaved then."""
        tree, made = self._state.tree.flush()
        self._unsaved.update({item.id: item for item in made})
        self.changed = False
        hidden = self._hidden_directories() if self._state.unusual else _NO_PATHS
        return CapturedState(
            tree=tree,
            usual=self._state.usual,
            unusual={
                path: mode for path, mode in self._state.unusual.items() if path not in hidden
            },
            top_mode=self._state.top_mode,
            empty_directories=frozenset(self._state.empty),
            not_captured={**self._state.not_captured, **dict(git_uncaptured)},
            ignored=frozenset(self._state.ignored),
            git=git,
        )

    def note_stored(self, captured: CapturedState, room: int | None) -> RememberedFile:
        """Notes that everything read so far is stored, and how much room that left.

        Returns:
            What has to be written down with the state, which `captured` returned.
        """
        self._unsaved.clear()
        self._in_memory = 0
        self._room = room
        if self._state.tree.loaded > _LOADED_AT_MOST and not self.changed:
            self._state.tree = LazyTree(captured.tree, self._read_tree)
        # Copies: what is written down later must not have learned of later changes.
        directories, once = dict(self.directories.inodes), set(self._exceptions.captured_once)
        return RememberedFile(captured, directories, self.top, once)

    def skipped(self) -> list[str]:
        """Returns paths a scan need not look at."""
        ignored = [path.rstrip("/") for path in self._state.ignored if path.endswith("/")]
        return [*([".git"] if self._own_git else []), *ignored]

    def watch_with(self, watch: Watch | None) -> None:
        """Has every directory that is looked into watched from now on, or none.

        Raises:
            WatchUnavailableError: not all of them can be.
        """
        self._watch = watch
        self.is_blind = False
        if watch is not None:
            watch.add("")
            for path in self.directories.inodes:
                watch.add(path)

    def force(self, tracked: Set[str]) -> None:
        """Says which ignored paths are tracked by the sandbox's git, and so are kept."""
        new = tracked - self.forced
        self.forced = tracked
        self._exceptions.forced_above = {above for path in tracked for above in ancestors(path)}
        if new:
            self.look_at(new, _above_ignored(new, self._state.ignored))

    def will_hold(self, files: Iterable[str], directories: Iterable[str]) -> None:
        """Says what is about to be brought in: it is captured even where rules ignore it."""
        coming = {path for path in files if self._state.tree.get(path) is None}
        self._exceptions.captured_once |= coming
        self._exceptions.once_above.update(directories)
        self._exceptions.once_above.update(above for path in coming for above in ancestors(path))

    def look_again(self, path: str, *, give_up: bool) -> None:
        """Reads a file that was not what it had been read as; with `give_up` it is left out."""
        full = f"{self._root}/{path}"
        spoiled = [blob for blob in self._unsaved.values() if blob.path == full]
        for blob in spoiled:
            del self._unsaved[blob.id]
        if give_up:
            self._lose(path, CHANGING)
        else:
            self.look_at([path])
        for blob in spoiled:
            self._find_elsewhere(blob)

    def _find_elsewhere(self, blob: NewObject) -> None:
        """Has an object read from another file that has the same bytes, if there is one."""
        for path, (_, object_id) in self._state.tree.files():
            if object_id == blob.id:
                self._unsaved.setdefault(blob.id, replace(blob, path=f"{self._root}/{path}"))
                return

    def known_at_top(self) -> set[str]:
        """Returns everything that is known directly in the sandbox."""
        left_out = _by_parent((*self._state.not_captured, *self._state.ignored)).get("", [])
        return {*self._state.tree.names(""), *self.directories.inside.get("", ()), *left_out}

    def names_changed(self, directories: Iterable[str]) -> Iterator[str]:
        """Yields paths directly in some directories that came or went, and these themselves."""
        not_captured, ignored = (
            _by_parent(self._state.not_captured),
            _by_parent(self._state.ignored),
        )
        for directory in directories:
            if directory:
                yield directory
            try:
                with os.scandir(f"{self._root}/{directory}") as entries:
                    there = {entry.name: entry.inode() for entry in entries}
            except OSError:
                continue
            if self._own_git and not directory:
                there.pop(".git", None)
            start = f"{directory}/" if directory else ""
            inside = self.directories.inside.get(directory, ())
            inodes = {path[len(start) :]: self.directories.inodes[path] for path in inside}
            known = {*self._state.tree.names(directory), *not_captured.get(directory, ()), *inodes}
            moved = {name for name, inode in inodes.items() if there.get(name) != inode}
            # A scan skips ignored directories, so they are read here.
            for name in (known ^ there.keys()).union(moved, ignored.get(directory, ())):
                yield start + name

    def look_at(self, paths: Iterable[str], replaced: Iterable[str] = ()) -> None:
        """Reads what is at these paths now.

        Args:
            paths: Where something may differ.
            replaced: Directories below which nothing known is valid.
        """
        seconds = self._limits.deadline_seconds
        deadline = float("inf") if seconds is None else time.monotonic() + seconds
        afresh = {*replaced, *self._pending.overdue, *self._pending.unsettled}
        wanted = {*paths, *afresh}
        # Sorted, so that a directory comes before what is in it, which is then read with it.
        todo = sorted(wanted | self.links.met_with(wanted, afresh))
        self._pending.overdue.clear()
        self._pending.unsettled.clear()
        status = os.lstat(self._root)
        mode = stat.S_IMODE(status.st_mode)
        self.changed = self.changed or bool(todo) or mode != self._state.top_mode
        self._state.top_mode, self.top = mode, status.st_ino
        new_rules = any(path.endswith(".gitignore") for path in todo)
        if new_rules or afresh:
            # git reads rules once and keeps them: only another process sees the new ones.
            self._rules.forget()
        self._learn(todo)
        done: set[str] = set()
        for path in counted("Reading files", todo):
            if not done.isdisjoint(ancestors(path)):
                continue  # It was read with a directory above it.
            if time.monotonic() > deadline:
                self._pending.overdue.add(path)
                self._lose(path, OVERDUE)
                done.add(path)
            elif self._look(path, replaced=path in afresh, deadline=deadline):
                done.add(path)
        for path in sorted(self._pending.same_file.difference(todo)):
            self._look(path, replaced=False, deadline=deadline)
        self._pending.same_file.clear()
        if new_rules:
            self._read_rules_again(deadline)
        # The answers hold for what is there now: the same path may become a directory.
        self._rules.settle()
        self._settle_touched()

    def _learn(self, paths: Iterable[str]) -> None:
        """Asks about all new paths at once, which is much quicker than one by one."""
        self._rules.learn(
            path
            for path in paths
            if path
            and not (self._own_git and path == ".git")
            and not (self._kept_below and path.startswith(".git/"))
            and self._state.tree.get(path) is None
            and path not in self._exceptions.captured_once
            and os.path.lexists(f"{self._root}/{path}")
        )

    def _read_rules_again(self, deadline: float) -> None:
        """Reads what is no longer ignored; what is captured stays captured."""
        self._rules.learn(path.rstrip("/") for path in self._state.ignored)
        for path in sorted(self._state.ignored):
            bare = path.rstrip("/")
            if path in self._state.ignored and not self._rules.covers(bare):
                self._state.ignored.discard(path)
                self._look(bare, replaced=True, deadline=deadline)

    def _look(self, top: str, *, replaced: bool, deadline: float) -> bool:
        """Reads one path; returns whether everything below it was read afresh."""
        afresh = self._look_once(top, replaced=replaced)
        if afresh is None:
            return False
        waiting = afresh
        while waiting:
            path = waiting.pop()
            if time.monotonic() > deadline:
                self._pending.overdue.add(path)
                self._lose(path, OVERDUE)
                continue
            waiting += self._look_once(path, replaced=True) or ()
        return True

    def _look_once(self, path: str, *, replaced: bool) -> list[str] | None:
        """Reads one path; returns what is in it and unread, None if what is below still holds."""
        if self._own_git and path == ".git":
            return []
        if self._kept_below is not None and self._kept_below.keeps(path):
            self._forget(path)
            return []
        full = f"{self._root}/{path}"
        try:
            status = os.lstat(full)
        except (FileNotFoundError, NotADirectoryError):
            self._forget(path)
            return []
        except OSError as error:
            self._lose(f"{path}/" if self._is_listed_directory(path) else path, unreadable(error))
            return []
        if not stat.S_ISDIR(status.st_mode):
            self._look_at_leaf(path, full, status)
            return []
        if self._is_as_known(path, status, replaced=replaced):
            self._note_mode(path, stat.S_IMODE(status.st_mode), DIRECTORY)
            return None
        return self._look_into(path, status)

    def _is_as_known(self, path: str, status: os.stat_result, *, replaced: bool) -> bool:
        """Returns whether every change in a directory is reported by a path of its own."""
        if replaced or self.directories.inodes.get(path) != status.st_ino:
            return False
        modes = self._state.unusual.get(path, self._state.usual[DIRECTORY]) & status.st_mode
        readable = os.access(f"{self._root}/{path}", os.R_OK | os.X_OK)
        return modes & 0o500 == 0o500 and readable and f"{path}/" not in self._state.not_captured

    def _is_listed_directory(self, path: str) -> bool:
        """Asks the directory that a path is in, where the path itself cannot be read."""
        try:
            with os.scandir(os.path.dirname(f"{self._root}/{path}")) as entries:
                return any(
                    entry.name == os.path.basename(path) and entry.is_dir(follow_symlinks=False)
                    for entry in entries
                )
        except OSError:
            return False

    def _look_into(self, path: str, status: os.stat_result) -> list[str]:
        """Reads a directory itself; returns what is in it."""
        once = self._state.tree.is_directory(path) or path in self._exceptions.once_above
        self._forget(path)
        if not once and self._leave_out(path, is_directory=True):
            return []
        self._enter(path, status)
        try:
            names = os.listdir(f"{self._root}/{path}")
        except OSError as error:
            self._state.not_captured[f"{path}/"] = unreadable(error)
            return []
        inside = [f"{path}/{name}" for name in names]
        self._learn(inside)
        return inside

    def _look_at_leaf(self, path: str, full: str, status: os.stat_result) -> None:
        if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
            self._pending.same_file |= self.links.meet(path, status)
        before = self._state.tree.get(path)
        if before is None or before[0] == DIRECTORY:
            once = path in self._exceptions.captured_once
            self._forget(path)
            if not once and self._leave_out(path, is_directory=False):
                return
        for _ in range(_READ_ATTEMPTS):
            try:
                self._capture(path, full, status)
                return
            except FileNotFoundError:
                self._forget(path)
                return
            except ObjectChangedError:
                # Its kind may have changed too, which decides how it is read.
                try:
                    status = os.lstat(full)
                except OSError:
                    continue
            except OSError as error:
                if error.errno != errno.ELOOP:  # It has become a link since.
                    self._lose(path, unreadable(error))
                    return
        self._lose(path, CHANGING)

    def _capture(self, path: str, full: str, status: os.stat_result) -> None:
        most = self._limits.max_file_bytes
        if stat.S_ISLNK(status.st_mode):
            blob, mode = NewObject.of(ObjectKind.BLOB, os.fsencode(os.readlink(full))), LINK_MODE
        elif not stat.S_ISREG(status.st_mode):
            self._lose(path, special_file(special_kind(status.st_mode)))
            if stat.S_ISFIFO(status.st_mode):
                self._note_mode(path, status.st_mode, FIFO)
            return
        elif most is not None and status.st_size > most:
            self._lose(path, too_large(most))
            return
        elif self._room is not None and status.st_size > self._room:
            self._lose(path, PLAN_LIMIT)
            return
        else:
            blob, mode = self._read(full)
        git_mode = git_mode_of(mode)
        if self._state.tree.get(path) != (git_mode, blob.id):
            self._state.tree.put(path, (git_mode, blob.id))
            self._unsaved[blob.id] = blob
            if self._room is not None:
                self._room -= blob.size
        self._note_mode(path, mode, git_mode)
        self._exceptions.captured_once.discard(path)
        self._state.not_captured.pop(path, None)
        self._state.ignored.discard(path)
        self._pending.touched.add(path.rpartition("/")[0])

    def _read(self, full: str) -> tuple[NewObject, int]:
        """Returns the bytes of a file as an object, and its mode; of a large one, only the id.

        Raises:
            ObjectChangedError: it was written to meanwhile.
        """
        descriptor = os.open(full, _FLAGS)
        try:
            before = os.fstat(descriptor)
            size = before.st_size
            if not stat.S_ISREG(before.st_mode):
                raise ObjectChangedError(full)
            if size <= min(_SMALL, _KEPT_ALTOGETHER - self._in_memory):
                self._in_memory += size
                content = bytearray()
                # One byte more than there should be: a file that has grown is noticed.
                while chunk := os.read(descriptor, size + 1 - len(content)):
                    content += chunk
                if len(content) != size:
                    raise ObjectChangedError(full)
                blob = NewObject.of(ObjectKind.BLOB, bytes(content))
            else:
                blob = NewObject(hash_file(descriptor, size), ObjectKind.BLOB, None, full, size)
            after = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        # The same times and size before and after: nobody wrote while it was read. The slack of
        # a scan finds what was written within the resolution of these times.
        if (before.st_mtime_ns, before.st_ctime_ns, size, before.st_mode) != (
            *(after.st_mtime_ns, after.st_ctime_ns, after.st_size, after.st_mode),
        ):
            raise ObjectChangedError(full)
        return blob, after.st_mode

    def _lose(self, path: str, reason: Reason) -> None:
        self._forget(path.rstrip("/"))
        self.changed: bool = True
        self._state.not_captured[path] = reason

    def _note_mode(self, path: str, mode: int, git_mode: str) -> None:
        if mode == usual_mode(self._state.usual, git_mode):
            self._state.unusual.pop(path, None)
        else:
            self._state.unusual[path] = mode

    def _enter(self, path: str, status: os.stat_result) -> None:
        if self._watch is not None and not self.is_blind:
            try:
                self._watch.add(path)
            except WatchUnavailableError:
                self.is_blind = True
        self.directories.add(path, status.st_ino)
        self._note_mode(path, stat.S_IMODE(status.st_mode), DIRECTORY)
        self._pending.touched |= {path, path.rpartition("/")[0]}

    def _forget(self, path: str) -> None:
        """Takes a path, and what is below it, out of everything that is known."""
        if self._state.tree.get(path) is not None:
            # An older snapshot may hold these. If they return, and rules ignore them by then, a
            # rollback would overwrite what no snapshot holds; so they are captured again.
            for other, _ in self._state.tree.files(path):
                self._exceptions.captured_once.add(other)
                self._exceptions.once_above.update(ancestors(other))
            self._state.tree.remove(path)
        self._pending.touched.add(path.rpartition("/")[0])
        self._state.not_captured.pop(path, None)
        self._state.not_captured.pop(f"{path}/", None)
        self._state.ignored.discard(path)
        self._state.ignored.discard(f"{path}/")
        self._state.unusual.pop(path, None)
        if path in self.directories.inodes:
            self._forget_below(path)

    def _forget_below(self, path: str) -> None:
        """Takes a directory, and what is below it, out of everything but the tree."""
        gone = self.directories.remove(path)
        empty = self._state.empty.intersection(gone)
        self._exceptions.captured_once.update(f"{directory}/" for directory in empty)
        self._exceptions.once_above.update(
            above for each in empty for above in (each, *ancestors(each))
        )
        start = f"{path}/"
        for group in (self._state.unusual, self._state.not_captured):
            for other in [other for other in group if other.startswith(start)]:
                del group[other]
        self._state.ignored = {
            other for other in self._state.ignored if not other.startswith(start)
        }
        self._state.empty -= empty
        if self._watch is not None:
            for directory in gone:
                self._watch.forget(directory)

    def _settle_touched(self) -> None:
        """Decides which of the directories that were touched hold nothing captured.

        Git does not see a directory in which everything is ignored, so it is not captured either,
        unless it was captured before.
        """
        waiting = self._pending.touched
        bare: list[str] = []
        while waiting:
            path = waiting.pop()
            is_known = bool(path) and path in self.directories.inodes
            if is_known and not (self._state.tree.names(path) or self.directories.inside.get(path)):
                bare.append(path)
            else:
                self._state.empty.discard(path)
        if self._kept_below is not None:
            bare = [path for path in bare if not self._kept_below.holds(path)]
        ignored = _by_parent(self._state.ignored) if bare else {}
        for path in bare:
            if path not in ignored or path in self._exceptions.once_above:
                self._state.empty.add(path)

    def _hidden_directories(self) -> Set[str]:
        """Returns the directories in which everything is ignored: their modes are not captured."""
        above = {place for path in self._state.ignored for place in ancestors(path.rstrip("/"))}
        captured = {place for path in self._state.empty for place in (path, *ancestors(path))}
        return {
            path
            for path in above - captured
            if path in self._state.unusual and not self._state.tree.is_directory(path)
        }

    def _leave_out(self, path: str, *, is_directory: bool) -> bool:
        """Says whether a path is ignored, and notes that."""
        kept = self._exceptions
        if "/.git/" in f"/{path}/":
            return False  # A repository without some of its files would be broken.
        is_inside = any(f"{above}/" in self._state.ignored for above in ancestors(path))
        if not (is_inside or self._rules.covers(path)):
            return False
        if kept.wanted.takes(path) or path in self.forced:
            return False
        if is_directory and (path in kept.forced_above or kept.wanted.may_take_below(path)):
            return False
        if not is_inside:
            self._state.ignored.add(f"{path}/" if is_directory else path)
        return True


def _by_parent(paths: Iterable[str]) -> dict[str, list[str]]:
    """Returns names by the directory they are in."""
    found: dict[str, list[str]] = {}
    for path in paths:
        parent, _, name = path.rstrip("/").rpartition("/")
        found.setdefault(parent, []).append(name)
    return found


def _above_ignored(paths: Iterable[str], ignored: Set[str]) -> Iterator[str]:
    """Yields the ignored directories that some of the paths are in."""
    for path in paths:
        yield from (above for above in ancestors(path) if f"{above}/" in ignored)
