"""A sandbox that is to be forked, and what goes wrong meanwhile."""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from features.support.faults.strategy_faults import refusing, too_small
from features.support.sandboxes.sandbox_bench import SandboxBench
from features.support.sandboxes.strategy_bench import StrategyBench

from cleveragents.domain.errors import GitCommandError
from cleveragents.domain.health.maintenance import KnownRecords
from cleveragents.infrastructure.sandbox.create import directory_copy, tree_copy
from cleveragents.infrastructure.sandbox.files import git_state, scan
from cleveragents.infrastructure.sandbox.files.writer import SandboxWriter
from cleveragents.infrastructure.sandbox.gc.collect import collect
from cleveragents.testing.forks.families import Family
from cleveragents.testing.snapshots.workspace import ContractWorkspace
from cleveragents.testing.trees import read_tree

Surroundings = Callable[["ForkBench"], AbstractContextManager[object]]


class ForkBench:
    """One family, the snapshot that is forked, and what is true meanwhile."""

    def __init__(self, work: StrategyBench, family: Family) -> None:
        self.work = work
        self.family = family
        self.parent = family.parent
        self.parent.write("d/f", b"as it was")
        self.parent.write("g", b"as it was")
        self.before = read_tree(self.parent.root)
        self.kept = self.parent.store()
        self.surroundings: Callable[[], AbstractContextManager[object]] = nullcontext
        self.child: ContractWorkspace | None = None
        self.named = KnownRecords(frozenset(), frozenset(), frozenset(), frozenset(), None)

    def fork(self) -> None:
        def act() -> None:
            with self.surroundings():
                self.child = self.family.fork("CHILD", self.kept)

        self.work.attempt(act)

    @property
    def made(self) -> ContractWorkspace:
        assert self.child is not None, self.work.error
        return self.child

    @property
    def store(self) -> Path:
        return Path(self.parent.sandbox.store)

    def traces(self) -> list[Path]:
        """Whatever has the name of the child."""
        return [path for path in self.work.home.rglob("*") if "CHILD" in path.name]

    def close_some(self) -> None:
        """Has things that an ordinary user may not read, in a snapshot that holds neither."""
        for name in ("d/f", "closed/inside"):
            self.parent.write(name)
        nobody = SandboxBench(self.work.world)
        with nobody.as_ordinary_user():
            (self.parent.root / "d/f").chmod(0)
            (self.parent.root / "closed").chmod(0)
            self.kept = self.parent.store()
        self.surroundings = nobody.as_ordinary_user

    def stage_oddly(self) -> None:
        """Has bytes that are in the index alone, which a tree cannot hold."""
        self.parent.write("g", b"staged alone")
        self.parent.git("add", "g")
        self.parent.git("update-index", "--skip-worktree", "g")
        self.parent.write("g", b"as it was")
        self.kept = self.parent.store()
        time.sleep(0.06)

    def kept_for_the_index(self, work: ContractWorkspace, snapshot_id: str) -> list[str]:
        sandbox = work.sandbox
        ref = f"refs/cleveragents/snapshots/{sandbox.plan_id}/{sandbox.resource}/{snapshot_id}"
        lines = work.git("ls-tree", "-r", ref).splitlines()
        return [line for line in lines if "index" in line]

    def drop(self) -> None:
        """Leaves the snapshot to the fork alone, which is gone as well."""
        self.fork()
        self.parent.write("g", b"in another snapshot")
        kept = {("PARENT0", self.parent.store())}
        self.named = KnownRecords({"PARENT0"}, kept, frozenset(), frozenset(), None)
        self.family.sandboxes.remove(self.made.sandbox)
        self.family.sandboxes.remove(self.parent.sandbox)
        self.parent.acts().delete([self.kept])

    def full_disk(self) -> AbstractContextManager[object]:
        full = OSError(errno.ENOSPC, "No space left on device")
        return patch.object(SandboxWriter, "apply", side_effect=full)

    def reclaim(self, *, known: bool) -> None:
        named = replace(self.named, plans={"PARENT0", "CHILD"}) if known else self.named
        sandboxes = self.work.home / "sandboxes"
        done = collect(self.work.git, self.store, sandboxes, lambda _: named, dry_run=False)
        assert done.problem is None, done.problem


@contextmanager
def broken_store(bench: ForkBench) -> Iterator[None]:
    """The source has changed, and what it was is not in the store any more."""
    bench.parent.write("g", b"changed")
    bench.before = read_tree(bench.parent.root)
    for pack in (bench.store / "objects/pack").iterdir():
        pack.unlink()
    yield


@contextmanager
def badly_written(bench: ForkBench) -> Iterator[None]:
    """What has to be written back does not arrive."""
    bench.parent.write("g", b"changed")
    bench.before = read_tree(bench.parent.root)
    with patch.object(SandboxWriter, "apply", lambda *_: None):
        yield


@contextmanager
def _little_room(bench: ForkBench) -> Iterator[None]:
    with patch.object(tree_copy, "_LOOKED_FOR_ROOM_EVERY", 10), too_small(bench.work):
        yield


FAILING: dict[str, Surroundings] = {
    "the disk is full half-way": lambda _: patch.object(
        directory_copy, "copy_content", refusing(errno.ENOSPC)
    ),
    "there is hardly any room": _little_room,
    "git fails at the end": lambda _: patch.object(
        git_state, "restore_index", side_effect=GitCommandError("git read-tree", 128, "no")
    ),
    "the source has a broken copy": badly_written,
    "the stored bytes are gone": broken_store,
}


@contextmanager
def around_the_copy(before: Callable[[], object], after: Callable[[], object]) -> Iterator[None]:
    real = tree_copy.TreeCopy.run

    def run(self: tree_copy.TreeCopy) -> None:
        before()
        real(self)
        after()

    with patch.object(tree_copy.TreeCopy, "run", run):
        yield


def changed_and_back(bench: ForkBench) -> AbstractContextManager[object]:
    return around_the_copy(
        lambda: bench.parent.write("d/f", b"otherwise"),
        lambda: bench.parent.write("d/f", b"as it was"),
    )


def coming_and_going(bench: ForkBench) -> AbstractContextManager[object]:
    return around_the_copy(
        lambda: bench.parent.write("d/new/inside"),
        lambda: shutil.rmtree(bench.parent.root / "d/new"),
    )


def clock_is_set(bench: ForkBench) -> AbstractContextManager[object]:
    """After the copy, the clock is said to have been set."""
    real = scan.FileSystemTime.now_in
    shift = [0]

    def now_in(directory: str) -> scan.FileSystemTime:
        found = real(directory)
        return replace(found, clock_offset=found.clock_offset + shift[0])

    def set_clock() -> None:
        shift[0] = 10**9

    stack = around_the_copy(lambda: None, set_clock)
    return _both(stack, patch.object(scan.FileSystemTime, "now_in", now_in))


@contextmanager
def _both(
    one: AbstractContextManager[object], other: AbstractContextManager[object]
) -> Iterator[None]:
    with one, other:
        yield


@contextmanager
def unreadable_rules(bench: ForkBench) -> Iterator[None]:
    """A FIFO in the place of the rules: git would wait for it without end."""
    os.mkfifo(bench.parent.root / ".gitignore")
    yield
    (bench.parent.root / ".gitignore").unlink()


MEANWHILE: dict[str, Surroundings] = {
    "a file is changed and changed back": changed_and_back,
    "a directory comes and goes": coming_and_going,
    "the clock of the computer is set": clock_is_set,
    "the rules of what is ignored cannot be read": unreadable_rules,
}
