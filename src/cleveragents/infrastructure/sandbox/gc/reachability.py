"""What in a store is still needed: by refs, by the index and the history of each sandbox."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.store.blobs import missing_objects
from cleveragents.infrastructure.sandbox.store.packs import packs

_OBJECT_ID = re.compile(rb"\b[0-9a-f]{40}\b")


@dataclass(frozen=True)
class NeededObjects:
    """The objects that must stay, of those that were asked about."""

    ids: frozenset[bytes]
    listing: list[bytes]
    """A line for each, with its path where it has one: git packs better for knowing it."""


def needed_objects(
    git: Git, store: Path, refs: Collection[str], among: Collection[bytes]
) -> NeededObjects:
    """Follows everything that leads to objects.

    Args:
        git: On the store.
        store: The store.
        refs: The ids that those refs point to which are to stay.
        among: The objects in question.

    Raises:
        GitCommandError: something that is needed is missing, so that nothing can be said.
    """
    seen = _ids_in_files(store)
    tips = {*refs, *(seen - missing_objects(git, sorted(seen)))}
    listing = git.run(
        *("rev-list", "--objects", "--indexed-objects", "--stdin"),
        stdin="".join(f"{tip}\n" for tip in sorted(tips)).encode(),
    )
    lines = [line for line in listing.split(b"\n") if line and _id_of(line) in among]
    return NeededObjects(frozenset(map(_id_of, lines)), lines)


def _id_of(line: bytes) -> bytes:
    return bytes.fromhex(line[:40].decode())


def _ids_in_files(store: Path) -> set[str]:
    """Returns every object id that git wrote down beside its refs.

    That is what HEAD of each sandbox was and is, stashes, and merges and
    rebases under way; git's own collection would forget some of these.
    """
    found: set[str] = set()
    for path in _notes(store):
        found |= {match.decode() for match in _OBJECT_ID.findall(path.read_bytes())}
    return found


def _notes(store: Path) -> Iterator[Path]:
    yield from (path for path in store.glob("*HEAD") if path.is_file() and not path.is_symlink())
    for place in (store / "logs", store / "worktrees"):
        for directory, _, names in os.walk(place):
            paths = (Path(directory, name) for name in names if "index" not in name)
            yield from (path for path in paths if path.is_file() and not path.is_symlink())


def signature(git: Git, store: Path) -> object:
    """Returns a value that changes when git writes to the store."""
    noted: list[tuple[str, int, int]] = []
    for place in (store / "logs", store / "worktrees"):
        for directory, _, names in os.walk(place):
            noted += [_look(Path(directory, name)) for name in names]
    fan_outs = [path for path in (store / "objects").iterdir() if len(path.name) == 2]
    refs = git.run("for-each-ref", "--format=%(objectname) %(refname)")
    return refs, sorted(noted), sorted(map(_look, fan_outs))


def pack_signature(store: Path) -> dict[str, tuple[int, float]]:
    """Like `signature`, of the packs: a git that stores what a pack has already, touches it."""
    return {pack.path.name: (pack.size, pack.modified) for pack in packs(store)}


def _look(path: Path) -> tuple[str, int, int]:
    status = path.lstat()
    return str(path), status.st_mtime_ns, status.st_size
