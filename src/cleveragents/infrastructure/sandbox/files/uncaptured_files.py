"""What is in a sandbox and in no snapshot of it: ignored files, files over a limit, and so on.

An apply names such files, or adds them to the last snapshot.

A validation must leave them as they were. No snapshot can restore them, so they are copied beside
the sandbox before it runs. The copies and a list of everything that was there lead back, also
after a kill.
"""

from __future__ import annotations

import filecmp
import json
import os
import stat
from collections.abc import Callable, Iterable, Mapping, Set
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cleveragents.domain.sandboxes.change import PathState
from cleveragents.domain.sandboxes.patterns import PathPatterns
from cleveragents.domain.sandboxes.sandbox import UncapturedFile
from cleveragents.domain.sandboxes.uncaptured import IGNORED, Reason, ReasonKind
from cleveragents.infrastructure.files import write_durably
from cleveragents.infrastructure.sandbox.files.writer import SandboxWriter
from cleveragents.infrastructure.sandbox.git.objects import NewObject, ObjectKind, hash_file
from cleveragents.infrastructure.sandbox.states.difference import StateDifference
from cleveragents.infrastructure.sandbox.states.state_editor import StateEditor
from cleveragents.infrastructure.sandbox.store.captured_state import (
    LINK_MODE,
    CapturedState,
    TreeEntry,
    ancestors,
)
from cleveragents.infrastructure.sandbox.store.directories import remove_tree
from cleveragents.infrastructure.sandbox.store.file_copy import copy_content
from cleveragents.infrastructure.sandbox.store.lazy_tree import ReadTree

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_PIECE = 1 << 20
_LIST = "list.json"


def left_out_by(captured: CapturedState) -> dict[str, Reason]:
    """Returns what a state left out, and why; a directory includes all that is in it."""
    found = {
        path.rstrip("/"): reason
        for path, reason in captured.not_captured.items()
        if reason.kind is not ReasonKind.GIT_STATE
    }
    return found | {path.rstrip("/"): IGNORED for path in captured.ignored}


def paths_below(root: str, tops: Iterable[str]) -> dict[str, os.stat_result]:
    """Returns what is at some paths and in the directories among them."""
    found: dict[str, os.stat_result] = {}
    waiting = sorted(tops)
    while waiting:
        path = waiting.pop()
        with suppress(OSError):
            status = found[path] = os.lstat(f"{root}/{path}")
            if stat.S_ISDIR(status.st_mode):
                waiting += [f"{path}/{name}" for name in os.listdir(f"{root}/{path}")]
    return found


@dataclass(frozen=True)
class _Kept:
    """One path as it was: what `lstat` says of it, and where its bytes were copied to."""

    mode: int
    stamp: tuple[int, ...]
    copy: str | None

    @staticmethod
    def stamp_of(status: os.stat_result) -> tuple[int, ...]:
        """Returns what is different once a file was written to or replaced."""
        if stat.S_ISDIR(status.st_mode):
            return (status.st_mode,)
        return (
            *(status.st_mode, status.st_ino, status.st_size),
            *(status.st_mtime_ns, status.st_ctime_ns),
        )


@dataclass(frozen=True)
class UncapturedFiles:
    """Keeps what no snapshot holds of one sandbox while a validation runs."""

    _root: str
    _place: Path
    """Where the copies and the list of everything are kept."""
    _rebuildable: PathPatterns
    """What a tool can make again."""

    @property
    def is_kept(self) -> bool:
        """Whether a validation may have run since everything was kept."""
        return (self._place / _LIST).is_file()

    def keep(self, captured: CapturedState, directories: Set[str]) -> None:
        """Copies what a state left out, and lists everything that is there.

        What a tool can make again is not copied: it is never part of a result.

        Args:
            captured: The sandbox as it is now.
            directories: The directories in which captured files may be.

        Raises:
            OSError: there is no room, or a file cannot be read.
        """
        remove_tree(self._place)
        self._place.mkdir(mode=0o700)
        kept: dict[str, _Kept] = {}
        for path, status in paths_below(self._root, left_out_by(captured)).items():
            name = None
            if not self._rebuildable.takes(path):
                name = self._copied(path, status, str(len(kept)))
            kept[path] = _Kept(status.st_mode, _Kept.stamp_of(status), name)
        content = {
            "paths": {path: [item.mode, item.stamp, item.copy] for path, item in kept.items()},
            "directories": sorted(directories),
        }
        # Only a complete list is believed, so it is written last.
        write_durably(self._place / _LIST, json.dumps(content).encode("ascii"))

    def restore(self, captured: CapturedState, is_captured: Callable[[str], bool]) -> None:
        """Makes everything that no snapshot holds as it was when it was kept.

        Repeatable after a kill. Captured files are not touched: a snapshot restores them.

        Args:
            captured: The sandbox as it is now.
            is_captured: Says whether a directory holds captured files.

        Raises:
            OSError: a file cannot be written.
        """
        content: dict[str, Any] = json.loads((self._place / _LIST).read_bytes())
        kept = {
            path: _Kept(mode, tuple(stamp), copy)
            for path, (mode, stamp, copy) in content["paths"].items()
        }
        present = paths_below(self._root, left_out_by(captured))
        # A directory that came for the sake of these alone goes with them.
        around = {place for path in present.keys() - kept for place in ancestors(path)}
        around -= {*kept, *content["directories"], *captured.bare_directories}
        todo = _difference(kept, present, {path for path in around if not is_captured(path)})
        if todo.touched:
            with closing(SandboxWriter(self._root)) as writer:
                writer.apply(todo, self._read_copy)
        self.forget()

    def forget(self) -> None:
        remove_tree(self._place)

    def differing(
        self, captured: CapturedState, start: CapturedState, original: str
    ) -> list[UncapturedFile]:
        """Returns the files that a state left out and that the plan made, changed or deleted.

        What the start left out counts too, even if it is captured by now: nobody knows what it
        was, so no change of it is applied.

        Args:
            captured: The sandbox as it is.
            start: What it was before the first step.
            original: Where the resource itself is.
        """
        before, now = left_out_by(start), left_out_by(captured)
        tops = {**before, **now}
        if not tops:
            return []
        present = paths_below(self._root, tops)
        gone = {path for path in before if path not in present}
        found: list[UncapturedFile] = []
        for path in sorted({*present, *gone}):
            status = present.get(path)
            top = next(place for place in (path, *ancestors(path)) if place in tops)
            is_new = top not in before
            is_special = tops[top].is_special_file
            if is_special:
                # Nothing can bring it into the project, so the user is told that it stays behind.
                is_left_out = is_new and status is not None
            elif status is not None and not _is_content(status):
                is_left_out = False
            else:
                is_left_out = not _is_same(
                    f"{self._root}/{path}", f"{original}/{path}", by_time=not is_new
                )
            if not is_left_out:
                continue
            ignored = tops[top].kind is ReasonKind.IGNORED
            found.append(
                UncapturedFile(
                    path=path,
                    reason=tops[top].text,
                    size_bytes=status.st_size if status is not None else 0,
                    rebuildable=self._rebuildable_around(path) if ignored else None,
                    can_be_added=(
                        is_new and not is_special and _can_be_read(f"{self._root}/{path}")
                    ),
                )
            )
        return found

    def _rebuildable_around(self, path: str) -> str | None:
        outside_in = [*reversed([*ancestors(path)]), path]
        return next((place for place in outside_in if self._rebuildable.takes(place)), None)

    def _copied(self, path: str, status: os.stat_result, name: str) -> str | None:
        """Copies one file or link; returns the name of the copy, None for something else."""
        full = f"{self._root}/{path}"
        if stat.S_ISLNK(status.st_mode):
            (self._place / name).write_bytes(os.fsencode(os.readlink(full)))
            return name
        if not stat.S_ISREG(status.st_mode):
            return None
        try:
            source = os.open(full, _READ)
        except PermissionError:
            return None  # A validation runs with the same permissions, and cannot read it either.
        try:
            target = os.open(self._place / name, _CREATE, 0o600)
            try:
                copy_content(source, target, os.fstat(source), share=True)
                os.fsync(target)
            finally:
                os.close(target)
        finally:
            os.close(source)
        return name

    def _read_copy(self, name: str, write: Callable[[bytes], object]) -> None:
        with (self._place / name).open("rb") as stream:
            while piece := stream.read(_PIECE):
                write(piece)


def with_files(
    base: CapturedState, root: str, paths: Iterable[str], read: ReadTree
) -> tuple[CapturedState, list[NewObject]]:
    """Returns a state with files added that it left out, and the objects that it lacks.

    Raises:
        ObjectChangedError: a file is being written to.
        OSError: a file cannot be read.
    """
    editor, objects = StateEditor(base, read), list[NewObject]()
    added: set[str] = set()
    for path in paths:
        full = f"{root}/{path}"
        status = os.lstat(full)
        for above in reversed([*ancestors(path)]):
            if not editor.is_directory(above):
                editor.make_directory(above, os.lstat(f"{root}/{above}").st_mode)
        if stat.S_ISLNK(status.st_mode):
            blob, mode = NewObject.of(ObjectKind.BLOB, os.fsencode(os.readlink(full))), LINK_MODE
        else:
            descriptor = os.open(full, _READ)
            try:
                name = hash_file(descriptor, status.st_size)
            finally:
                os.close(descriptor)
            # Only its id is known by now: storing it reads it again, and notices a change.
            blob = NewObject(name, ObjectKind.BLOB, None, full, status.st_size)
            mode = status.st_mode
        objects.append(blob)
        editor.put(path, PathState(mode=mode, hash=blob.id))
        added.add(path)
    state, trees = editor.result()
    left_out = {path: why for path, why in state.not_captured.items() if path not in added}
    return replace(state, not_captured=left_out, ignored=state.ignored - added), [*objects, *trees]


def _is_content(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)


def _can_be_read(path: str) -> bool:
    return os.path.islink(path) or os.access(path, os.R_OK)


def _is_same(one: str, other: str, *, by_time: bool) -> bool:
    """Says whether two files hold the same, or neither is there.

    With `by_time`, equal sizes and times are enough: a copy has the times of its original.
    """
    statuses: list[os.stat_result | None] = []
    for path in (one, other):
        try:
            statuses.append(os.lstat(path))
        except OSError:
            statuses.append(None)
    mine, theirs = statuses
    if mine is None or theirs is None:
        return mine is theirs
    if stat.S_IFMT(mine.st_mode) != stat.S_IFMT(theirs.st_mode) or mine.st_size != theirs.st_size:
        return False
    if stat.S_ISLNK(mine.st_mode):
        return os.readlink(one) == os.readlink(other)
    if by_time and mine.st_mtime_ns == theirs.st_mtime_ns:
        return True
    try:
        return filecmp.cmp(one, other, shallow=False)
    except OSError:
        return False


def _difference(
    kept: Mapping[str, _Kept], present: Mapping[str, os.stat_result], around: Set[str]
) -> StateDifference:
    """Returns what makes the present what was kept, and removes the directories around it."""
    removed = {path: status for path, status in present.items() if path not in kept}
    wrong = {
        path: item
        for path, item in kept.items()
        if path not in present or _Kept.stamp_of(present[path]) != item.stamp
    }
    # Something else than a file may be in the place of one, and the other way round.
    for path, item in wrong.items():
        if path in present and stat.S_IFMT(present[path].st_mode) != stat.S_IFMT(item.mode):
            removed[path] = present[path]
    files = [path for path, status in removed.items() if not stat.S_ISDIR(status.st_mode)]
    emptied = {path for path, status in removed.items() if stat.S_ISDIR(status.st_mode)} | around
    made = [path for path, item in wrong.items() if stat.S_ISDIR(item.mode)]
    written = [
        (path, TreeEntry(item.copy, item.mode))
        for path, item in sorted(wrong.items())
        if item.copy is not None
    ]
    modes = [(path, stat.S_IMODE(kept[path].mode)) for path in made]
    return StateDifference(
        remove_files=tuple(files),
        remove_directories=tuple(sorted(emptied, key=lambda path: (-path.count("/"), path))),
        make_directories=tuple(sorted(made)),
        write_files=tuple(written),
        set_modes=tuple(sorted(modes, key=lambda item: -item[0].count("/"))),
        shown_directories=frozenset(),
        left_alone=(),
        in_the_way=(),
        touched=frozenset({*removed, *emptied, *wrong}),
    )
