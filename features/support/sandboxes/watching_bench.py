"""A sandbox that is watched or scanned, and the ways in which watching and scanning can fail."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import mmap
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from behave.runner import Context
from features.support.sandboxes.sandbox_bench import Moment, SandboxBench, bench

from cleveragents.infrastructure.sandbox.checkpoint import CheckpointManager
from cleveragents.infrastructure.sandbox.files import inotify, scan
from cleveragents.infrastructure.sandbox.files.inotify import PendingChanges, Watch
from cleveragents.infrastructure.sandbox.files.scan import FileSystemTime
from cleveragents.infrastructure.sandbox.files.tracker import STATE, note_path
from cleveragents.testing.workspace import single_acts

QUEUE = Path("/proc/sys/fs/inotify/max_queued_events")


class WatchingBench:
    """One program at work on a sandbox, as long as the scenario lasts."""

    def __init__(self, work: SandboxBench) -> None:
        self.work = work
        self.manager: CheckpointManager = work.store
        self.missed: list[str] = []

    def begin(self, how: str) -> None:
        """Takes the first checkpoint; a running plan watches, separate commands scan."""
        if how == "watch":
            self.work.watch()
            self.manager = self.work.store
        self.work.moments["before"] = self.work.look()

    def go_on(self) -> None:
        self.work.moments["after"] = self.work.look()

    def expect_exact(self) -> None:
        """Going back and forth gives what our own eyes saw, and so does one who knows nothing."""
        after = self.work.moments["after"]
        assert self.complete().checkpoint.state_hash == after.checkpoint.state_hash
        for moment in (self.work.moments["before"], after):
            self.work.roll_back(moment)
            self.work.expect(moment)
        self.work.remove_sandboxes()

    def complete(self) -> Moment:
        """A checkpoint by a program that has no memory: it looks at everything."""
        memory = note_path(self.work.sandbox, STATE)
        kept = memory.read_bytes()
        memory.unlink()
        manager = CheckpointManager(self.work.git, self.manager._limits)
        made = single_acts(manager, self.work.sandbox).snapshot()
        assert made.evidence == "complete", made
        memory.write_bytes(kept)
        return Moment(made, {}, "")

    def recheck(self) -> None:
        self.missed = list(single_acts(self.manager, self.work.sandbox).recheck())

    def overflow(self) -> None:
        """Makes more changes than the system reports."""
        count = int(QUEUE.read_text()) // 2 + 500
        program = f"for n in range({count}): open(f'many-{{n % 50}}', 'a').close()\n"
        program += f"for n in range({count}): open(f'other-{{n % 50}}', 'w').write(str(n))\n"
        subprocess.run([sys.executable, "-c", program], cwd=self.work.root, check=True)


class System:
    """The C library of a system that gives out a limited number of watches."""

    def __init__(self, real: Any, watches: int, *, instances: int = 1) -> None:
        self._real = real
        self._left = watches
        self._instances = instances

    def inotify_init1(self, flags: int) -> int:
        if not self._instances:
            ctypes.set_errno(errno.EMFILE)
            return -1
        return self._real.inotify_init1(flags)

    def inotify_add_watch(self, descriptor: int, path: bytes, mask: int) -> int:
        self._left -= 1
        if self._left < 0:
            ctypes.set_errno(errno.ENOSPC)
            return -1
        return self._real.inotify_add_watch(descriptor, path, mask)

    def inotify_rm_watch(self, descriptor: int, number: int) -> int:
        return self._real.inotify_rm_watch(descriptor, number)

    def syncfs(self, descriptor: int) -> int:
        return self._real.syncfs(descriptor)


def _system(watches: int, *, instances: int = 1) -> contextlib.AbstractContextManager[object]:
    real = ctypes.CDLL(None, use_errno=True)
    system = System(real, watches, instances=instances)
    return patch.object(inotify.ctypes, "CDLL", lambda *_, **__: system)


@contextlib.contextmanager
def _another_system() -> Iterator[None]:
    with (
        patch.object(inotify.ctypes, "CDLL", lambda *_, **__: object()),
        patch.object(scan.sys, "platform", "darwin"),
    ):
        yield


def _losing() -> contextlib.AbstractContextManager[object]:
    """The queue of the system runs over, once."""
    real, lost = Watch.drain, iter([True])

    def drain(watch: Watch) -> PendingChanges:
        pending = real(watch)
        return PendingChanges(lost=True) if next(lost, False) else pending

    return patch.object(Watch, "drain", drain)


def _clock(**changed: Any) -> contextlib.AbstractContextManager[object]:
    real = FileSystemTime.now_in
    return patch.object(
        FileSystemTime, "now_in", lambda directory: replace(real(directory), **changed)
    )


def _set_back() -> contextlib.AbstractContextManager[object]:
    real = FileSystemTime.now_in

    def now_in(directory: str) -> FileSystemTime:
        found = real(directory)
        return replace(found, clock_offset=found.clock_offset - 3_600_000_000_000)

    return patch.object(FileSystemTime, "now_in", now_in)


def _find_is(program: str) -> Callable[[], contextlib.AbstractContextManager[object]]:
    return lambda: patch.object(scan, "_FIND", program)


HANDICAPS: dict[str, Callable[[], contextlib.AbstractContextManager[object]]] = {
    "the system has no watches left": lambda: _system(0),
    "the system has 3 watches left": lambda: _system(3),
    "the system has no queue left": lambda: _system(0, instances=0),
    "the system cannot watch at all": _another_system,
    "the system has lost events": _losing,
    "the clock has been set back": _set_back,
    "the machine has been restarted": lambda: _clock(boot="another"),
    "the file system knows only whole seconds": lambda: _clock(nanoseconds=1_000_000_000),
    "`find` is not there": _find_is("/nonexistent/find"),
    "`find` is of another kind": _find_is("/bin/false"),
}


@contextlib.contextmanager
def no_new_process() -> Iterator[None]:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    with patch.object(subprocess, "Popen", refuse):
        yield


def objects_of(work: SandboxBench) -> set[Path]:
    return {path for path in (work.mirror / "objects").rglob("*") if path.is_file()}


def write_through_mapping(path: Path, work: SandboxBench) -> None:
    """Writes as a program does that goes on having the file in its memory."""
    stream = work.world.on_close.enter_context(path.open("r+b"))
    mapped = work.world.on_close.enter_context(mmap.mmap(stream.fileno(), 0))
    mapped[:1] = b"M"


def watching(context: Context) -> WatchingBench:
    """The scenario's watching program."""
    if "watching_bench" not in context:
        context.watching_bench = WatchingBench(bench(context))
    return context.watching_bench
