"""The object files of a store: its packs and loose objects, what they cost and whose they are.

A file that has another link is shared with the user's repository: it costs
nothing here, and it is never rewritten, only its name in the store is ours.
"""

from __future__ import annotations

import os
import re
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cleveragents.infrastructure.files import fsync_directory
from cleveragents.infrastructure.sandbox.store.directories import remove_entirely

_ID = 20
_FAN_OUT = 1024
_VERSION_2 = b"\377tOc\0\0\0\2"
_FAN_OUT_NAME = re.compile(r"[0-9a-f]{2}")
_LOOSE_NAME = re.compile(r"[0-9a-f]{38}")
BLOCK = 512
"""The bytes that the system counts as one."""
_INDEXES_OF_MANY = ("multi-pack-index", "commit-graph")
"""What git makes to be faster; it names objects and packs, and must go before they do."""


@dataclass(frozen=True)
class Pack:
    """One pack with its index and whatever else git keeps beside it."""

    path: Path
    """Without a suffix."""
    suffixes: frozenset[str]
    size: int
    """The size of the objects alone."""
    disk_bytes: int
    """What removing it would give back."""
    modified: float
    is_borrowed: bool

    @property
    def is_kept(self) -> bool:
        return ".keep" in self.suffixes

    @property
    def is_special(self) -> bool:
        """Whether git made it for a purpose of its own: unreachable objects, partial clones."""
        return not self.suffixes.isdisjoint((".mtimes", ".promisor"))

    def object_ids(self) -> set[bytes]:
        """Raises OSError or struct.error when its index cannot be read."""
        content = self.path.with_suffix(".idx").read_bytes()
        if content.startswith(_VERSION_2):
            start, width, skip = len(_VERSION_2) + _FAN_OUT, _ID, 0
        else:
            start, width, skip = _FAN_OUT, _ID + 4, 4
        (count,) = struct.unpack_from(">I", content, start - 4)
        names = range(start + skip, start + skip + count * width, width)
        return {content[place : place + _ID] for place in names}


@dataclass(frozen=True)
class LooseObjects:
    """One object in a file of its own."""

    path: Path
    object_id: bytes
    size: int
    disk_bytes: int
    modified: float
    is_borrowed: bool


def not_a_directory(store: Path) -> str | None:
    """Returns a directory of the store that is a link or gone, for then nothing is safe to remove.

    An agent can write to the store; through a link, removing would reach elsewhere.
    """
    inside = ("objects", "objects/pack", "refs")
    return next((name for name in inside if not _is_plain(store / name)), None)


def _is_plain(place: Path) -> bool:
    return place.is_dir() and not place.is_symlink()


def pack_directory(store: Path) -> Path:
    return store / "objects" / "pack"


def count_packs(store: Path) -> int:
    return sum(name.endswith(".idx") for name in os.listdir(pack_directory(store)))


def packs(store: Path) -> list[Pack]:
    """Returns the packs that git can see, smallest first."""
    found: dict[str, dict[str, os.stat_result]] = defaultdict(dict)
    with os.scandir(pack_directory(store)) as entries:
        for entry in entries:
            stem, suffix = os.path.splitext(entry.name)
            if stem.startswith("pack-") and entry.is_file(follow_symlinks=False):
                found[stem][suffix] = entry.stat(follow_symlinks=False)
    directory = pack_directory(store)
    complete = (
        _pack(directory / stem, files)
        for stem, files in found.items()
        if ".pack" in files and ".idx" in files
    )
    return sorted(complete, key=lambda pack: (pack.size, pack.path.name))


def _pack(path: Path, files: dict[str, os.stat_result]) -> Pack:
    main = files[".pack"]
    return Pack(
        path,
        frozenset(files),
        main.st_size,
        sum(disk_bytes(status) for suffix, status in files.items() if suffix != ".keep"),
        main.st_mtime,
        main.st_nlink > 1,
    )


def loose_objects(store: Path) -> Iterator[LooseObjects]:
    with os.scandir(store / "objects") as directories:
        fan_outs = [
            entry
            for entry in directories
            if _FAN_OUT_NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
        ]
    for fan_out in fan_outs:
        with os.scandir(fan_out.path) as entries:
            for entry in entries:
                if not _LOOSE_NAME.fullmatch(entry.name):
                    continue
                status = entry.stat(follow_symlinks=False)
                yield LooseObjects(
                    Path(entry.path),
                    bytes.fromhex(fan_out.name + entry.name),
                    status.st_size,
                    disk_bytes(status),
                    status.st_mtime,
                    status.st_nlink > 1,
                )


def remove_packs(store: Path, doomed: Iterable[Pack]) -> None:
    """Removes packs in an order in which git never sees half of one.

    A git that has one open continues to read it; one that has only seen its name looks again.
    """
    doomed = list(doomed)
    if not doomed:
        return
    _remove_indexes_of_many(store)
    for pack in doomed:
        # The index first: without it git does not see the pack, so a kill here leaves a file that
        # costs space and nothing else.
        for suffix in sorted(pack.suffixes, key=lambda suffix: suffix != ".idx"):
            pack.path.with_suffix(suffix).unlink(missing_ok=True)
    fsync_directory(pack_directory(store))


def _remove_indexes_of_many(store: Path) -> None:
    places = (pack_directory(store), store / "objects" / "info")
    for place in places:
        for name in os.listdir(place) if place.is_dir() else []:
            if name.startswith(_INDEXES_OF_MANY):
                remove_entirely(place / name)


def disk_bytes(status: os.stat_result) -> int:
    """Returns what removing the file would give back: nothing while it has another name."""
    return status.st_blocks * BLOCK if status.st_nlink == 1 else 0


def tree_bytes(place: Path) -> int:
    """Returns what a file, or all files below a directory, take on disk; 0 when it is not there."""
    if not place.is_dir() or place.is_symlink():
        return disk_bytes(place.lstat()) if os.path.lexists(place) else 0
    total = 0
    for directory, _, names in os.walk(place):
        for name in names:
            with suppress(FileNotFoundError):  # Gone since it was listed.
                total += disk_bytes(os.lstat(os.path.join(directory, name)))
    return total
