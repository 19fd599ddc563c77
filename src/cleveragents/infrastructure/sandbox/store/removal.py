"""Removing what an agent left behind, however deep, long or read-only it is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path


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
        _move(path, trash / next(names))
    elif not trash.is_dir():
        return
    while waiting := os.listdir(trash):
        for name in waiting:
            _empty(trash / name, trash, names)
            os.rmdir(trash / name)
    trash.rmdir()


def _empty(directory: Path, trash: Path, names: Iterator[str]) -> None:
    os.chmod(directory, 0o700)
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                _move(Path(entry.path), trash / next(names))
            else:
                os.unlink(entry.path)


def _move(directory: Path, target: Path) -> None:
    """An agent leaves read-only directories behind; moving one writes its `..`."""
    os.chmod(directory, 0o700)
    directory.rename(target)


def remove_if_empty(directory: Path) -> None:
    with suppress(OSError):
        directory.rmdir()
