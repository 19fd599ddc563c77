"""An exact copy of a directory: bytes, permission bits, links as links, empty directories.

Names are resolved below open directories and no link is ever followed, so that
nothing outside is read. Owners, extended attributes and hard links between
files are not carried over: the copy has separate files of its own.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from cleveragents.domain.errors import ProjectRefusedError
from cleveragents.domain.sandbox import CopyMethod, Uncaptured
from cleveragents.infrastructure.sandbox.file_copy import (
    copy_content,
    method_between,
    space_needed,
)

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening what has just become a named pipe would wait for its writer.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_KINDS = {stat.S_IFIFO: "fifo", stat.S_IFSOCK: "socket"}
_ROOM_TO_SPARE = 16 << 20
_LOOKED_FOR_ROOM_EVERY = 64 << 20
_WORKERS = min(4, os.cpu_count() or 1)


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
            leaving_out: A name at the top that is no content.
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
        """Bytes since there was last looked for room."""
        self._later: list[tuple[str, int]] = []
        """Directories that could not be filled any more if they had their mode already."""
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
                f"a copy needs {_megabytes(needed)}, and {_megabytes(free)} are free",
                hint="Make room where the home directory of CleverAgents is",
            )

    def _copy_all(self) -> None:
        """Copies several directories at a time: nearly all of it is work of the system's."""
        pool = ThreadPoolExecutor(_WORKERS)
        try:
            waiting = [pool.submit(self._copy_directory, "")]
            while waiting:
                inside = waiting.pop().result()
                waiting += [pool.submit(self._copy_directory, each) for each in inside]
        finally:
            pool.shutdown(cancel_futures=True)

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
                    elif entry.is_file(follow_symlinks=False):
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

    def _copy_directory(self, relative: str) -> list[str]:
        """Copies what is directly inside; returns the directories there, made and still empty."""
        inside: list[str] = []
        with (
            self._readable(relative),
            self._opened(self._source, relative) as source,
            self._opened(self._target, relative) as target,
            os.scandir(source) as entries,
        ):
            for entry in entries:
                if not relative and entry.name == self._leaving_out:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    os.mkdir(entry.name, 0o700, dir_fd=target)
                    inside.append(f"{relative}{entry.name}/")
                    continue
                try:
                    self._copy_leaf(entry, source, target, relative)
                except (FileNotFoundError, PermissionError) as error:
                    self._do_without(f"{relative}{entry.name}", error)
            mode = stat.S_IMODE(os.fstat(source).st_mode)
            if mode & stat.S_IRWXU == stat.S_IRWXU:
                os.fchmod(target, mode)
            else:
                self._later.append((relative, mode))
        return inside

    def _carry_mode(self, relative: str) -> None:
        """Closes a directory that could not be read, as far as its mode can be seen."""
        with suppress(OSError):
            mode = os.lstat(self._source / relative).st_mode
            if stat.S_ISDIR(mode):
                os.chmod(self._target / relative, stat.S_IMODE(mode))

    def _copy_leaf(self, entry: os.DirEntry[str], source: int, target: int, relative: str) -> None:
        if entry.is_symlink():
            os.symlink(os.readlink(entry.name, dir_fd=source), entry.name, dir_fd=target)
        elif entry.is_file(follow_symlinks=False):
            self._copy_file(entry.name, source, target)
        else:
            kind = _KINDS.get(stat.S_IFMT(entry.stat(follow_symlinks=False).st_mode), "device")
            self._special[f"{relative}{entry.name}"] = f"special file: {kind}"

    def _copy_file(self, name: str, source: int, target: int) -> None:
        reader = os.open(name, _READ, dir_fd=source)
        try:
            status = os.fstat(reader)
            writer = os.open(name, _CREATE, 0o600, dir_fd=target)
            try:
                if status.st_size:
                    self._copy_content(reader, writer, status)
                os.fchmod(writer, stat.S_IMODE(status.st_mode))
                os.utime(writer, ns=(status.st_atime_ns, status.st_mtime_ns))
            finally:
                os.close(writer)
        finally:
            os.close(reader)

    def _copy_content(self, reader: int, writer: int, status: os.stat_result) -> None:
        if self._method is None:
            self._method = method_between(reader, self._target)
        if copy_content(reader, writer, status, self._method):
            return
        self._all_shared = False
        self._written += space_needed(status)
        if self._written >= _LOOKED_FOR_ROOM_EVERY:
            self._written = 0
            self._require_room(_LOOKED_FOR_ROOM_EVERY)

    @contextmanager
    def _opened(self, root: Path, relative: str) -> Generator[int]:
        descriptor = os.open(f"{root}/{relative.rstrip('/')}" if relative else root, _DIRECTORY)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    @contextmanager
    def _readable(self, relative: str) -> Generator[None]:
        try:
            yield
        except (FileNotFoundError, PermissionError) as error:
            self._do_without(relative, error)

    def _do_without(self, relative: str, error: OSError) -> None:
        """What has gone meanwhile is not copied; what may not be read is no reason to go on.

        Unless it is ours: then it is named, and a directory stays empty.
        """
        if isinstance(error, FileNotFoundError):
            if not relative:
                raise error
        elif self._is_ours and relative:
            self._unreadable[relative] = (error.strerror or "it cannot be read").lower()
        else:
            raise ProjectRefusedError(
                str(self._source),
                f"`{relative or '.'}` in it cannot be read: {error.strerror}",
                hint="Give yourself permission to read it, or move it away",
            ) from error


def _megabytes(count: int) -> str:
    return f"{count / 1_000_000:,.1f} MB"
