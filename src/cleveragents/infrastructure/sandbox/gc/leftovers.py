"""What killed processes leave behind in and beside a store, and who may remove it.

What only we write can go as soon as nobody uses the store. What git in a
sandbox may be writing this very moment has to be old as well; a lock also goes when
no git is alive that can have made it.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from cleveragents.infrastructure.sandbox.gc.stale_locks import is_abandoned
from cleveragents.infrastructure.sandbox.git.command import PRIVATE
from cleveragents.infrastructure.sandbox.store.packs import pack_directory
from cleveragents.infrastructure.sandbox.store.repacking import room_of

RECENT = 3600.0
"""Seconds for which something of git's counts as being written."""
_OUR_DRAFT = re.compile(
    r"\..+\.[0-9a-f]{8}|tmp_pack_cleveragents_.+|index\.cleveragents-.+", re.DOTALL
)
_DRAFT_OF_GIT = re.compile(r"(tmp_|\.tmp-|incoming-).+|.+\.lock", re.DOTALL)
_OUR_KEEP = b"cleveragents:"


def is_recent(modified: float) -> bool:
    return time.time() - modified < RECENT


def leftovers(store: Path) -> Iterator[Path]:
    """Yields the files and directories to remove; nobody else may be using the store.

    Our own `.keep` files are among them: no process is left to write the ref they wait for.
    """
    draft = store.with_name(f"{store.name}.new")
    if draft.is_dir():
        yield draft
    yield from _entries(room_of(store))
    home = store.parent.parent
    yield from _drafts(_places(store), home)
    # A branch name may have slashes, and git writes `<ref>.lock` beside the ref.
    yield from _drafts((Path(directory) for directory, _, _ in os.walk(store / "refs")), home)
    for path in _entries(pack_directory(store)):
        if _is_our_keep(path) or _lacks_index(path):
            yield path


def notes_left_over(sandboxes: Path, plans: Iterable[str]) -> Iterator[Path]:
    """Yields old drafts of what is noted beside sandboxes.

    They have to be old, because another store's snapshots are noted there as well.
    """
    for plan in sorted(plans):
        for path in _entries(sandboxes / plan):
            if _OUR_DRAFT.fullmatch(path.name) and not is_recent(path.lstat().st_mtime):
                yield path


def _is_our_keep(path: Path) -> bool:
    is_keep = path.suffix == ".keep" and path.is_file() and not path.is_symlink()
    return is_keep and path.read_bytes().startswith(_OUR_KEEP)


def _lacks_index(path: Path) -> bool:
    """Whether a kill came between pack and index: git does not see such a pack, and never will."""
    is_lone = path.match("pack-*.pack") and not path.with_suffix(".idx").exists()
    return is_lone and not is_recent(path.lstat().st_mtime)


def _places(store: Path) -> Iterator[Path]:
    """Yields the directories in which files are written under another name first."""
    private = store.with_suffix(PRIVATE)
    yield from (store, private, private / "info", store / "info")
    yield store / "objects"
    yield from _entries(store / "objects")
    yield from _entries(store / "worktrees")


def _drafts(places: Iterable[Path], home: Path) -> Iterator[Path]:
    for place in places:
        for path in _entries(place):
            if _OUR_DRAFT.fullmatch(path.name) or (
                _DRAFT_OF_GIT.fullmatch(path.name) and _is_given_up(path, home)
            ):
                yield path


def _is_given_up(path: Path, home: Path) -> bool:
    if not is_recent(path.lstat().st_mtime):
        return True
    return path.suffix == ".lock" and is_abandoned(path, home)


def _entries(place: Path) -> list[Path]:
    """An agent can put a link in the place of a directory; what is behind it is not ours."""
    return sorted(place.iterdir()) if place.is_dir() and not place.is_symlink() else []
