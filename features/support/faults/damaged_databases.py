"""Databases in sandboxes whose stores have suffered, or that nobody touches."""

from __future__ import annotations

import errno
import os
import subprocess
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from unittest.mock import patch

from features.support.sandboxes.strategy_bench import PATIENCE, StrategyBench

from cleveragents.infrastructure.sandbox.sqlite import diff, snapshots
from cleveragents.infrastructure.sandbox.sqlite.snapshots import SqliteSnapshots


class Case:
    """A database, a snapshot of it, and what it became since."""

    def __init__(self, work: StrategyBench) -> None:
        self.work = work
        self.place = work.databases()()
        self.snapshot = self.place.store()
        self.place.run("DELETE FROM t")
        self.left = self.place.dump()
        self.limits: AbstractContextManager[object] = nullcontext()

    @property
    def objects(self) -> Path:
        return Path(self.place.sandbox.store) / "objects"

    def restore(self) -> None:
        self.work.attempt(lambda: self.place.restore(self.snapshot))

    def store_on_full_disk(self) -> None:
        """Stores twice: when nothing can be written, and when that is over."""
        full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with patch.object(snapshots, "stored_pack", side_effect=full):
            self.work.attempt(self.place.store)
        self.snapshot = self.place.store()

    def become_hardly_readable(self, what: str) -> None:
        if what == "its schema":
            with closing(self.place.connect()) as connection:
                connection.execute("PRAGMA writable_schema=ON")
                connection.execute("UPDATE sqlite_master SET sql = 'nonsense'")
        else:
            self.limits = patch.multiple(diff, _MOST_CHECKS=0, _STEPS_BETWEEN_CHECKS=1)

    def compare(self) -> str:
        other = self.place.store()
        with self.limits:
            return self.place.acts().diff(self.snapshot, other).patch

    def git(self, *arguments: str, stdin: bytes = b"") -> str:
        done = subprocess.run(
            ["git", f"--git-dir={self.place.sandbox.store}", *arguments],
            env={**self.work.world.environment, **_NAMES},
            input=stdin,
            capture_output=True,
            check=True,
        )
        return os.fsdecode(done.stdout).strip()


_NAMES = {
    "GIT_AUTHOR_NAME": "x",
    "GIT_AUTHOR_EMAIL": "x@example.invalid",
    "GIT_COMMITTER_NAME": "x",
    "GIT_COMMITTER_EMAIL": "x@example.invalid",
}


def _lose_packs(case: Case) -> None:
    for path in case.objects.glob("pack/*"):
        path.unlink()


def _flip_chunks(case: Case) -> None:
    """Stores other bytes under the names of the chunks, which a pack could not hold."""
    listing = case.git("ls-tree", "-r", case.snapshot, "chunks/").splitlines()
    for name in (line.split()[2] for line in listing):
        other = case.git("hash-object", "-w", "--stdin", stdin=b"flipped")
        place = case.objects / name[:2] / name[2:]
        place.parent.mkdir(exist_ok=True)
        place.write_bytes((case.objects / other[:2] / other[2:]).read_bytes())
    kept = {
        name: case.git("cat-file", "-t", name)
        for name in case.git(
            "cat-file", "--batch-check=%(objectname)", "--batch-all-objects"
        ).split()
    }
    contents = {name: _raw(case, kind, name) for name, kind in kept.items()}
    _lose_packs(case)
    chunks = {line.split()[2] for line in listing}
    for name, kind in kept.items():
        if name not in chunks:
            _store(case, kind, contents[name])


def _raw(case: Case, kind: str, name: str) -> bytes:
    done = subprocess.run(
        ["git", f"--git-dir={case.place.sandbox.store}", "cat-file", kind, name],
        capture_output=True,
        check=True,
    )
    return done.stdout


def _store(case: Case, kind: str, content: bytes) -> str:
    return case.git("hash-object", "-w", "-t", kind, "--literally", "--stdin", stdin=content)


def _another_document(case: Case) -> None:
    """Gives the snapshot of the case another commit, whose document is that of an empty file."""
    case.place.path.write_bytes(b"")
    other = case.place.store()
    _with_document(case, case.git("cat-file", "blob", f"{other}:document.json").encode())
    case.place.restore(other)
    case.left = case.place.dump()


def _nonsense(case: Case) -> None:
    _with_document(case, b"nonsense")


def _with_document(case: Case, content: bytes) -> None:
    document = _store(case, "blob", content)
    old = _raw(case, "commit", case.snapshot)
    trailer = case.git("rev-parse", f"{case.snapshot}:document.json")
    case.snapshot = _store(case, "commit", old.replace(trailer.encode(), document.encode()))


def _ordinary(case: Case) -> None:
    tree = case.git("rev-parse", f"{case.snapshot}^{{tree}}")
    case.snapshot = case.git("commit-tree", "-m", "ordinary", tree)


def _lose_tree(case: Case) -> None:
    tree = case.git("rev-parse", f"{case.snapshot}^{{tree}}")
    names = case.git("cat-file", "--batch-check=%(objectname)", "--batch-all-objects").split()
    kinds = {name: case.git("cat-file", "-t", name) for name in names if name != tree}
    contents = {name: _raw(case, kind, name) for name, kind in kinds.items()}
    _lose_packs(case)
    for name, kind in kinds.items():
        _store(case, kind, contents[name])


FAULTS: dict[str, Callable[[Case], None]] = {
    "every pack has gone": _lose_packs,
    "its tree has gone": _lose_tree,
    "a byte of each chunk has flipped": _flip_chunks,
    "the document is another": _another_document,
    "the document is nonsense": _nonsense,
    "the commit is an ordinary one": _ordinary,
}


class AtRest:
    """An engine that stays open, on a database whose last change is a while ago."""

    def __init__(self, work: StrategyBench) -> None:
        self.place = work.databases()()
        self.engine = SqliteSnapshots(self.place.sandbox, work.git, PATIENCE)
        self.engine.watch()
        # A file system that counts time in seconds needs a few of them.
        time.sleep(0.1 if self.place.path.stat().st_mtime_ns % 1_000_000_000 else 3)
        self.first = self.engine.snapshot()
        self.last = self.first

    def store_while_locked(self) -> None:
        with closing(self.place.connect()) as other:
            other.execute("BEGIN EXCLUSIVE")
            self.last = self.engine.snapshot()
        self.engine.close()
        self.engine.close()

    def drop_and_store(self) -> None:
        self.engine.delete([self.first.snapshot_id])
        self.engine.delete([])
        self.last = self.engine.snapshot()
