"""Small durable acts on files: what must be on disk before the next line runs."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path


def fsync_directory(directory: Path) -> None:
    """Makes the names in a directory durable."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_durably(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replaces a file so that after a kill it is the old one or the new one, whole."""
    _replace(path, data, mode)
    fsync_directory(path.parent)


def overwrite_durably(spare: str, path: str, data: bytes) -> bool:
    """Makes `path` of a file that is not needed any more and holds as many bytes.

    No file is made and none removed, which some file systems are slow at if it happens often.
    Whatever survives a power failure, the file holds what it held or `data`.

    Returns:
        Whether there was such a file.
    """
    try:
        descriptor = os.open(spare, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        if os.fstat(descriptor).st_size != len(data):
            return False
        os.write(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.replace(spare, path)
    fsync_directory(Path(path).parent)
    return True


def write_note(path: Path, data: bytes) -> None:
    """Writes what can be found out again: after a kill it may be missing, or a part of it.

    Nothing is renamed over what is there: some file systems wait for the disk then.
    """
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as stream:
        stream.write(data)


def _replace(path: Path, data: bytes, mode: int) -> None:
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


def draft_beside(path: str | Path) -> str:
    """Returns a name by which `agents gc` knows what a killed process left."""
    directory, name = os.path.split(path)
    return os.path.join(directory, f".{name}.{secrets.token_hex(4)}")


def copy_durably(source: Path, target: Path) -> None:
    """Copies a file of any size under a name that appears only when the copy is whole."""
    draft = Path(draft_beside(target))
    try:
        shutil.copyfile(source, draft)
        with draft.open("rb") as stream:
            os.fsync(stream.fileno())
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    fsync_directory(target.parent)


@contextmanager
def exclusive(path: Path) -> Generator[None]:
    """Keeps other processes out while the block runs; a killed one lets go by itself."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
