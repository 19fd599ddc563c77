"""Bringing files into a directory of the user's, each at one stroke, and back again.

Every file is written whole beside its place and renamed into it, so at any moment each path
is either as it was or as it is to be, and a look at the disk says which. That makes both ways
repeatable after a kill. Nothing is written through a symlink.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from cleveragents.infrastructure.files import fsync_directory
from cleveragents.infrastructure.sandbox.files.writer import WriteBlob
from cleveragents.infrastructure.sandbox.git.objects import (
    ObjectChangedError,
    ObjectKind,
    hash_file,
    object_id,
)
from cleveragents.infrastructure.sandbox.store.captured_state import TreeEntry, ancestors

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class PathUpdate:
    """What was found at a path, and what is to be there; None is nothing."""

    path: str
    before: TreeEntry | None
    after: TreeEntry | None


@dataclass(frozen=True)
class DirectoryUpdate:
    """A directory, with its permission bits before and after; None is no directory."""

    path: str
    before: int | None
    after: int | None


@dataclass(frozen=True)
class PathUpdates:
    """Everything that changes below one directory."""

    files: Sequence[PathUpdate]
    directories: Sequence[DirectoryUpdate]

    @property
    def is_nothing(self) -> bool:
        return not (self.files or self.directories)

    def reversed(self) -> PathUpdates:
        """Returns the way back."""
        return PathUpdates(
            [PathUpdate(item.path, item.after, item.before) for item in self.files],
            [DirectoryUpdate(item.path, item.after, item.before) for item in self.directories],
        )


class ProjectWriter:
    """A directory of the user's, looked at and written to by path."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def entry(self, path: str) -> TreeEntry | None:
        """Returns the file or symlink at a path; None for nothing, or for a directory.

        Raises:
            OSError: something else is there, or it cannot be read.
        """
        try:
            with self._parent(path) as (parent, name):
                return _entry(parent, name)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def directory_mode(self, path: str) -> int | None:
        """Returns the permission bits of a directory, or None if there is none."""
        try:
            with self._parent(path) as (parent, name):
                status = os.stat(name, dir_fd=parent, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return stat.S_IMODE(status.st_mode) if stat.S_ISDIR(status.st_mode) else None

    def below(self, path: str) -> list[str]:
        """Returns everything in a directory, however deep, that is no directory."""
        found: list[str] = []
        for directory, names, files in os.walk(self._root / path):
            links = [name for name in names if (Path(directory) / name).is_symlink()]
            found += [
                str((Path(directory) / name).relative_to(self._root)) for name in (*files, *links)
            ]
        return found

    def others(self, wanted: PathUpdates) -> list[str]:
        """Returns the paths at which there is neither what was found nor what is to be."""
        return [
            item.path
            for item in wanted.files
            if self.entry(item.path) not in (item.before, item.after)
        ]

    def bring(
        self, wanted: PathUpdates, staging: Path, blob: WriteBlob, placed: Callable[[], None]
    ) -> None:
        """Makes everything what it is to be; what is so already stays untouched.

        Args:
            wanted: What is to be where.
            staging: A directory on the same file system; it is made and removed.
            blob: Gives the bytes of an object.
            placed: Called after each path.

        Raises:
            OSError: something could not be written; what was done so far is still done.
        """
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir(mode=0o700)
        for item in wanted.directories:
            self._open_up(item.path)
        for item in wanted.files:
            if item.after is None and self._is_to_do(item):
                self._unlink(item.path)
                placed()
        for item in sorted(wanted.directories, key=lambda item: -item.path.count("/")):
            if item.after is None:
                self._remove_directory(item.path)
        for item in sorted(wanted.directories, key=lambda item: item.path.count("/")):
            if item.after is not None:
                self._make_directory(item.path, item.after)
        for number, item in enumerate(wanted.files):
            if item.after is not None and self._is_to_do(item):
                self._put(item.path, item.after, staging / str(number), blob)
                placed()
        for item in wanted.directories:
            # One that was to go and holds something of the user's stays as it was.
            mode = item.before if item.after is None else item.after
            if mode is not None and self.directory_mode(item.path) is not None:
                self._set_mode(item.path, mode)
        self._sync(wanted)
        shutil.rmtree(staging)

    def _is_to_do(self, item: PathUpdate) -> bool:
        """Says whether a path is as it was; raises where somebody has just changed it."""
        present = self.entry(item.path)
        if present not in (item.before, item.after):
            raise OSError(None, f"{item.path} is being changed by somebody else")
        return present != item.after

    @contextmanager
    def _parent(self, path: str) -> Generator[tuple[int, str]]:
        """Yields a descriptor of the directory that a path is in, and its last name."""
        *above, name = path.split("/")
        descriptor = os.open(self._root, _DIRECTORY)
        try:
            for component in above:
                inner = os.open(component, _DIRECTORY, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = inner
            yield descriptor, name
        finally:
            os.close(descriptor)

    def _unlink(self, path: str) -> None:
        with self._parent(path) as (parent, name):
            os.unlink(name, dir_fd=parent)

    def _remove_directory(self, path: str) -> None:
        """Removes a directory unless something of the user's is in it."""
        with suppress(OSError), self._parent(path) as (parent, name):
            os.rmdir(name, dir_fd=parent)

    def _make_directory(self, path: str, mode: int) -> None:
        with suppress(FileExistsError), self._parent(path) as (parent, name):
            os.mkdir(name, mode | 0o700, dir_fd=parent)

    def _open_up(self, path: str) -> None:
        """Makes a directory that gets other bits, or goes, one that can be written to."""
        mode = self.directory_mode(path)
        if mode is not None and mode & 0o700 != 0o700:
            self._set_mode(path, mode | 0o700)

    def _set_mode(self, path: str, mode: int) -> None:
        if self.directory_mode(path) != mode:
            with self._parent(path) as (parent, name):
                os.chmod(name, mode, dir_fd=parent)

    def _put(self, path: str, entry: TreeEntry, draft: Path, blob: WriteBlob) -> None:
        if entry.is_link:
            target = bytearray()
            blob(entry.object_id, target.extend)
            os.symlink(bytes(target), os.fsencode(draft))
        else:
            descriptor = os.open(draft, _CREATE, 0o600)
            with open(descriptor, "wb") as stream:
                blob(entry.object_id, stream.write)
                stream.flush()
                os.fchmod(descriptor, stat.S_IMODE(entry.mode))
                os.fsync(descriptor)
        with self._parent(path) as (parent, name):
            os.rename(draft, name, dst_dir_fd=parent)

    def _sync(self, wanted: PathUpdates) -> None:
        paths = [*(item.path for item in wanted.files), *(item.path for item in wanted.directories)]
        for directory in sorted({path.rpartition("/")[0] for path in paths}):
            with suppress(FileNotFoundError, NotADirectoryError):
                fsync_directory(self._root / directory)


def _entry(parent: int, name: str) -> TreeEntry | None:
    status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        target = os.readlink(os.fsencode(name), dir_fd=parent)
        return TreeEntry(object_id(ObjectKind.BLOB, target), status.st_mode)
    if stat.S_ISDIR(status.st_mode):
        return None
    if not stat.S_ISREG(status.st_mode):
        raise OSError(None, f"{name} is neither a file nor a symlink")
    descriptor = os.open(name, _READ, dir_fd=parent)
    try:
        return TreeEntry(hash_file(descriptor, status.st_size), status.st_mode)
    except ObjectChangedError as error:
        raise OSError(None, f"{name} is being written to") from error
    finally:
        os.close(descriptor)


def directories_above(place: ProjectWriter, paths: Iterable[str]) -> set[str]:
    """Returns the directories above some paths that are not there."""
    above = {directory for path in paths for directory in ancestors(path)}
    return {directory for directory in above if place.directory_mode(directory) is None}
