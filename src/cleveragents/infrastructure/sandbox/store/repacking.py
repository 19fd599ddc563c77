"""Packing that keeps the thousandth checkpoint as cheap as the tenth.

Every checkpoint adds a small pack. When there are many, those of a size are
combined into one, so that their number grows with the logarithm of what is
stored, and each object is rewritten as rarely. `docs/internals/storage.md`
says what a kill leaves at each moment.

New packs are written in a directory beside the mirror, `<key>.packing`, that only one
process uses at a time and that is emptied before and after. So what a killed run leaves
is found again, and git at work in a sandbox cannot mistake it for its own.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from cleveragents.domain.errors import CleverAgentsError
from cleveragents.infrastructure.files import fsync_directory
from cleveragents.infrastructure.sandbox.git.command import Git, git_on_mirror
from cleveragents.infrastructure.sandbox.store.directories import remove_entirely
from cleveragents.infrastructure.sandbox.store.packs import (
    Pack,
    count_packs,
    not_a_directory,
    pack_directory,
    packs,
    remove_packs,
)
from cleveragents.infrastructure.sandbox.store.refs import mirror_use

MANY_PACKS = 50
_FACTOR = 2
_OPTIONS = ("--quiet", "--delta-base-offset", "--window-memory=128m")


def combine_packs(git: Git, store: Path) -> int:
    """Combines small packs where there are many; returns how many went into one, mostly 0.

    Nothing is lost, reachable or not, and other processes may continue to read
    and writing meanwhile. What git or the disk refuses is left as it was: the
    store is whole either way, only slower. To be called between checkpoints.
    """
    try:
        if not_a_directory(store) or count_packs(store) <= MANY_PACKS:
            return 0
        with mirror_use(store), packing_room(store, git) as room:
            return 0 if room is None else _combine_in(room, store)
    except (CleverAgentsError, OSError):
        return 0


def _combine_in(room: RepackArea, store: Path) -> int:
    mine = [pack for pack in packs(store) if _is_ours(pack)]
    chosen = out_of_proportion(mine)
    if len(mine) <= MANY_PACKS or free_bytes(store) < sum(pack.size for pack in chosen):
        return 0
    return _combine(store, room, chosen)


def _is_ours(pack: Pack) -> bool:
    """Whether it may be rewritten: it is not shared, not being made, and an ordinary one."""
    return not (pack.is_borrowed or pack.is_kept or pack.is_special)


def out_of_proportion(by_size: Sequence[Pack]) -> Sequence[Pack]:
    """Returns the packs to combine so that each of the rest is twice all that are smaller.

    Args:
        by_size: Smallest first.
    """
    total, end = 0, 0
    for place, pack in enumerate(by_size, start=1):
        if pack.size < _FACTOR * total:
            end = place
        total += pack.size
    return by_size[:end]


def free_bytes(place: Path) -> int:
    """Returns how much a file system still takes from this user."""
    status = os.statvfs(place)
    return status.f_bavail * status.f_frsize


def _combine(store: Path, room: RepackArea, chosen: Sequence[Pack]) -> int:
    """Writes the new pack, makes sure that it holds everything, and only then removes the old."""
    taken = {pack.path.name for pack in chosen}
    wanted = [f"{name}.pack\n" for name in sorted(taken)]
    others = [f"^{pack.path.name}.pack\n" for pack in packs(store) if pack.path.name not in taken]
    name = room.write(("--stdin-packs", "--threads=1"), "".join(wanted + others).encode())
    present = packs(store)
    new = [pack for pack in present if pack.path.name == name]
    rest = [pack for pack in present if pack.path.name not in taken]
    stored = set[bytes]().union(*(pack.object_ids() for pack in new))
    missing = set[bytes]().union(*(pack.object_ids() for pack in chosen)) - stored
    for pack in rest if missing else []:
        missing -= pack.object_ids()
    if missing:
        return 0
    remove_packs(store, [pack for pack in chosen if pack.path.name != name])
    return len(chosen)


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
