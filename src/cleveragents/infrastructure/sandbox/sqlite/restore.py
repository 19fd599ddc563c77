"""Putting a database back: as one transaction where that is possible, by replacing it otherwise."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from cleveragents.infrastructure.files import fsync_directory
from cleveragents.infrastructure.sandbox.sqlite.chunks import (
    DatabaseState,
    FileKind,
    set_journaling,
)
from cleveragents.infrastructure.sandbox.sqlite.files import (
    DatabaseBusyError,
    DatabaseDamagedError,
    DatabaseFiles,
    back_up,
    connect,
    our_errors,
)


def put_back(
    place: Path,
    content: Path,
    wanted: DatabaseState,
    present: FileKind,
    patience: float,
    check: Callable[[], None] | None = None,
) -> None:
    """Makes what is at `place` the wanted state; `content` holds its bytes and may be used up.

    Connections that others hold see the change as one transaction of someone
    else, as long as both states are databases. A kill leaves the old state, the
    new one, or a journal that SQLite rolls back; it can be done again.

    Args:
        place: Where it is.
        content: Its bytes to be.
        wanted: Its state to be.
        present: What is there.
        patience: Seconds to wait for others.
        check: Called as late as can be; if it raises, nothing is changed.

    Raises:
        DatabaseBusyError: others keep it locked; its content is as it was.
    """
    if check is not None:
        check()
    if wanted.kind is FileKind.MISSING:
        _clear(place)
        place.unlink(missing_ok=True)
    elif not (
        wanted.kind is FileKind.DATABASE
        and present is FileKind.DATABASE
        and _put_back_inside(place, content, wanted, time.monotonic() + patience, check)
    ):
        _replace(place, content, wanted)
    if wanted.kind is not FileKind.MISSING:
        os.chmod(place, wanted.mode)
    fsync_directory(place.parent)


def _put_back_inside(
    place: Path,
    content: Path,
    wanted: DatabaseState,
    deadline: float,
    check: Callable[[], None] | None,
) -> bool:
    """Returns False when what is there turns out not to be a database."""
    try:
        with our_errors(), closing(connect(place, "mode=rw")) as target:
            with closing(connect(content, "mode=ro")) as source:
                leaves_write_ahead = _leaves_write_ahead(target, source, wanted)
                # A single page is copied and committed in one step, so that `back_up` has no
                # moment in between at which to check.
                if leaves_write_ahead or (check is not None and _is_one_page(source)):
                    _keep_others_out(target, deadline, check)
                    check = None
                if leaves_write_ahead:
                    _when_alone(target, "PRAGMA journal_mode=delete", deadline)
                back_up(source, target, deadline, check)
            if wanted.write_ahead:
                _when_alone(target, "PRAGMA journal_mode=wal", deadline)
    except DatabaseDamagedError:
        return False
    return True


def _leaves_write_ahead(
    target: sqlite3.Connection, source: sqlite3.Connection, wanted: DatabaseState
) -> bool:
    """In write-ahead mode SQLite cannot change the size of pages."""
    (mode,) = target.execute("PRAGMA journal_mode").fetchone()
    sizes = {each.execute("PRAGMA page_size").fetchone() for each in (target, source)}
    return mode == "wal" and (not wanted.write_ahead or len(sizes) > 1)


def _is_one_page(source: sqlite3.Connection) -> bool:
    (count,) = source.execute("PRAGMA page_count").fetchone()
    return count <= 1


def _keep_others_out(
    target: sqlite3.Connection, deadline: float, check: Callable[[], None] | None
) -> None:
    """Locks the database until the connection is closed, then runs `check`.

    In this locking mode SQLite keeps the lock of the first write transaction, also while the
    journal mode changes. So nobody can write after `check`. Nothing is written before it.
    """
    target.execute("PRAGMA locking_mode=EXCLUSIVE")
    _when_alone(target, "BEGIN EXCLUSIVE", deadline)
    if check is not None:
        check()
    target.execute("COMMIT")


def _when_alone(target: sqlite3.Connection, statement: str, deadline: float) -> None:
    """Runs what needs the database for itself, and waits for others to leave it."""
    while True:
        try:
            with our_errors():
                target.execute(statement)
            return
        except DatabaseBusyError:
            if time.monotonic() > deadline:
                raise


def _replace(place: Path, content: Path, wanted: DatabaseState) -> None:
    """The companions go first: SQLite would apply an old log to the new file."""
    if wanted.kind is FileKind.DATABASE:
        set_journaling(content, write_ahead=wanted.write_ahead)
    with content.open("rb") as stream:
        os.fsync(stream.fileno())
    _clear(place)
    content.replace(place)


def _clear(place: Path) -> None:
    for companion in DatabaseFiles(place).companions:
        companion.unlink(missing_ok=True)
    fsync_directory(place.parent)
