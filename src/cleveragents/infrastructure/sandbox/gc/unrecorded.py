"""The directories of sandboxes on disk, with a record or without."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from cleveragents.infrastructure.sandbox.create.overlays import remove_sandbox
from cleveragents.infrastructure.sandbox.store.directories import remove_notes

_PLAN = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")


def directories(sandboxes: Path) -> dict[str, list[str]]:
    """Returns the names of the sandboxes of each plan that has a directory, drafts not included.

    What does not have the name of a plan, or is a link, is not ours.
    """
    return {
        place.name: [path.name for path in _entries(place) if not path.name.startswith(".")]
        for place in _entries(sandboxes)
        if _PLAN.fullmatch(place.name) and place.is_dir() and not place.is_symlink()
    }


def remove_stray(sandbox: Path) -> None:
    """Removes a sandbox and what belongs to it; one that is not there is fine."""
    # It may be mounted: through the mount one would reach what it was made of.
    remove_sandbox(sandbox)
    remove_notes(sandbox)


def _entries(place: Path) -> Iterator[Path]:
    if place.is_dir() and not place.is_symlink():
        yield from sorted(place / name for name in os.listdir(place))
