"""Writing files into a directory of the user's, and undoing it.

Every new file is written whole beside the project, and every old one gets a second name there,
before the first path changes. Then everything is renamed, back as well as forth, so that a full
disk cannot stop it in the middle. So at any moment each path is
either as it was found or as it will be, and a look at the disk says which. That makes both
directions repeatable after a kill. No symlink is followed: paths are opened name by name, because
the user may replace a directory by a symlink at any time.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.system import FaultPoints
from cleveragents.domain.errors import TargetChangedError
from cleveragents.domain.sandboxes.uncaptured import special_kind
from cleveragents.infrastructure.files import fsync_directory
from cleveragents.infrastructure.sandbox.apply.journal import (
    BEGUN,
    WRITTEN,
    ApplyJournal,
    ApplyProgress,
    PathUpdate,
    PathUpdates,
)
from cleveragents.infrastructure.sandbox.git.objects import (
    NewObject,
    ObjectChangedError,
    ObjectKind,
    hash_file,
)
from cleveragents.infrastructure.sandbox.store.blobs import BlobReader
from cleveragents.infrastructure.sandbox.store.captured_state import TreeEntry, ancestors
from cleveragents.infrastructure.system import counted

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_SHOWN = 10
_NEW, _OLD, _RESERVE = "new-", "old-", "reserve"
"""What the names of staged files begin with, and the file that keeps room for undoing."""
_RESERVED_BYTES = 64 << 10


class SpecialFileError(OSError):
    """A FIFO, socket or device is where a file should be read or written."""

    def __init__(self, path: str, kind: str) -> None:
        self.reason = f"`{path}` is a special file ({kind})"
        super().__init__(None, self.reason)


@dataclass(frozen=True)
class ProjectFiles:
    """A directory of the user, read path by path."""

    root: Path

    def entry(self, path: str) -> TreeEntry | None:
        """Returns the file or symlink at a path; None for nothing, or for a directory.

        Raises:
            OSError: something else is there, or it cannot be read.
        """
        try:
            with self.parent(path) as (parent, name):
                status = os.stat(name, dir_fd=parent, follow_symlinks=False)
                if stat.S_ISLNK(status.st_mode):
                    target = os.readlink(os.fsencode(name), dir_fd=parent)
                    return TreeEntry(NewObject.of(ObjectKind.BLOB, target).id, status.st_mode)
                if stat.S_ISDIR(status.st_mode):
                    return None
                if not stat.S_ISREG(status.st_mode):
                    raise SpecialFileError(path, special_kind(status.st_mode))
                descriptor = os.open(name, _READ, dir_fd=parent)
                try:
                    return TreeEntry(hash_file(descriptor, status.st_size), status.st_mode)
                except ObjectChangedError as error:
                    raise OSError(None, f"{name} is being written to") from error
                finally:
                    os.close(descriptor)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def directory_mode(self, path: str) -> int | None:
        """Returns the permission bits of a directory, or None if there is none."""
        try:
            with self.parent(path) as (parent, name):
                status = os.stat(name, dir_fd=parent, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return stat.S_IMODE(status.st_mode) if stat.S_ISDIR(status.st_mode) else None

    def below(self, path: str) -> list[str]:
        """Returns everything in a directory, however deep, that is not a directory."""
        found: list[str] = []
        for directory, names, files in os.walk(self.root / path):
            links = [name for name in names if (Path(directory) / name).is_symlink()]
            found += [
                str((Path(directory) / name).relative_to(self.root)) for name in (*files, *links)
            ]
        return found

    @contextmanager
    def parent(self, path: str) -> Generator[tuple[int, str]]:
        """Yields a descriptor of the directory that a path is in, and its last name."""
        *above, name = path.split("/")
        descriptor = os.open(self.root, _DIRECTORY)
        try:
            for component in above:
                inner = os.open(component, _DIRECTORY, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = inner
            yield descriptor, name
        finally:
            os.close(descriptor)


class ProjectWriter:
    """Writes the files of one journal, or undoes that."""

    def __init__(
        self,
        journal: ApplyJournal,
        objects: BlobReader,
        progress: ApplyProgress,
        faults: FaultPoints,
    ) -> None:
        self._files = ProjectFiles(journal.root)
        self._updates = journal.files
        self._objects = objects
        self._faults = faults
        self.progress = progress
        # Files can be renamed on their own file system only; `.git` may be on another one.
        git_dir, root = journal.git_dir, journal.root
        hidden = git_dir is not None and git_dir.stat().st_dev == root.stat().st_dev
        place = git_dir if hidden and git_dir is not None else root
        self._staging = place / f".cleveragents-apply-{journal.plan_id}"
        # Undoing writes a lock, a ref and the index that was there.
        index = journal.git_dir / "index" if journal.git_dir is not None else None
        size = index.stat().st_size if index is not None and index.is_file() else 0
        self._reserved = _RESERVED_BYTES + 4 * size

    def refuse_others(self) -> None:
        """Raises TargetChangedError if a file is neither as it was found nor as it will be."""
        others = [
            item.path
            for item in self._updates.files
            if self._files.entry(item.path) not in (item.before, item.after)
        ]
        if others:
            raise TargetChangedError(
                str(self._files.root),
                f"{', '.join(others[:_SHOWN])} changed",
                hint="Restore or move away what was changed there, then try again",
            )

    def refuse_unwritable(self) -> None:
        """Raises OSError if something cannot be written; nothing is touched to find that out.

        `access` says so for the superuser too, who may write anywhere but to a file system that
        is mounted read-only and to what is immutable.
        """
        paths = [item.path for item in (*self._updates.files, *self._updates.directories)]
        if not paths:
            return
        # A directory whose bits the plan sets may forbid us to write to it until we set them.
        root, mode_of = str(self._files.root), self._files.directory_mode
        ours = {i.path for i in self._updates.directories if _is_owned(f"{root}/{i.path}")}
        # The directory that exists and a path is in, or will be in.
        above = {
            next((place for place in ancestors(path) if mode_of(place) is not None), ".")
            for path in paths
        }
        places = [f"{root}/{place}" for place in sorted(above - ours)]
        for directory in (str(self._staging.parent), *places):
            if not os.access(directory, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, "Permission denied", directory)
        for item in self._updates.files:
            if item.before is not None and not stat.S_ISLNK(item.before.mode):
                _refuse_immutable(f"{root}/{item.path}")

    def write(self) -> None:
        """Writes everything, unless that was done before: the user may have changed files since."""
        if not (self._updates.files or self._updates.directories) or self.progress.has(WRITTEN):
            return
        self.refuse_others()
        if not self.progress.has(BEGUN):
            self._stage()
            self._faults.reach(FaultPoint.FILES_STAGED)
            self.progress.note(BEGUN)
        self._apply(self._updates, _NEW)
        self.progress.note(WRITTEN)

    def release(self) -> None:
        """Drops what only undoing needs; the journal still has the bytes."""
        shutil.rmtree(self._staging, ignore_errors=True)

    def free_reserve(self) -> None:
        """Gives the room back that was kept for undoing."""
        (self._staging / _RESERVE).unlink(missing_ok=True)

    def undo(self) -> None:
        """Restores what was found, if writing has begun; removes what a kill left beside it."""
        self.free_reserve()
        if self.progress.has(BEGUN):
            # From here on some files may be missing again, so `write` must not skip them.
            self.progress.drop(WRITTEN)
            self._apply(self._updates.reversed(), _OLD)
            self.progress.drop(BEGUN)
        self.release()

    def _stage(self) -> None:
        """Writes all new files beside the project, and gives all old ones a second name there."""
        shutil.rmtree(self._staging, ignore_errors=True)
        self._staging.mkdir(mode=0o700)
        for number, item in enumerate(counted("Writing files", self._updates.files)):
            if item.after is not None and self._is_to_do(item):
                self._write_draft(item.after, self._staging / f"{_NEW}{number}")
            if item.before is not None:
                # Where that is impossible, undoing writes the bytes that the journal has.
                with suppress(OSError), self._files.parent(item.path) as (parent, name):
                    os.link(
                        *(name, self._staging / f"{_OLD}{number}"),
                        src_dir_fd=parent,
                        follow_symlinks=False,
                    )
        descriptor = os.open(self._staging / _RESERVE, _CREATE, 0o600)
        try:
            os.posix_fallocate(descriptor, 0, self._reserved)
        finally:
            os.close(descriptor)
        fsync_directory(self._staging)

    def _apply(self, updates: PathUpdates, drafts: str) -> None:
        """Makes everything as it will be; what is so already is not touched.

        The order matters: a file may take the path of a directory that goes, and a directory
        that of a file. So everything that goes goes first, directories from the inside out.

        Args:
            updates: What to do.
            drafts: What the names of the staged files begin with.

        Raises:
            OSError: something could not be written; what was done so far is still done.
        """
        for item in updates.directories:
            # One that goes or gets other bits may forbid us to write to it.
            mode = self._files.directory_mode(item.path)
            if mode is not None and mode & 0o700 != 0o700:
                self._set_mode(item.path, mode | 0o700)
        for item in updates.files:
            if item.after is None and self._is_to_do(item):
                with self._files.parent(item.path) as (parent, name):
                    os.unlink(name, dir_fd=parent)
                self._faults.reach(FaultPoint.FILE_PLACED)
        outside_in = sorted(updates.directories, key=lambda item: item.path.count("/"))
        for item in reversed(outside_in):
            if item.after is None:  # It stays if something of the user's is in it.
                with suppress(OSError), self._files.parent(item.path) as (parent, name):
                    os.rmdir(name, dir_fd=parent)
        for item in outside_in:
            if item.after is not None:
                with suppress(FileExistsError), self._files.parent(item.path) as (parent, name):
                    os.mkdir(name, item.after | 0o700, dir_fd=parent)
        for number, item in enumerate(counted("Moving files", updates.files)):
            if item.after is not None and self._is_to_do(item):
                self._place(item.path, item.after, self._staging / f"{drafts}{number}")
                self._faults.reach(FaultPoint.FILE_PLACED)
        for item in updates.directories:
            # One that was to go and holds something of the user's stays as it was.
            mode = item.before if item.after is None else item.after
            if mode is not None and self._files.directory_mode(item.path) is not None:
                self._set_mode(item.path, mode)
        paths = [item.path for item in (*updates.files, *updates.directories)]
        for directory in sorted({path.rpartition("/")[0] for path in paths}):
            with suppress(FileNotFoundError, NotADirectoryError):
                fsync_directory(self._files.root / directory)

    def _is_to_do(self, item: PathUpdate) -> bool:
        """Returns whether a path is unchanged; raises if another program has just changed it."""
        present = self._files.entry(item.path)
        if present not in (item.before, item.after):
            raise OSError(None, f"another program is changing {item.path}")
        return present != item.after

    def _set_mode(self, path: str, mode: int) -> None:
        if self._files.directory_mode(path) != mode:
            with self._files.parent(path) as (parent, name):
                os.chmod(name, mode, dir_fd=parent)

    def _place(self, path: str, entry: TreeEntry, draft: Path) -> None:
        """Renames a draft to its path; one that is missing is written first."""
        if not os.path.lexists(draft):
            self._staging.mkdir(mode=0o700, exist_ok=True)
            self._write_draft(entry, draft)
        with self._files.parent(path) as (parent, name):
            os.rename(draft, name, dst_dir_fd=parent)

    def _write_draft(self, entry: TreeEntry, draft: Path) -> None:
        if stat.S_ISLNK(entry.mode):
            os.symlink(self._objects.read(entry.object_id), os.fsencode(draft))
        else:
            descriptor = os.open(draft, _CREATE, 0o600)
            with open(descriptor, "wb") as stream:
                self._objects.copy(entry.object_id, stream.write)
                stream.flush()
                os.fchmod(descriptor, stat.S_IMODE(entry.mode))
                os.fsync(descriptor)


def _is_owned(directory: str) -> bool:
    """Says whether we may set the permission bits of a directory, and so write to it."""
    try:
        owner = os.stat(directory, follow_symlinks=False).st_uid
    except OSError:
        return False
    if os.geteuid() == 0:
        return os.access(directory, os.W_OK)  # Bits do not stop the superuser.
    return os.geteuid() == owner


def _refuse_immutable(path: str) -> None:
    """Raises PermissionError for a file that cannot be replaced though its directory is ours.

    Its own permission bits do not matter: a rename replaces it.
    """
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError as error:
        if error.errno == errno.EPERM:
            raise
