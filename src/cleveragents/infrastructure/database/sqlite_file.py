"""The SQLite file: recognizing, opening, replacing and copying it.

The header says whether a file is a database of CleverAgents. It is read before
SQLite opens the file, because SQLite may change a file that it only opens.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import stat
import threading
import time
from collections import Counter
from collections.abc import Generator
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from pathlib import Path
from urllib.parse import quote

from cleveragents.domain.errors import DatabaseError, SchemaVersionError
from cleveragents.infrastructure.database.failures import busy, damaged, denied
from cleveragents.infrastructure.database.session import text_from_sqlite
from cleveragents.infrastructure.file_locks import (
    lock_file,
    lock_holder,
    signed,
    take_lock,
)

APPLICATION_ID = 0x436C4167
"""`ClAg`, in bytes 68 to 71 of every database of CleverAgents (`PRAGMA application_id`)."""

_MAGIC = b"SQLite format 3\x00"
_HEADER_BYTES = 100
_APPLICATION_ID_BYTES = slice(68, 72)
_LOCK_POLL_SECONDS = 0.02


_in_use: Counter[tuple[int, int]] = Counter()
_counting = threading.Lock()


def take(path: Path) -> tuple[int, int]:
    """Marks the file as open in this process, until `let_go` of what is returned.

    Closing any descriptor of a file drops the locks that SQLite holds on it. So
    while SQLite has it open, `is_ours` must not open it, not even to read it.
    """
    status = path.stat()
    with _counting:
        _in_use[status.st_dev, status.st_ino] += 1
    return status.st_dev, status.st_ino


def let_go(identity: tuple[int, int]) -> None:
    with _counting:
        _in_use[identity] -= 1


def is_ours(path: Path) -> bool:
    """Returns whether there is a database; False if there is no file, or an empty one.

    Raises:
        SchemaVersionError: The file is not a SQLite database of CleverAgents.
        DatabaseError: The user may not read and write it, or it is not a file.
    """
    try:
        status = path.stat()
        if _in_use[status.st_dev, status.st_ino] > 0:
            return True
        if not stat.S_ISREG(status.st_mode):
            raise DatabaseError(
                f"There is no database at {path}: it is not a file",
                hint="Move it away, or set `core.database-url`",
                place=str(path),
            )
        with path.open("r+b", buffering=0) as file:
            header = file.read(_HEADER_BYTES)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise denied(str(path), error.strerror or str(error)) from error
    if not header:
        return False
    if not header.startswith(_MAGIC):
        raise damaged(str(path), "it is not a SQLite database")
    if len(header) < _HEADER_BYTES:
        raise damaged(str(path), "it ends within its header")
    if header[_APPLICATION_ID_BYTES] != APPLICATION_ID.to_bytes(4, "big"):
        raise SchemaVersionError(
            f"The database {path} belongs to another program",
            hint="It was left as it is; move it away, or set `core.database-url`",
            place=str(path),
        )
    return True


def connect(path: Path, *, busy_seconds: float, migrates: bool = False) -> sqlite3.Connection:
    """Opens an existing file. Only explicit statements begin a transaction.

    A migration gets the text as it is stored, since it writes it back. Foreign keys are off for
    it: SQLite can change a table only by creating it again, and dropping the old one would delete
    the rows that refer to it.
    """
    connection = sqlite3.connect(
        f"file:{quote(os.fsencode(path))}?mode=rw",
        uri=True,
        timeout=busy_seconds,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.text_factory = _stored_text if migrates else text_from_sqlite
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute(f"PRAGMA foreign_keys={'OFF' if migrates else 'ON'}")
    return connection


def _stored_text(stored: bytes) -> str:
    return stored.decode("utf-8", "surrogateescape")


@contextmanager
def lock_for_upgrade(path: Path, *, busy_seconds: float, shared: bool = False) -> Generator[None]:
    """Keeps other processes from creating or migrating the database during the block.

    Several processes may have the lock at the same time if all want it `shared`.

    The lock ends with the process. Its file stays: removing it would let two
    processes lock two different files.
    """
    with ExitStack() as held:
        try:
            descriptor = held.enter_context(lock_file(path.with_name(f"{path.name}.lock")))
        except OSError as error:
            raise denied(str(path), error.strerror or str(error)) from error
        deadline = time.monotonic() + busy_seconds
        while not take_lock(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX):
            if time.monotonic() > deadline:
                raise busy(str(path), [lock_holder(descriptor)])
            time.sleep(_LOCK_POLL_SECONDS)
        with nullcontext() if shared else signed(descriptor):
            yield


@contextmanager
def prepared(path: Path, draft: Path) -> Generator[Path]:
    """Creates `draft`, a private file, and durably renames it to `path` if the block succeeds.

    The caller MUST hold `lock_for_upgrade`, because a draft left by a killed process is removed.
    """
    _discard(draft)
    os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    try:
        yield draft
        _sync(draft)
        draft.replace(path)
        _sync(path.parent)
    except BaseException:
        _discard(draft)
        raise


def copy(path: Path, target: Path, *, busy_seconds: float) -> None:
    """Copies a consistent state of the database, durably, through SQLite's backup interface."""
    with (
        prepared(target, path.with_name(f"{path.name}.partial")) as draft,
        closing(connect(path, busy_seconds=busy_seconds)) as source,
        closing(connect(draft, busy_seconds=busy_seconds)) as copied,
    ):
        source.backup(copied)


def _discard(draft: Path) -> None:
    for suffix in ("", "-journal", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            draft.with_name(draft.name + suffix).unlink()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
