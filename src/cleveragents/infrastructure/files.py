"""Durable writes: when a function returns, its file survives a power failure.

A file's content and its name are stored separately, by the file and by its directory, and the
system may write either first. So each function syncs the content before it gives the file its
final name, and the directory after that.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path

FULL_DISK = (errno.ENOSPC, errno.EDQUOT)
SYNCED_ONE_BY_ONE = 20
"""Up to so many files each is made durable by itself; beyond, the whole file system is."""


def fsync_directory(directory: Path) -> None:
    """Makes the names in a directory durable: files that were created, renamed or removed."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_file_system(descriptor: int) -> None:
    """Waits until everything on the file system of an open file is on disk."""
    import ctypes  # Few commands sync a file system, and it takes long to load.

    syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if syncfs is None or syncfs(descriptor) != 0:
        os.sync()


def sync_files(paths: Iterable[Path]) -> None:
    """Makes files durable that another program wrote, with their names.

    One that is gone by now was removed by that program: then it has the content elsewhere.
    """
    found = list(paths)
    if len(found) > SYNCED_ONE_BY_ONE:
        with _opened(found[0].parent) as descriptor:
            sync_file_system(descriptor)
        return
    for path in found:
        with suppress(FileNotFoundError), _opened(path) as descriptor:
            os.fsync(descriptor)
    for place in sorted({place for path in found for place in (path.parent, path.parent.parent)}):
        fsync_directory(place)


@contextmanager
def _opened(path: Path) -> Generator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def write_durably(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replaces a file so that after a kill it is either the old one or the new one, complete.

    The order matters. The content must be on disk before the rename, or a power failure can
    leave the new name on an empty file. The directory is synced after the rename, or the old
    file can come back after the caller has relied on the new one.
    """
    draft = draft_beside(path)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(descriptor)
        os.replace(draft, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(draft)
        raise
    fsync_directory(path.parent)


def overwrite_durably(spare: str, path: str, data: bytes) -> bool:
    """Writes `data` into the file `spare`, which is no longer needed, and renames it to `path`.

    No file is created or removed, which some file systems do slowly when it happens often.
    After a power failure, `path` has its old content or `data`: the spare file gets its new
    content, synced, before it takes the name.

    Returns:
        Whether there was a spare file of the same size; if not, nothing was written.
    """
    try:
        descriptor = os.open(spare, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        # Only in the same size: then the file needs no truncation, which a kill could separate
        # from the write.
        if os.fstat(descriptor).st_size != len(data):
            return False
        os.write(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.replace(spare, path)
    fsync_directory(Path(path).parent)
    return True


def draft_beside(path: str | Path) -> str:
    """Returns a temporary name that `agents gc` recognizes if a killed process left the file."""
    directory, name = os.path.split(path)
    return os.path.join(directory, f".{name}.{os.urandom(4).hex()}")


def copy_durably(source: Path, target: Path) -> None:
    """Copies a file of any size; the target appears only when the copy is complete."""
    draft = Path(draft_beside(target))
    try:
        shutil.copyfile(source, draft)
        with draft.open("rb") as stream:
            os.fsync(stream.fileno())
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    fsync_directory(target.parent)
