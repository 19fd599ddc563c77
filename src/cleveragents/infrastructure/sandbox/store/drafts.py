"""Directories that appear under their name only when they are whole.

A draft lies beside its final place and is locked by its maker while it is
filled. One that nobody holds was left by a killed process: `reclaim` finds it.
Making and removing drafts happens under one lock, so that neither meets the
other half-way.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from cleveragents.infrastructure.files import exclusive, fsync_directory
from cleveragents.infrastructure.sandbox.store.removal import remove_if_empty, remove_tree

_SUFFIX = ".draft"
_LOCK = ".lock"
_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@contextmanager
def drafted(final: Path) -> Generator[Path]:
    """Gives an empty directory to fill; it becomes `final` when the block ends well.

    When it does not, nothing is left. The draft's permission bits are its filler's.
    """
    with _locked(final.with_name(f".{final.name}{_SUFFIX}")) as draft:
        yield draft
        draft.rename(final)
        fsync_directory(final.parent)


@contextmanager
def scratch(place: Path) -> Generator[Path]:
    """Gives a directory beside `place`, on its file system, that is gone after the block."""
    with _locked(place.with_name(f".{place.name}-{secrets.token_hex(4)}{_SUFFIX}")) as directory:
        yield directory


@contextmanager
def _locked(draft: Path) -> Generator[Path]:
    """Makes a directory that is ours until the block ends; what then still has its name goes."""
    sandboxes = draft.parent.parent
    sandboxes.mkdir(mode=0o700, parents=True, exist_ok=True)
    with exclusive(sandboxes.with_suffix(_LOCK)):
        remove_tree(draft)
        draft.mkdir(mode=0o700, parents=True)
        descriptor = os.open(draft, _FLAGS)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield draft
    finally:
        if draft.exists():
            with exclusive(sandboxes.with_suffix(_LOCK)):
                _remove(draft)
        os.close(descriptor)


def reclaim(sandboxes: Path) -> None:
    """Removes the drafts of killed processes, of any plan."""
    if not sandboxes.is_dir():
        return
    with exclusive(sandboxes.with_suffix(_LOCK)):
        for draft in sandboxes.glob(f"*/.*{_SUFFIX}"):
            if not is_held(draft):
                _remove(draft)
        for trash in sandboxes.glob(f"*/..*{_SUFFIX}.removed"):
            # A removal was killed half-way: this is all there is of the draft.
            _remove(trash.with_name(trash.name[1:].removesuffix(".removed")))


def _remove(draft: Path) -> None:
    remove_tree(draft)
    remove_if_empty(draft.parent)


def is_held(draft: Path) -> bool:
    """Returns whether a process is filling it, or has just finished: then it has its final name."""
    try:
        descriptor = os.open(draft, _FLAGS)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
