"""What can go wrong while somebody looks after a store, by the words that the features use."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from features.support.sandboxes.store_bench import StoreBench

from cleveragents.infrastructure.sandbox.gc import objects
from cleveragents.infrastructure.sandbox.store import repacking
from cleveragents.infrastructure.sandbox.store.repacking import RepackArea, packing_room

Fault = Callable[[StoreBench], AbstractContextManager[object]]


def write_large_file(store: StoreBench) -> None:
    """Bytes that no packing makes smaller."""
    (store.work.root / "large").write_bytes(os.urandom(200_000))


def link_packs(store: StoreBench) -> Path:
    """Moves the packs elsewhere, and puts a link in their place."""
    elsewhere = store.work.world.directory / "elsewhere"
    store.packs.rename(elsewhere)
    store.packs.symlink_to(elsewhere)
    return elsewhere


@contextmanager
def _packs_are_a_link(store: StoreBench) -> Iterator[None]:
    elsewhere = link_packs(store)
    try:
        yield
    finally:
        store.packs.unlink()
        elsewhere.rename(store.packs)


@contextmanager
def _room_is_taken(store: StoreBench) -> Iterator[None]:
    with packing_room(store.store, store.work.git) as room:
        assert room is not None
        yield


@contextmanager
def _git_forgets(_: StoreBench) -> Iterator[None]:
    """git lists one pack less than the caller knows."""
    real: Callable[..., Any] = RepackArea.write

    def write(room: RepackArea, options: Any, listing: bytes) -> Any:
        first, _, rest = listing.partition(b"\n")
        return real(room, options, b"^" + first + b"\n" + rest)

    with patch.object(RepackArea, "write", write):
        yield


@contextmanager
def _agent_at_work(store: StoreBench) -> Iterator[None]:
    """An agent commits while the new pack is being written."""
    real: Callable[..., Any] = RepackArea.write

    def write(room: RepackArea, options: Any, listing: bytes) -> Any:
        made = real(room, options, listing)
        store.work.agent("git commit -q --allow-empty -m meanwhile")
        return made

    with patch.object(RepackArea, "write", write):
        yield


@contextmanager
def _commit_missing(store: StoreBench) -> Iterator[None]:
    """A branch of the agent's leads to a commit whose parent nobody has any more."""
    store.work.agent("git commit -q --allow-empty -m one; git commit -q --allow-empty -m two")
    name = store.work.agent("git rev-parse HEAD~1").strip()
    path = store.store / "objects" / name[:2] / name[2:]
    content = path.read_bytes()
    path.unlink()
    yield
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)


def _no_room(module: Any) -> Fault:
    return lambda _: patch.object(module, "free_bytes", lambda _: 0)


COMBINING: dict[str, Fault] = {
    "the disk is full": _no_room(repacking),
    "the disk becomes full on the way": StoreBench.small_files_only,
    "another process is combining them": _room_is_taken,
    "git forgets one of the objects": _git_forgets,
    "a link to elsewhere is in the place of the packs": _packs_are_a_link,
}
COLLECTING: dict[str, Fault] = {
    "the disk becomes full on the way": StoreBench.small_files_only,
    "there is no room for a new pack": _no_room(objects),
    "git is at work in a sandbox meanwhile": _agent_at_work,
    "its packs are being combined": _room_is_taken,
    "a commit that a branch needs is missing": _commit_missing,
}
