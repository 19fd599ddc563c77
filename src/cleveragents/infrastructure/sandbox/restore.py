"""Writing a difference to disk: never through a symlink, never outside, repeatable.

Every path is reached by descending from the sandbox's top directory, one
component at a time, refusing symbolic links, so nothing an agent planted can
lead a write elsewhere. Content goes to a temporary name and is renamed, so a
file with other hard links is never written into.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress

from cleveragents.infrastructure.sandbox.difference import TOP, Difference, permission_bits
from cleveragents.infrastructure.sandbox.manifest import Entry
from cleveragents.infrastructure.sandbox.scan import temporary_name

_OPEN_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

WriteBlob = Callable[[str, Callable[[bytes], object]], None]
"""Gives the bytes of an object, piece by piece, to the function it is handed."""


class SandboxWriter:
    """Changes files below one directory."""

    def __init__(self, root: str) -> None:
        self._root = os.open(root, _OPEN_DIRECTORY)
        self._opened_up: dict[str, int] = {}
        """Directories made writable for the work, with the mode they had."""

    def close(self) -> None:
        os.close(self._root)

    def apply(self, difference: Difference, leftovers: Iterable[str], blob: WriteBlob) -> None:
        """Does everything the difference says, and makes it durable."""
        self._open_top()
        try:
            for path in (*leftovers, *difference.remove_files):
                self._unlink(path)
            for path in difference.remove_directories:
                self._remove_directory(path)
            for path in difference.make_directories:
                self._make_directory(path)
            for path, entry in difference.write_files:
                self._write(path, entry, blob)
            self._open_above(path for path, _ in difference.set_modes)
        except BaseException:
            self._set_modes(self._opened_up)
            raise
        self._set_modes({**self._opened_up, **dict(difference.set_modes)})
        _flush(self._root)

    def _open_top(self) -> None:
        mode = permission_bits(os.fstat(self._root).st_mode)
        if mode & 0o700 != 0o700:
            self._opened_up[TOP] = mode
            os.fchmod(self._root, mode | 0o700)

    def _open_above(self, paths: Iterable[str]) -> None:
        for path in paths:
            with suppress(FileNotFoundError), self._parent(path):
                continue

    def _set_modes(self, modes: Mapping[str, int]) -> None:
        """Deepest first: everything above what is being set is still open."""
        for path in sorted(modes, key=lambda path: (path == TOP, -path.count("/"))):
            self._set_mode(path, modes[path])

    @contextmanager
    def _parent(self, path: str) -> Generator[tuple[int, str]]:
        """Yields a descriptor of the directory a path is in, made writable, and its last name."""
        *above, name = path.split("/")
        descriptor = os.dup(self._root)
        try:
            for depth, component in enumerate(above, start=1):
                closed = _allow_entry(component, descriptor)
                if closed is not None:
                    self._opened_up.setdefault("/".join(above[:depth]), closed)
                inner = os.open(component, _OPEN_DIRECTORY, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = inner
            yield descriptor, name
        finally:
            os.close(descriptor)

    def _unlink(self, path: str) -> None:
        with suppress(FileNotFoundError), self._parent(path) as (parent, name):
            os.unlink(name, dir_fd=parent)

    def _remove_directory(self, path: str) -> None:
        with suppress(FileNotFoundError), self._parent(path) as (parent, name):
            os.rmdir(name, dir_fd=parent)
            self._opened_up.pop(path, None)

    def _make_directory(self, path: str) -> None:
        with self._parent(path) as (parent, name):
            _remove_special(name, parent)
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=parent)

    def _write(self, path: str, entry: Entry, blob: WriteBlob) -> None:
        with self._parent(path) as (parent, name):
            temporary = temporary_name()
            try:
                if entry.is_link:
                    _write_link(temporary, parent, entry, blob)
                else:
                    _write_file(temporary, parent, entry, blob)
                os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
            except BaseException:
                with suppress(OSError):
                    os.unlink(temporary, dir_fd=parent)
                raise

    def _set_mode(self, path: str, mode: int) -> None:
        if path == TOP:
            os.fchmod(self._root, mode)
            return
        with suppress(FileNotFoundError), self._parent(path) as (parent, name):
            _chmod_directory(name, parent, mode)


def _write_file(name: str, parent: int, entry: Entry, blob: WriteBlob) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(name, flags, 0o600, dir_fd=parent)
    with open(descriptor, "wb") as stream:
        blob(entry.object_id, stream.write)
        stream.flush()
        os.fchmod(stream.fileno(), permission_bits(entry.mode))


def _write_link(name: str, parent: int, entry: Entry, blob: WriteBlob) -> None:
    target = bytearray()
    blob(entry.object_id, target.extend)
    os.symlink(bytes(target), os.fsencode(name), dir_fd=parent)


def _allow_entry(name: str, parent: int) -> int | None:
    """Makes a directory usable and returns the mode it had, or None if it was usable."""
    status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    if not stat.S_ISDIR(status.st_mode) or status.st_mode & 0o700 == 0o700:
        return None
    os.chmod(name, permission_bits(status.st_mode) | 0o700, dir_fd=parent)
    return permission_bits(status.st_mode)


def _chmod_directory(name: str, parent: int, mode: int) -> None:
    _allow_entry(name, parent)
    descriptor = os.open(name, _OPEN_DIRECTORY, dir_fd=parent)
    try:
        os.fchmod(descriptor, mode)
    finally:
        os.close(descriptor)


def _remove_special(name: str, parent: int) -> None:
    with suppress(FileNotFoundError):
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
        if not stat.S_ISDIR(status.st_mode):
            os.unlink(name, dir_fd=parent)


def _flush(descriptor: int) -> None:
    """Waits until everything on the sandbox's file system is on disk."""
    syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if syncfs is None or syncfs(descriptor) != 0:
        os.sync()
