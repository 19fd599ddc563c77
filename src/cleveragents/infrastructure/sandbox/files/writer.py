"""Writing a difference to disk: never through a symlink, never outside, repeatable.

Every path is reached by descending from the sandbox's top directory, one
component at a time, refusing symbolic links, so nothing an agent planted can
lead a write elsewhere. A file is rewritten in place where it is ours alone, and
replaced where it has other links or is something else. A kill may leave one half
written: the restore is journaled and simply done again.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress

from cleveragents.domain.wording import size
from cleveragents.infrastructure.files import FULL_DISK, SYNCED_ONE_BY_ONE, sync_file_system
from cleveragents.infrastructure.sandbox.states.difference import (
    TOP,
    StateDifference,
)
from cleveragents.infrastructure.sandbox.store.captured_state import TreeEntry
from cleveragents.infrastructure.system import counted

_OPEN_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_REWRITE = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_UNNAMED = os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC
_OPEN_FIFO = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NOT_IN_PLACE = (
    *(errno.ENOENT, errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.EACCES),
    *(errno.ETXTBSY, errno.EPERM, errno.ENODEV),
)

_FOR_RECORDS = 256 << 10
"""Bytes for the records and git's index, which are written after the files or along with them."""

WriteBlob = Callable[[str, Callable[[bytes], object]], None]
"""Gives the bytes of an object, piece by piece, to the function it is handed."""


@contextmanager
def room_for(root: str, difference: StateDifference, sizes: Mapping[str, int]) -> Generator[None]:
    """Reserves what a difference needs on the disk, before the block changes the first file.

    What it removes, it removes first, so that is room too: a restore may be the way to empty
    a full disk. The part for the records stays reserved until the block ends.

    Args:
        root: The sandbox.
        difference: What the block will write there.
        sizes: How many bytes each object has.

    Raises:
        OSError: there is too little room; nothing was changed.
    """
    disk = os.statvfs(root)
    bytes_needed = _FOR_RECORDS + disk.f_frsize * len(difference.make_directories)
    names_needed = len(difference.make_directories) - len(difference.remove_directories)
    for path, entry in difference.write_files:
        there = _bytes_on_disk(f"{root}/{path}")
        names_needed += there is None
        blocks = -(-sizes[entry.object_id] // disk.f_frsize)
        bytes_needed += max(blocks * disk.f_frsize - (there or 0), 0)
    for path in difference.remove_files:
        names_needed -= 1
        bytes_needed -= _bytes_on_disk(f"{root}/{path}") or 0
    # File systems that make inodes as they need them have none to count.
    if disk.f_files and names_needed > disk.f_favail:
        raise OSError(errno.ENOSPC, f"{os.strerror(errno.ENOSPC)} for {names_needed} more files")
    free = disk.f_bavail * disk.f_frsize
    if bytes_needed > max(free, 0):
        problem = f"{os.strerror(errno.ENOSPC)}: {size(bytes_needed)} needed, {size(free)} free"
        raise OSError(errno.ENOSPC, problem)
    reserve = _reserved(root, bytes_needed) if bytes_needed > 0 else None
    try:
        if reserve is not None:
            os.ftruncate(reserve, min(bytes_needed, _FOR_RECORDS))
        yield
    finally:
        if reserve is not None:
            os.close(reserve)


def _reserved(root: str, size_needed: int) -> int | None:
    """Returns a file that takes up room on the disk of a sandbox, or None if that cannot be.

    The file is beside the sandbox, where it does not count as a change, and has no name, so that
    nothing is left of it whatever happens.
    """
    try:
        descriptor = os.open(os.path.dirname(root), _UNNAMED, 0o600)
    except OSError:
        return None
    try:
        if os.fstat(descriptor).st_dev == os.stat(root).st_dev:
            os.posix_fallocate(descriptor, 0, size_needed)
            return descriptor
    except OSError as error:
        os.close(descriptor)
        if error.errno in FULL_DISK:
            raise
        return None
    os.close(descriptor)
    return None


def _bytes_on_disk(path: str) -> int | None:
    """Returns what removing a file gives back, or None if there is none."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_blocks * 512 if status.st_nlink == 1 else 0


class SandboxWriter:
    """Changes files below one directory."""

    def __init__(self, root: str) -> None:
        self._root = os.open(root, _OPEN_DIRECTORY)
        self._opened_up: dict[str, int] = {}
        """Directories made writable for the work, with the mode they had."""
        self._last: tuple[str, int] | None = None
        """The directory that was worked in last: the next path is often in it too."""

    def close(self) -> None:
        if self._last is not None:
            os.close(self._last[1])
            self._last = None
        os.close(self._root)

    def apply(self, difference: StateDifference, blob: WriteBlob) -> None:
        """Does everything the difference says, and makes it durable."""
        mode = stat.S_IMODE(os.fstat(self._root).st_mode)
        if mode & 0o700 != 0o700:
            self._opened_up[TOP] = mode
            os.fchmod(self._root, mode | 0o700)
        synced = len(difference.touched) <= SYNCED_ONE_BY_ONE
        try:
            # Special files first: what is written must never open one.
            unwanted = (*(item.path for item in difference.replaced), *difference.remove_files)
            for path in counted("Removing files", unwanted):
                with suppress(FileNotFoundError):
                    parent, name = self._parent(path)
                    os.unlink(name, dir_fd=parent)
            for path in difference.remove_directories:
                with suppress(FileNotFoundError):
                    parent, name = self._parent(path)
                    os.rmdir(name, dir_fd=parent)
                    self._opened_up.pop(path, None)
            for path in difference.make_directories:
                parent, name = self._parent(path)
                _remove_special(name, parent)
                with suppress(FileExistsError):
                    os.mkdir(name, 0o700, dir_fd=parent)
            for path, entry in counted("Writing files", difference.write_files):
                self._write(path, entry, blob, synced=synced)
            for path, mode in difference.make_fifos:
                parent, name = self._parent(path)
                _make_fifo(name, parent, mode)
            # What is above must be open before the first of these modes closes something.
            for path, _ in difference.set_modes:
                with suppress(FileNotFoundError):
                    self._parent(path)
            if synced:
                # Names are durable when their directory is; one that was removed has none.
                for path in sorted({f"{path.rpartition('/')[0]}/" for path in difference.touched}):
                    with suppress(OSError):
                        os.fsync(self._parent(path.lstrip("/"))[0])
        except BaseException:
            self._set_modes(self._opened_up)
            raise
        self._set_modes({**self._opened_up, **dict(difference.set_modes)})
        if not synced:
            sync_file_system(self._root)

    def _set_modes(self, modes: Mapping[str, int]) -> None:
        """Deepest first: everything above what is being set is still open."""
        for path in sorted(modes, key=lambda path: (path == TOP, -path.count("/"))):
            self._set_mode(path, modes[path])

    def _parent(self, path: str) -> tuple[int, str]:
        """Returns a descriptor of the directory a path is in, made writable, and its last name.

        The descriptor is good until this is asked about another path.
        """
        directory, _, name = path.rpartition("/")
        if self._last is not None and self._last[0] == directory:
            return self._last[1], name
        descriptor = os.dup(self._root)
        try:
            above = directory.split("/") if directory else []
            for depth, component in enumerate(above, start=1):
                closed = _allow_entry(component, descriptor)
                if closed is not None:
                    self._opened_up.setdefault("/".join(above[:depth]), closed)
                inner = os.open(component, _OPEN_DIRECTORY, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = inner
        except BaseException:
            os.close(descriptor)
            raise
        if self._last is not None:
            os.close(self._last[1])
        self._last = (directory, descriptor)
        return descriptor, name

    def _write(self, path: str, entry: TreeEntry, blob: WriteBlob, *, synced: bool) -> None:
        parent, name = self._parent(path)
        if stat.S_ISLNK(entry.mode):
            _write_link(name, parent, entry, blob)
            return
        descriptor = _open_for_writing(name, parent)
        with open(descriptor, "wb", buffering=0) as stream:
            size = 0

            def put(chunk: bytes) -> None:
                nonlocal size
                view = memoryview(chunk)
                while view:
                    written = stream.write(view)
                    size += written
                    view = view[written:]

            blob(entry.object_id, put)
            os.ftruncate(descriptor, size)
            os.fchmod(descriptor, stat.S_IMODE(entry.mode))
            if synced:
                os.fsync(descriptor)

    def _set_mode(self, path: str, mode: int) -> None:
        if path == TOP:
            os.fchmod(self._root, mode)
            return
        with suppress(FileNotFoundError):
            parent, name = self._parent(path)
            _chmod_directory(name, parent, mode)


def _open_for_writing(name: str, parent: int) -> int:
    """Opens a file that nothing else shares, the one that is there or a new one."""
    try:
        descriptor = os.open(name, _REWRITE, dir_fd=parent)
    except OSError as error:
        if error.errno not in _NOT_IN_PLACE:
            raise
    else:
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
            return descriptor
        os.close(descriptor)
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=parent)
    return os.open(name, _CREATE, 0o600, dir_fd=parent)


def _write_link(name: str, parent: int, entry: TreeEntry, blob: WriteBlob) -> None:
    target = bytearray()
    blob(entry.object_id, target.extend)
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=parent)
    os.symlink(bytes(target), os.fsencode(name), dir_fd=parent)


def _allow_entry(name: str, parent: int) -> int | None:
    """Makes a directory usable and returns the mode it had, or None if it was usable."""
    status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    if not stat.S_ISDIR(status.st_mode) or status.st_mode & 0o700 == 0o700:
        return None
    os.chmod(name, stat.S_IMODE(status.st_mode) | 0o700, dir_fd=parent)
    return stat.S_IMODE(status.st_mode)


def _chmod_directory(name: str, parent: int, mode: int) -> None:
    _allow_entry(name, parent)
    descriptor = os.open(name, _OPEN_DIRECTORY, dir_fd=parent)
    try:
        os.fchmod(descriptor, mode)
    finally:
        os.close(descriptor)


def _make_fifo(name: str, parent: int, mode: int) -> None:
    """Makes a FIFO with a mode, or gives the mode to the one that is there."""
    with suppress(FileExistsError):
        os.mkfifo(name, 0o600, dir_fd=parent)
    descriptor = os.open(name, _OPEN_FIFO, dir_fd=parent)
    try:
        os.fchmod(descriptor, stat.S_IMODE(mode))
    finally:
        os.close(descriptor)


def _remove_special(name: str, parent: int) -> None:
    with suppress(FileNotFoundError):
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
        if not stat.S_ISDIR(status.st_mode):
            os.unlink(name, dir_fd=parent)
