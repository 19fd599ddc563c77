"""Directories that appear whole and disappear whole, whatever an agent made of them.

A draft lies beside its final place and is locked by its maker while it is
filled. One that nobody holds was left by a killed process: `reclaim` finds it.
Making and removing drafts happens under one lock, so that neither meets the
other half-way.

`remove_tree` moves a directory aside before it empties it, so its name is free at once.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.infrastructure.file_locks import exclusive
from cleveragents.infrastructure.files import fsync_directory

_SUFFIX = ".draft"
_LOCK = ".lock"
_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def sandbox_place(home: Path, plan_id: str, resource: str) -> Path:
    """Returns the directory of a plan's sandbox; its parent holds what belongs to it."""
    return home / "sandboxes" / plan_id / resource


def beside(sandbox: SandboxRef) -> Path:
    """Returns where to keep what belongs to a sandbox: never in a directory of the user.

    Nor in the layer of a private view.
    """
    if sandbox.strategy in (SandboxStrategy.IN_PLACE, SandboxStrategy.PRIVATE_VIEW):
        home = Path(sandbox.store).parent.parent
        return sandbox_place(home, sandbox.plan_id, sandbox.resource).parent
    return Path(sandbox.path).parent


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
                remove_with_parent(draft)
        os.close(descriptor)


def reclaim(sandboxes: Path) -> None:
    """Removes the drafts of killed processes, of any plan."""
    if not sandboxes.is_dir():
        return
    with exclusive(sandboxes.with_suffix(_LOCK)):
        for draft in sandboxes.glob(f"*/.*{_SUFFIX}"):
            if not is_held(draft):
                remove_with_parent(draft)
        for trash in sandboxes.glob(f"*/..*{_SUFFIX}.removed"):
            # A removal was killed half-way: this is all there is of the draft.
            remove_with_parent(trash.with_name(trash.name[1:].removesuffix(".removed")))


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


def trash_path(directory: Path) -> Path:
    """Returns where `remove_tree` moves what it is removing."""
    return directory.with_name(f".{directory.name}.removed")


def remove_tree(path: Path) -> None:
    """Removes a directory and all below it; one that is not there is fine.

    Directories are moved up before they are emptied, so neither depth nor the
    length of a path is a limit. Repeatable after a kill.
    """
    trash = trash_path(path)
    left = set(os.listdir(trash)) if trash.is_dir() else set[str]()
    names = (name for name in map(str, count()) if name not in left)
    if path.is_dir() and not path.is_symlink():
        trash.mkdir(mode=0o700, exist_ok=True)
        os.chmod(path, 0o700)  # Moving writes its `..`, which an agent may have forbidden.
        path.rename(trash / next(names))
    elif not trash.is_dir():
        return
    while waiting := os.listdir(trash):
        for directory in (trash / name for name in waiting):
            os.chmod(directory, 0o700)
            with os.scandir(directory) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        os.chmod(entry.path, 0o700)
                        os.rename(entry.path, trash / next(names))
                    else:
                        os.unlink(entry.path)
            os.rmdir(directory)
    trash.rmdir()


def remove_with_parent(path: Path) -> None:
    """Removes a directory like `remove_tree`, and the one it is in if nothing else is there."""
    remove_tree(path)
    with suppress(OSError):
        path.parent.rmdir()


def remove_notes(sandbox: Path) -> None:
    """Removes what is noted beside a sandbox that is gone."""
    for path in sandbox.parent.glob(f".{sandbox.name}.*"):
        remove_entirely(path)
    with suppress(OSError):
        sandbox.parent.rmdir()


def remove_entirely(path: Path) -> None:
    """Removes a file, or a directory of files and such directories that nobody made hard to."""
    if path.is_dir() and not path.is_symlink():
        for child in path.iterdir():
            remove_entirely(child)
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
