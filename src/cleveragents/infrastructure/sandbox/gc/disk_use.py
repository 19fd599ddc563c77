"""What everything under a home directory takes on disk, by what it is for."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from cleveragents.domain.health.health import StoredBytes
from cleveragents.infrastructure.sandbox.gc.collect import occupied
from cleveragents.infrastructure.sandbox.store.packs import BLOCK


def measure(home: Path, keys: Iterable[str]) -> StoredBytes:
    """Returns what removing each part would give back.

    Args:
        home: The home directory, which need not exist.
        keys: The stores there are.
    """
    stores = {key: occupied(home / "mirrors" / f"{key}.git") for key in keys}
    plans = [path for path in _children(home / "sandboxes") if not path.is_symlink()]
    sandboxes = {plan.name: _by_resource(plan) for plan in plans}
    # What is in `run` goes with the processes that use the home.
    known = ("mirrors", "sandboxes", "run")
    apart = [path for path in _children(home) if path.name not in known]
    of_plans = sum(sum(sizes.values()) for sizes in sandboxes.values())
    notes = [path for path in _children(home / "mirrors") if path.is_file()]
    rest = sum(map(removable_bytes, (*apart, *notes)))
    return StoredBytes(
        total=sum(stores.values()) + of_plans + rest, stores=stores, sandboxes=sandboxes
    )


def removable_bytes(place: Path) -> int:
    """Returns what a file, or all below a directory, would give back if it were removed.

    A file with other names counts when all of them are here. What is mounted
    there or below, as an overlay is, counts where its own bytes are.
    """
    total, names, waiting, device = 0, Counter[int](), [str(place)], 0
    while waiting:
        path = waiting.pop()
        with suppress(OSError):  # Gone since it was listed, or nothing we may look into.
            status = os.lstat(path)
            device = device or os.lstat(place.parent).st_dev
            if status.st_dev != device:
                continue
            if stat.S_ISDIR(status.st_mode):
                waiting += [os.path.join(path, name) for name in os.listdir(path)]
                continue
            names[status.st_ino] += 1
            if names[status.st_ino] == status.st_nlink:
                total += status.st_blocks * BLOCK
    return total


def _by_resource(plan: Path) -> dict[str, int]:
    """Returns the bytes of each sandbox of a plan; what belongs to none is under the empty name."""
    paths = _children(plan)
    resources = sorted((path.name for path in paths if path.name[0] != "."), key=len, reverse=True)
    sizes = Counter[str]()
    for path in paths:
        owner = (
            name for name in resources if f"{path.name}.".startswith((f"{name}.", f".{name}."))
        )
        sizes[next(owner, "")] += removable_bytes(path)
    return dict(sizes)


def _children(place: Path) -> list[Path]:
    try:
        return sorted(place / name for name in os.listdir(place))
    except OSError:
        return []
