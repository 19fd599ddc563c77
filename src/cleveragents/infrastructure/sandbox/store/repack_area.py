"""Where new packs of a store are written before they become part of it.

A directory beside the store, `<key>.packing`, that only one process uses at a
time and that is emptied before and after. So what a killed run leaves is
found again, and git at work in a sandbox cannot mistake it for its own.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from cleveragents.infrastructure.files import fsync_directory
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.layout import git_on_mirror
from cleveragents.infrastructure.sandbox.store.packs import pack_directory, remove_entirely

_OPTIONS = ("--quiet", "--delta-base-offset", "--window-memory=128m")


def room_of(store: Path) -> Path:
    return store.with_suffix(".packing")


class RepackArea:
    """The right to write packs for a store."""

    def __init__(self, store: Path, git: Git, place: Path) -> None:
        self._store = store
        self._git = git_on_mirror(git, store)
        self._place = place

    def write(self, options: Sequence[str], listing: bytes) -> str | None:
        """Makes a pack durable and part of the store; returns its name, or None without objects.

        Args:
            options: What `git pack-objects` is to make of the listing.
            listing: Its standard input.

        Raises:
            GitCommandError: an object is missing or damaged, or the disk is full.
            OSError: the disk is full.
        """
        (self._place / "pack").mkdir(parents=True)
        draft = self._place / "pack" / "pack"
        inside = self._git.with_variables(
            GIT_OBJECT_DIRECTORY=str(self._place),
            GIT_ALTERNATE_OBJECT_DIRECTORIES=str(self._store / "objects"),
        )
        said = inside.run("pack-objects", *_OPTIONS, *options, str(draft), stdin=listing)
        names = [f"pack-{name}" for name in said.decode().split()]
        for name in names:
            self._take_over(name)
        return names[0] if names else None

    def _take_over(self, name: str) -> None:
        target = pack_directory(self._store)
        made = [path for path in (self._place / "pack").iterdir() if path.stem == name]
        # git sees a pack when it sees its index.
        for path in sorted(made, key=lambda path: path.suffix == ".idx"):
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            path.replace(target / path.name)
        fsync_directory(target)


def expected_bytes(git: Git, store: Path, options: Sequence[str], listing: bytes) -> int:
    """Returns what `RepackArea.write` would put on the disk, without writing anything."""
    size, count = 0, 0
    with git_on_mirror(git, store).session("pack-objects", *_OPTIONS, "--stdout", *options) as (
        questions,
        answers,
    ):
        questions.write(listing)
        questions.close()
        while chunk := answers.read(1 << 20):
            count = count or int.from_bytes(chunk[8:12], "big")
            size += len(chunk)
    index = 8 + 1024 + count * 28 + 40
    return sum(-(-part // 4096) * 4096 for part in (size, index)) if count else 0


@contextmanager
def packing_room(store: Path, git: Git) -> Generator[RepackArea | None]:
    """Yields the room, or None while another process is in it; never waits."""
    room = room_of(store)
    room.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(room, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        yield None
        return
    try:
        _empty(room)
        yield RepackArea(store, git, room / secrets.token_hex(4))
    finally:
        _empty(room)
        os.close(descriptor)


def _empty(room: Path) -> None:
    """What a git that outlived its killed parent is still writing to, goes the next time."""
    for left in room.iterdir():
        with suppress(OSError):
            remove_entirely(left)
