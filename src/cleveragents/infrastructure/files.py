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


def write_note(path: Path, data: bytes) -> None:
    """Writes what can be found out again: after a kill it may be missing, or a part of it.

    Nothing is renamed over what is there: some file systems wait for the disk then.
    """
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as stream:
        stream.write(data)


def _replace(path: Path, data: bytes, mode: int) -> None:
    directory, name = os.path.split(path)
    draft = os.path.join(directory, f".{name}.{secrets.token_hex(4)}")
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


def copy_durably(source: Path, target: Path) -> None:
    """Copies a file of any size under a name that appears only when the copy is whole."""
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
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
