"""What is in a sandbox and in no snapshot of it: ignored files, files over a limit, and so on.

A validation must leave these as they were, too. No snapshot can restore them, so they are copied
beside the sandbox before it runs. The copies and a list of everything that was there lead back,
also after a kill.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterable, Mapping, Set
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.domain.sandboxes.uncaptured import ReasonKind
from cleveragents.infrastructure.files import write_durably
from cleveragents.infrastructure.sandbox.files.ignore_rules import IncludePatterns
from cleveragents.infrastructure.sandbox.files.writer import SandboxWriter
from cleveragents.infrastructure.sandbox.states.difference import StateDifference
from cleveragents.infrastructure.sandbox.store.captured_state import (
    CapturedState,
    TreeEntry,
    ancestors,
    around_nothing,
)
from cleveragents.infrastructure.sandbox.store.directories import remove_tree
from cleveragents.infrastructure.sandbox.store.file_copy import copy_content

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_PIECE = 1 << 20
_LIST = "list.json"


def uncaptured_paths(root: str, captured: CapturedState) -> dict[str, os.stat_result]:
    """Returns every path that a state left out, directories and what is in them included."""
    tops = {path.rstrip("/") for path in captured.ignored}
    for path, reason in captured.not_captured.items():
        if reason.kind is not ReasonKind.GIT_STATE:
            tops.add(path.rstrip("/"))
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


class UncapturedFiles:
    """Keeps what no snapshot holds of one sandbox while a validation runs."""

    def __init__(self, sandbox: SandboxRef, rebuildable: Iterable[str]) -> None:
        self._root = sandbox.path
        self._place = Path(sandbox.path).parent / f".{sandbox.resource}.uncaptured"
        self._rebuildable = IncludePatterns(rebuildable)

    @property
    def is_kept(self) -> bool:
        """Whether a validation may have run since everything was kept."""
        return (self._place / _LIST).is_file()

    def keep(self, captured: CapturedState, directories: Set[str]) -> None:
        """Copies what a state left out, and notes what there is.

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
        for path, status in uncaptured_paths(self._root, captured).items():
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
        present = uncaptured_paths(self._root, captured)
        # A directory that came for the sake of these alone goes with them.
        around = {place for path in present.keys() - kept for place in ancestors(path)}
        around -= {*kept, *content["directories"], *around_nothing(captured)}
        todo = _difference(kept, present, {path for path in around if not is_captured(path)})
        if todo.touched:
            with closing(SandboxWriter(self._root)) as writer:
                writer.apply(todo, self._read_copy)
        self.forget()

    def forget(self) -> None:
        remove_tree(self._place)

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
