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
    _replace(path, data, mode, durable=True)
    fsync_directory(path.parent)


def write_whole(path: Path, data: bytes) -> None:
    """Like `write_durably` as far as a kill goes; a power failure may lose it."""
    _replace(path, data, 0o600, durable=False)


def _replace(path: Path, data: bytes, mode: int, *, durable: bool) -> None:
    directory, name = os.path.split(path)
    draft = os.path.join(directory, f".{name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            if durable:
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
