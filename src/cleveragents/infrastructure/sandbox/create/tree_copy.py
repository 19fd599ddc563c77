"""An exact copy of a directory: bytes, permission bits, links as links, empty directories.

Nothing outside is read. Owners, extended attributes and hard links between files
are not carried over: the copy has separate files of its own.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from cleveragents.domain.errors import ProjectRefusedError
from cleveragents.domain.sandboxes.sandbox import CopyMethod, Uncaptured
from cleveragents.domain.sandboxes.uncaptured import special_file
from cleveragents.domain.wording import size
from cleveragents.infrastructure.sandbox.create.copy_processes import CopyWorkers
from cleveragents.infrastructure.sandbox.create.directory_copy import CopyResult, DirectoryCopy
from cleveragents.infrastructure.sandbox.store.file_copy import clone, space_needed
from cleveragents.infrastructure.system import counter

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_ROOM_TO_SPARE = 16 << 20
_LOOKED_FOR_ROOM_EVERY = 64 << 20
_ALONE = 500
"""Files up to which processes that help would not be worth their start."""


class TreeCopy:
    """Copies one directory into an empty one, once."""

    def __init__(
        self,
        source: Path,
        target: Path,
        *,
        leaving_out: str | None = None,
        is_ours: bool = False,
    ) -> None:
        """Prepares a copy.

        Args:
            source: What is copied.
            target: An empty directory.
            leaving_out: A name at the top that is not content.
            is_ours: Whether it is a sandbox. Then what may not be read is left out and named,
                not refused, and room is looked for on the way, not before.
        """
        self._source = source
        self._target = target
        self._leaving_out = leaving_out
        self._is_ours = is_ours
        self._method: CopyMethod | None = None
        self._all_shared = True
        self._written = 0
        self._files = 0
        self._advance: Callable[[int], None] | None = None
        self._next_look_for_room = _LOOKED_FOR_ROOM_EVERY
        self._later: list[tuple[str, int]] = []
        self._special: dict[str, str] = {}
        self._unreadable: dict[str, str] = {}

    @property
    def skipped(self) -> tuple[Uncaptured, ...]:
        """What was left out, and why, by path."""
        found = sorted({**self._special, **self._unreadable}.items())
        return tuple(Uncaptured(path=path, reason=reason) for path, reason in found)

    @property
    def method(self) -> CopyMethod:
        """How the bytes came over; a single file that had to be copied makes it a copy."""
        shared = self._method is CopyMethod.REFLINK and self._all_shared
        return CopyMethod.REFLINK if shared else CopyMethod.COPY

    def run(self) -> None:
        """Copies everything.

        Raises:
            ProjectRefusedError: something cannot be read, or there is no room for it.
            OSError: the copy cannot be written.
        """
        if not self._is_ours:
            needed = self._measure()
            self._require_room(0 if self._method is CopyMethod.REFLINK else needed)
            self._advance = counter("Copying files", self._files)
        self._copy_all()
        for relative, mode in sorted(self._later, key=lambda item: -item[0].count("/")):
            os.chmod(self._target / relative, mode)
        for relative in self._unreadable:
            self._carry_mode(relative)

    def _require_room(self, needed: int) -> None:
        free = shutil.disk_usage(self._target).free
        if needed and needed + _ROOM_TO_SPARE > free:
            raise ProjectRefusedError(
                str(self._source),
                f"a copy needs {size(needed)} and leaves {size(_ROOM_TO_SPARE)} unused, "
                f"but only {size(free)} are free",
                hint="Make room where the home directory of CleverAgents is",
            )

    def _copy_all(self) -> None:
        """Copies the first directories by itself, and with help if there are many."""
        copy = DirectoryCopy(
            str(self._source),
            str(self._target),
            can_share=self._can_share,
            leaving_out=self._leaving_out,
        )
        waiting, files, wants_help = [""], 0, True
        while waiting:
            if files >= _ALONE and wants_help:
                if self._with_help(waiting):
                    return
                wants_help = False
            copied = copy.copy(waiting.pop())
            self._take_in(copied)
            waiting += copied.inside
            files += copied.files

    def _with_help(self, waiting: list[str]) -> bool:
        """Has other processes copy what is left; returns whether there are any."""
        share = self._method is not CopyMethod.COPY
        with CopyWorkers(self._source, self._target, share=share) as workers:
            if workers.are_there:
                for copied in workers.copy(waiting):
                    self._take_in(copied)
            return workers.are_there

    def _take_in(self, copied: CopyResult) -> None:
        for path, number in copied.unreadable.items():
            self._do_without(path, os.strerror(number))
        kinds = {path: special_file(kind).text for path, kind in copied.special.items()}
        self._special.update(kinds)
        self._later += copied.later
        self._all_shared &= copied.all_shared
        self._written += copied.written_bytes
        if self._advance is not None:
            self._advance(copied.files)
        if self._written >= self._next_look_for_room:
            self._next_look_for_room = self._written + _LOOKED_FOR_ROOM_EVERY
            self._require_room(_LOOKED_FOR_ROOM_EVERY)

    def _can_share(self, source: int) -> bool:
        if self._method is None:
            self._method = method_between(source, self._target)
        return self._method is CopyMethod.REFLINK

    def _measure(self) -> int:
        """Returns the bytes that a copy would take, and finds out how they can be copied."""
        needed, waiting = 0, [""]
        while waiting:
            relative = waiting.pop()
            with (
                self._readable(relative),
                self._opened(self._source, relative) as directory,
                os.scandir(directory) as entries,
            ):
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(f"{relative}{entry.name}/")
                        continue
                    self._files += 1
                    if entry.is_file(follow_symlinks=False):
                        status = entry.stat(follow_symlinks=False)
                        needed += space_needed(status)
                        if self._method is None and status.st_size:
                            self._probe(directory, entry.name)
        return needed

    def _probe(self, directory: int, name: str) -> None:
        source = os.open(name, _READ, dir_fd=directory)
        try:
            self._method = method_between(source, self._target)
        finally:
            os.close(source)

    def _carry_mode(self, relative: str) -> None:
        """Closes a directory that could not be read, as far as its mode can be seen."""
        with suppress(OSError):
            mode = os.lstat(self._source / relative).st_mode
            if stat.S_ISDIR(mode):
                os.chmod(self._target / relative, stat.S_IMODE(mode))

    @contextmanager
    def _opened(self, root: Path, relative: str) -> Generator[int]:
        descriptor = os.open(f"{root}/{relative.rstrip('/')}" if relative else root, _DIRECTORY)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    @contextmanager
    def _readable(self, relative: str) -> Generator[None]:
        """What has gone meanwhile is not copied."""
        try:
            yield
        except FileNotFoundError:
            if not relative:
                raise
        except PermissionError as error:
            self._do_without(relative, error.strerror or str(error))

    def _do_without(self, relative: str, reason: str) -> None:
        """Stops the copy at a file that may not be read.

        Unless it is ours: then it is named, and a directory stays empty.
        """
        if self._is_ours and relative:
            self._unreadable[relative] = reason.lower()
            return
        raise ProjectRefusedError(
            str(self._source),
            f"`{relative or '.'}` in it cannot be read: {reason}",
            hint="Give yourself permission to read it, or move it away",
        )


def method_between(source: int, target: Path) -> CopyMethod:
    """Returns how a file like the opened `source` would be copied to the directory `target`."""
    with tempfile.TemporaryFile(dir=target) as probe:
        return CopyMethod.REFLINK if clone(source, probe.fileno()) else CopyMethod.COPY
