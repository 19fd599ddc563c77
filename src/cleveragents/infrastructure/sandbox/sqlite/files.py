"""SQLite databases that others may be using: a consistent copy that leaves no trace beside them.

Reading a database in write-ahead mode makes SQLite create `-wal` and `-shm` files
where they are missing, and a journal that a killed program left would be rolled
back in place. So the way of reading follows from what is there:

- rollback journal: read-only, with SQLite's ordinary locks;
- write-ahead mode, `-wal` and `-shm` there: read-only, sharing these with whoever uses them;
- write-ahead mode, at rest: as an unchanging file, and again if it changed meanwhile;
- left by a killed program (`-wal` without `-shm`, or a journal to roll back): the files are
  copied, and SQLite puts the copies in order.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote

PATIENCE_SECONDS = 15.0
"""How long to wait for another program's transaction."""
_PAUSE = 0.05
_KEPT_IN_MEMORY = 1 << 20
_WAIT_IN_ONE_CALL = 0.1
_VERSIONS = slice(18, 20)
_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")
_DAMAGED = ("SQLITE_NOTADB", "SQLITE_CORRUPT")
_LEFT_BY_A_KILLED_PROGRAM = "SQLITE_READONLY"

Signature = tuple[int, int, int, int]


class DatabaseBusyError(Exception):
    """Others kept the database locked, or kept changing it."""


class DatabaseChangedError(Exception):
    """Another program has written to the database since it was read."""


class DatabaseDamagedError(Exception):
    """The file is not a database, or one that SQLite cannot read."""


@dataclass(frozen=True)
class DatabaseFiles:
    """A database and the files SQLite keeps beside it."""

    main: Path

    @property
    def wal(self) -> Path:
        return self.main.with_name(f"{self.main.name}-wal")

    @property
    def shm(self) -> Path:
        return self.main.with_name(f"{self.main.name}-shm")

    @property
    def journal(self) -> Path:
        return self.main.with_name(f"{self.main.name}-journal")

    @property
    def companions(self) -> tuple[Path, Path, Path]:
        return (self.shm, self.wal, self.journal)

    def content_signature(self) -> tuple[Signature | None, ...]:
        """Returns what changes whenever a transaction is committed, and not when one begins."""
        main, wal, _ = self.signature()
        return (main, wal if wal and wal[1] else None)

    def signature(self) -> tuple[Signature | None, ...]:
        """Returns what changes whenever a transaction ends."""
        main, wal, journal = (_signature(path) for path in (self.main, self.wal, self.journal))
        # For the superuser SQLite sets the owner of these again whenever it reads them.
        return (main, wal and (*wal[:3], 0), journal and (*journal[:3], 0))


def copy_database(source: Path, target: Path, patience: float = PATIENCE_SECONDS) -> None:
    """Writes the database as of its last finished transaction to a new file.

    Raises:
        DatabaseBusyError: it stayed locked.
        DatabaseDamagedError: it is not a database.
        sqlite3.Error: the copy cannot be written.
    """
    files, deadline = DatabaseFiles(source), time.monotonic() + patience
    while True:
        before = files.signature()
        if _is_copied(files, target, deadline) or files.signature() == before:
            return
        target.unlink()
        if time.monotonic() > deadline:
            raise DatabaseBusyError(str(source))
        time.sleep(_PAUSE)


def back_up(
    source: sqlite3.Connection,
    target: sqlite3.Connection,
    deadline: float,
    check: Callable[[], None] | None = None,
) -> None:
    """Copies all pages as one transaction, waiting for locks.

    Args:
        source: What is copied.
        target: What becomes the same.
        deadline: When to stop waiting.
        check: Called when no other program can write to the target; if it raises, the
            target stays as it was.

    Raises:
        DatabaseBusyError: others keep one of them locked.
    """
    waiting = [] if check is None else [check]

    def watch(status: int, *_: int) -> None:
        busy = status & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
        if busy and time.monotonic() > deadline:
            raise DatabaseBusyError("the database is locked")
        if status == sqlite3.SQLITE_OK and waiting:
            waiting.pop()()

    source.backup(target, pages=_portion(source) if waiting else -1, progress=watch, sleep=_PAUSE)


def _portion(source: sqlite3.Connection) -> int:
    """Returns how many pages to copy before looking whether all is well.

    Not all of them, because then it would be done, and so few that SQLite keeps them in memory.
    """
    (count,) = source.execute("PRAGMA page_count").fetchone()
    (size,) = source.execute("PRAGMA page_size").fetchone()
    return max(1, min(count // 2, _KEPT_IN_MEMORY // size))


def connect(path: Path, options: str) -> sqlite3.Connection:
    """Opens a database by its URI options; SQL that its schema holds is not trusted."""
    address = f"file:{quote(os.fsencode(path.absolute()))}?{options}"
    connection = sqlite3.connect(address, uri=True, timeout=_WAIT_IN_ONE_CALL, isolation_level=None)
    connection.execute("PRAGMA trusted_schema=OFF")
    return connection


@contextmanager
def our_errors() -> Generator[None]:
    """Tells a database that is in use from one that is damaged."""
    try:
        yield
    except sqlite3.Error as error:
        _translate(error)


def is_write_ahead(path: Path) -> bool:
    """Returns whether the header asks for a write-ahead log."""
    with path.open("rb") as stream:
        return stream.read(_VERSIONS.stop)[_VERSIONS] == b"\2\2"


def _is_copied(files: DatabaseFiles, target: Path, deadline: float) -> bool:
    """Copies without writing anything beside the source.

    Returns:
        Whether SQLite's locks vouch for the copy; if not, the source must not have changed.
    """
    with our_errors():
        if not files.wal.exists():
            if files.main.stat().st_size == 0:
                target.touch()
                return False
            if is_write_ahead(files.main):
                _copy_through(files.main, "immutable=1", target, deadline)
                return False
        elif not files.shm.exists():
            _copy_in_order(files, target, deadline)
            return False
        try:
            _copy_through(files.main, "mode=ro", target, deadline)
        except sqlite3.OperationalError as error:
            if not _name(error).startswith(_LEFT_BY_A_KILLED_PROGRAM):
                raise
            target.unlink(missing_ok=True)
            _copy_in_order(files, target, deadline)
            return False
    return True


def _copy_through(source: Path, options: str, target: Path, deadline: float) -> None:
    with (
        closing(connect(source, options)) as reader,
        closing(connect(target, "mode=rwc")) as writer,
    ):
        # The target is nobody's yet: losing it in a crash loses nothing.
        writer.execute("PRAGMA journal_mode=OFF")
        writer.execute("PRAGMA synchronous=OFF")
        back_up(reader, writer, deadline)


def _copy_in_order(files: DatabaseFiles, target: Path, deadline: float) -> None:
    """Has SQLite finish or undo, on a copy, what a killed program left."""
    copy = DatabaseFiles(target.with_name(f"{target.name}.raw"))
    pairs = ((files.main, copy.main), (files.wal, copy.wal), (files.journal, copy.journal))
    try:
        for original, place in pairs:
            if original.exists():
                shutil.copyfile(original, place)
        _copy_through(copy.main, "mode=rw", target, deadline)
    finally:
        for place in (copy.main, *copy.companions):
            place.unlink(missing_ok=True)


def _translate(error: sqlite3.Error) -> NoReturn:
    if _name(error).startswith(_BUSY):
        raise DatabaseBusyError(str(error)) from error
    if _name(error).startswith(_DAMAGED):
        raise DatabaseDamagedError(str(error)) from error
    raise error


def _name(error: sqlite3.Error) -> str:
    return str(getattr(error, "sqlite_errorname", ""))


def _signature(path: Path) -> Signature | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
