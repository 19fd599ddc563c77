"""Packing that keeps the thousandth checkpoint as cheap as the tenth.

Every checkpoint adds a small pack. When there are many, those of a size are
combined into one, so that their number grows with the logarithm of what is
stored, and each object is rewritten as rarely. `docs/internals/storage.md`
says what a kill leaves at each moment.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from cleveragents.domain.errors import CleverAgentsError
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.store.lock import MirrorUse
from cleveragents.infrastructure.sandbox.store.packs import (
    Pack,
    count_packs,
    not_a_directory,
    packs,
    remove_packs,
)
from cleveragents.infrastructure.sandbox.store.repack_area import RepackArea, packing_room

MANY_PACKS = 50
_FACTOR = 2


def combine_packs(git: Git, store: Path) -> int:
    """Combines small packs where there are many; returns how many went into one, mostly 0.

    Nothing is lost, reachable or not, and other processes may go on reading
    and writing meanwhile. What git or the disk refuses is left as it was: the
    store is whole either way, only slower. To be called between checkpoints.
    """
    try:
        if not_a_directory(store) or count_packs(store) <= MANY_PACKS:
            return 0
        with closing(MirrorUse(store)), packing_room(store, git) as room:
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
