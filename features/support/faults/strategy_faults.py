"""What may befall directories and databases while sandboxes are made of them."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from features.support.sandboxes.sandbox_bench import SandboxBench
from features.support.sandboxes.strategy_bench import StrategyBench

from cleveragents.infrastructure.sandbox.create import (
    directory_copy,
    tree_copy,
)
from cleveragents.infrastructure.sandbox.files import overlay_mounts
from cleveragents.infrastructure.sandbox.files.overlay_mounts import mount_overlay, unmount
from cleveragents.infrastructure.sandbox.sqlite import files as sqlite_files
from cleveragents.infrastructure.sandbox.store import file_copy
from cleveragents.testing.sqlite import store as contract

Surroundings = Callable[[StrategyBench], AbstractContextManager[object]]


def refusing(number: int) -> Callable[..., int]:
    def refuse(*_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number))

    return refuse


@contextmanager
def without_permission(work: StrategyBench, *closed: str) -> Iterator[None]:
    """The superuser may do everything, so somebody else does it."""
    with SandboxBench(work.world).as_ordinary_user():
        for name in closed:
            (work.data / name).chmod(0)
        try:
            yield
        finally:
            for name in closed:
                (work.data / name).chmod(0o700)


@contextmanager
def once_measured(act: Callable[[], object]) -> Iterator[None]:
    """Does something after the room was measured and before anything is copied."""
    measure = shutil.disk_usage

    def and_act(path: Path) -> Any:
        act()
        return measure(path)

    with patch.object(shutil, "disk_usage", and_act):
        yield


@contextmanager
def sharing(work: StrategyBench, files: str) -> Iterator[None]:
    """A file system that shares bytes; it is asked once more than there are files, to find out."""
    left = iter(range(10 if files == "all files" else 2))

    def clone(source: int, target: int) -> bool:
        if next(left, None) is None:
            return False
        os.lseek(source, 0, os.SEEK_SET)
        os.write(target, os.read(source, 1 << 20))
        return True

    with patch.object(file_copy, "clone", clone), patch.object(tree_copy, "clone", clone):
        yield


def too_small(_: StrategyBench) -> AbstractContextManager[object]:
    full = shutil.disk_usage("/")._replace(free=1000)
    return patch.object(shutil, "disk_usage", lambda _: full)


def gone(work: StrategyBench) -> AbstractContextManager[object]:
    shutil.rmtree(work.data)
    return once_measured(lambda: None)


COPYING: dict[str, Surroundings] = {
    "a file may not be read": lambda work: without_permission(work, "d/f"),
    "a directory may not be read": lambda work: without_permission(work, "d"),
    "the disk is too small": too_small,
    "the disk is full half-way": lambda _: patch.object(
        directory_copy, "copy_content", refusing(errno.ENOSPC)
    ),
    "the directory has gone": gone,
    "the directory goes meanwhile": lambda work: once_measured(lambda: shutil.rmtree(work.data)),
    "reading fails": lambda _: patch.object(os, "copy_file_range", refusing(errno.EIO)),
}


def kernel_refuses(reason: str) -> AbstractContextManager[object]:
    number = getattr(errno, reason, 0)
    return patch.object(os, "copy_file_range", refusing(number) if number else lambda *_: 0)


@contextmanager
def while_looking(work: StrategyBench, command: str) -> Iterator[None]:
    """Runs a command when the first file is looked at."""
    probe = tree_copy.method_between

    def and_run(source: int, target: Path) -> object:
        work.shell(command, work.data)
        return probe(source, target)

    with patch.object(tree_copy, "method_between", and_run):
        yield


def leftover(work: StrategyBench, what: str) -> Path:
    """Makes what a process of another plan left, or still has."""
    draft = work.home / "sandboxes" / "OTHER" / ".data.draft"
    (draft / "inside").mkdir(parents=True)
    if what == "a draft half removed":
        heap = draft.with_name(f".{draft.name}.removed")
        heap.mkdir()
        draft.rename(heap / "0")
        return heap
    if what == "a draft that is at work":
        descriptor = os.open(draft, os.O_RDONLY)
        work.cleanup.callback(os.close, descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    return draft


def with_journal(work: StrategyBench) -> None:
    work.make_database()


def logged(work: StrategyBench) -> None:
    work.make_database()
    work.make_database("PRAGMA journal_mode=WAL")


def open_log(work: StrategyBench) -> None:
    logged(work)
    other = sqlite3.connect(work.database, isolation_level=None)
    work.cleanup.callback(other.close)
    other.execute("INSERT INTO t VALUES (3, 'in the log')")


def killed(work: StrategyBench, program: str) -> None:
    work.make_database()
    subprocess.run([sys.executable, "-c", program, work.database], check=False)
    Path(f"{work.database}-shm").unlink(missing_ok=True)


def begun(work: StrategyBench, how: str) -> None:
    work.make_database()
    other = sqlite3.connect(work.database, isolation_level=None)
    work.cleanup.callback(other.close)
    other.execute(f"BEGIN {how}")
    other.execute("INSERT INTO t VALUES (3, 'not yet')")


def damaged(work: StrategyBench) -> None:
    work.database.write_bytes(b"SQLite format 3\0" + b"damaged" * 1000)


def going(work: StrategyBench) -> None:
    work.make_database()
    work.database.unlink()


def unwritable(work: StrategyBench) -> None:
    def fail(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    work.make_database()
    work.surroundings = lambda: patch.object(sqlite_files, "back_up", fail)


def restless(work: StrategyBench, times: int) -> None:
    """Somebody writes whenever the database is copied, as often as is said."""
    back_up, left = sqlite_files.back_up, iter(range(times))

    def and_write(*arguments: Any) -> None:
        if next(left, None) is not None:
            with sqlite3.connect(work.database, isolation_level=None) as other:
                other.execute("INSERT INTO t VALUES (3, 'meanwhile')")
            other.close()
        back_up(*arguments)

    work.surroundings = lambda: patch.object(sqlite_files, "back_up", and_write)


def never_still(work: StrategyBench) -> None:
    logged(work)
    restless(work, sys.maxsize)


DATABASES: dict[str, Callable[[StrategyBench], None]] = {
    "with a rollback journal": with_journal,
    "in write-ahead mode, at rest": logged,
    "in write-ahead mode, open, with a log": open_log,
    "whose log was left by a killed program": partial(killed, program=contract.LEAVES_A_LOG),
    "whose journal was left by a killed program": partial(
        killed, program=contract.LEAVES_A_JOURNAL
    ),
    "in which somebody has begun to write": partial(begun, how="IMMEDIATE"),
    "that somebody keeps locked": partial(begun, how="EXCLUSIVE"),
    "that never holds still": never_still,
    "that is damaged": damaged,
    "that goes before it is copied": going,
    "that cannot be written to the disk": unwritable,
}


def can_mount(work: StrategyBench) -> bool:
    return can_mount_in(work.world.directory)


def can_mount_in(directory: Path) -> bool:
    """Whether this system lets us mount overlays at all."""
    places = [directory / "probe" / name for name in ("low", "up", "work", "at")]
    for place in places:
        place.mkdir(parents=True)
    try:
        lower, upper, work, place = places
        mount_overlay(lower, upper, work, place)
    except OSError:
        return False
    unmount(places[3])
    return True


def occupied(work: StrategyBench) -> None:
    occupant = subprocess.Popen(["sleep", "600"], cwd=work.place)
    work.cleanup.callback(occupant.wait)
    work.cleanup.callback(occupant.kill)


def powerless(work: StrategyBench) -> None:
    @contextmanager
    def ordinary() -> Iterator[None]:
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)

    work.world.directory.chmod(0o755)
    work.surroundings = ordinary


def lost(work: StrategyBench) -> None:
    unmount(work.place)
    shutil.rmtree(work.place.with_name(f".{work.place.name}.overlay"))


OVERLAYS: dict[str, Callable[[StrategyBench], None]] = {
    "a process works there": occupied,
    "permission is missing": powerless,
    "its layers have gone": lost,
}


def system_without(work: StrategyBench, lack: str) -> AbstractContextManager[object]:
    if lack == "is not Linux":
        return patch.object(overlay_mounts.sys, "platform", "darwin")
    return without_permission(work)
