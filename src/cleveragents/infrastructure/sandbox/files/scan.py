"""Finding what changed by looking, without remembering every file.

Everything that changes a file, its mode or its place moves the inode's change
time, and no program can set that time. So after a moment known to be good it is
enough to look at what has a later one. A directory that was renamed into a place
keeps old times inside, which is why directories are remembered by inode.
"""

from __future__ import annotations

import os
import re
import subprocess  # nosec B404 # `find` is started with an argument list, never through a shell
import sys
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from cleveragents.infrastructure.sandbox.files.live_tree import KnownDirectories

SLACK_NANOSECONDS = 20_000_000
_COARSE_NANOSECONDS = 2_500_000_000
_SECOND = 1_000_000_000
_FEW_DIRECTORIES = 100
"""Up to so many, looking ourselves is quicker than starting programs."""
_PARTS = 16
_UNDIVIDED = 30
"""Directories that are not worth dividing among two programs."""
_PRUNED_AT_MOST = 500
_FIND = "/usr/bin/find"
_OPEN_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# It keeps running while the machine sleeps, as the clock of the files does.
_BOOT_CLOCK: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


@dataclass(frozen=True)
class ScanHit:
    """A path whose change time is late."""

    path: str
    is_directory: bool
    inode: int


@dataclass(frozen=True)
class FileSystemTime:
    """A time of the file system, and what tells whether its clock was set meanwhile."""

    nanoseconds: int
    clock_offset: int
    boot: str

    @staticmethod
    def now_in(directory: str | Path) -> FileSystemTime:
        """Returns the time as files in a directory get it: clocks can differ.

        The directory is touched for that, which costs far less than a file made to be touched.
        """
        probe = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.utime(probe)
            stamp = os.fstat(probe).st_mtime_ns
        finally:
            os.close(probe)
        offset = time.time_ns() - time.clock_gettime_ns(_BOOT_CLOCK)
        return FileSystemTime(stamp, offset, _boot_id())

    def is_comparable(self, now: FileSystemTime) -> bool:
        """Says whether change times after this moment are really later than it."""
        return (
            self.boot == now.boot
            and abs(self.clock_offset - now.clock_offset) < SLACK_NANOSECONDS
            and self.nanoseconds <= now.nanoseconds
        )


BEGINNING = FileSystemTime(0, 0, "")
"""Before everything: a scan from here finds every file."""


@cache
def _boot_id() -> str:
    """Names this run of the system: a new one may have another clock."""
    try:
        with open("/proc/sys/kernel/random/boot_id", "rb", buffering=0) as boot:
            return boot.read().strip().decode()
    except OSError:
        return "unknown"


def scan(
    root: str,
    since: FileSystemTime,
    skip: Collection[str],
    known: KnownDirectories,
    environment: Mapping[str, str],
) -> list[ScanHit]:
    """Returns what changed since a moment, and now and then something that did not.

    Of a changed directory that is not `known`, only itself: all of it is new.

    Args:
        root: Top of the sandbox.
        since: A moment at which everything was known.
        skip: Paths not to look at or into.
        known: The directories there were then.
        environment: For starting `find`.

    Raises:
        OSError: the sandbox itself cannot be read.
    """
    start = max(since.nanoseconds - slack_of(since.nanoseconds), 0)
    looker = _Scanner(root, start, frozenset(skip), known)
    looker.list(".")
    few = len(known.inodes) <= _FEW_DIRECTORIES and since != BEGINNING
    if not few and sys.platform == "linux" and os.access(_FIND, os.X_OK):
        parts = [part for part in looker.split() if part]
        found, looker.waiting = _find(root, start, parts, skip, known, environment)
        looker.found += found
    while looker.waiting:
        with suppress(OSError):
            looker.list(looker.waiting.pop())
    return looker.found


def slack_of(moment: int) -> int:
    """Returns by how much earlier than a moment a change may be dated that came after it."""
    return _COARSE_NANOSECONDS if moment % _SECOND == 0 else SLACK_NANOSECONDS


@dataclass
class _Scanner:
    """Lists directories itself, one by one, noting what is late."""

    root: str
    start: int
    skip: frozenset[str]
    known: KnownDirectories
    found: list[ScanHit] = field(default_factory=list[ScanHit])
    waiting: list[str] = field(default_factory=list[str])
    """Directories that were seen and not looked into."""

    def list(self, path: str) -> None:
        """Notes what is directly in a directory. Raises OSError when that cannot be read."""
        top = path == "."
        full = self.root if top else f"{self.root}/{path}"
        if top and os.lstat(full).st_ctime_ns >= self.start:
            self.found.append(ScanHit("", is_directory=True, inode=0))
        before = "" if top else f"{path}/"
        # Nothing is called in here that need not be: this runs for every file. Names are looked
        # up from the open directory, because the path of a sandbox is long.
        late, skip, known = self.start, self.skip, self.known.inodes
        found, waiting = self.found, self.waiting
        directory = os.open(full, _OPEN_DIRECTORY)
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except OSError:
                        continue  # Gone: its directory is late for that.
                    if entry.is_dir(follow_symlinks=False):
                        inner = before + entry.name
                        if inner in skip:
                            continue
                        if status.st_ctime_ns >= late:
                            found.append(ScanHit(inner, is_directory=True, inode=status.st_ino))
                            if known.get(inner) != status.st_ino:
                                continue
                        waiting.append(inner)
                    elif status.st_ctime_ns >= late and before + entry.name not in skip:
                        inner = before + entry.name
                        found.append(ScanHit(inner, is_directory=False, inode=status.st_ino))
        finally:
            os.close(directory)

    def split(self) -> Sequence[Sequence[str]]:
        """Returns the directories that are left in two parts of about the same work."""
        sizes = {path: _size(self.known, path) for path in self.waiting}
        while sizes and len(sizes) < _PARTS:
            largest = max(sizes, key=lambda path: sizes[path])
            if sizes[largest] <= _UNDIVIDED:
                break
            del sizes[largest]
            self.waiting = []
            with suppress(OSError):
                self.list(largest)
            sizes |= {path: _size(self.known, path) for path in self.waiting}
        parts: tuple[list[str], list[str]] = ([], [])
        weights = [0, 0]
        for path in sorted(sizes, key=lambda path: -sizes[path]):
            lighter = 0 if weights[0] <= weights[1] else 1
            parts[lighter].append(path)
            weights[lighter] += sizes[path]
        return parts


def _size(known: KnownDirectories, path: str) -> int:
    """Returns how many directories are known at and below one."""
    count, waiting = 0, [path]
    while waiting:
        count += 1
        waiting += known.inside.get(waiting.pop(), ())
    return count


def _find(
    root: str,
    start: int,
    parts: Iterable[Sequence[str]],
    skip: Iterable[str],
    known: KnownDirectories,
    environment: Mapping[str, str],
) -> tuple[list[ScanHit], list[str]]:
    """Has `find` look below the directories of each part, all parts at the same time.

    Returns:
        What it found, and the directories that are still to be looked into: a
        `find` that is of another kind, was given too much or met something it
        could not read is not believed at all.
    """
    late = ["-newerct", f"@{start // _SECOND}.{start % _SECOND:09d}"] if start else []
    tests = ["-mindepth", "1", *_pruned(skip), *late, "-printf", r"%y %i %p\0"]
    running = [(part, _started(root, part, tests, environment)) for part in parts]
    found: list[ScanHit] = []
    unseen: list[str] = []
    for part, process in running:
        listing = process.communicate()[0] if process is not None else b""
        if process is None or process.returncode != 0:
            unseen += part
            continue
        inside_new = b"\0"
        for record in listing.split(b"\0")[:-1]:
            kind, inode, path = record.split(b" ", 2)
            if path.startswith(inside_new):
                continue
            item = ScanHit(os.fsdecode(path[2:]), kind == b"d", int(inode))
            found.append(item)
            if item.is_directory and known.inodes.get(item.path) != item.inode:
                inside_new = path + b"/"  # What is in a directory follows it.
    return found, unseen


def _started(
    root: str, places: Sequence[str], tests: Sequence[str], environment: Mapping[str, str]
) -> subprocess.Popen[bytes] | None:
    """Returns a running `find`, or None where it cannot be started: too many names, no memory."""
    try:
        return subprocess.Popen(  # nosec B603
            [_FIND, *(f"./{path}" for path in places), *tests],
            cwd=root,
            env={"PATH": environment.get("PATH", os.defpath), "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return None


def _pruned(skip: Iterable[str]) -> list[str]:
    arguments: list[str] = []
    for path in sorted(skip)[:_PRUNED_AT_MOST]:
        pattern = re.sub(r"([*?\[\\])", r"\\\1", path)
        arguments += ["-o", "-path", f"./{pattern}"]
    return ["(", *arguments[1:], ")", "-prune", "-o"] if arguments else []
