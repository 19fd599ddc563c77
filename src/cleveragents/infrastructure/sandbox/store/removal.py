"""Removing what an agent left behind, however deep, long or read-only it is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path


def remove_tree(path: Path) -> None:
    """Removes a directory and all below it; one that is not there is fine.

    Directories are moved up before they are emptied, so neither depth nor the
    length of a path is a limit. Repeatable after a kill.
    """
    heap = path.with_name(f".{path.name}.removed")
    left = set(os.listdir(heap)) if heap.is_dir() else set[str]()
    names = (name for name in map(str, count()) if name not in left)
    if path.is_dir() and not path.is_symlink():
        heap.mkdir(mode=0o700, exist_ok=True)
        _move(path, heap / next(names))
    elif not heap.is_dir():
        return
    while waiting := os.listdir(heap):
        for name in waiting:
            _empty(heap / name, heap, names)
            os.rmdir(heap / name)
    heap.rmdir()


def _empty(directory: Path, heap: Path, names: Iterator[str]) -> None:
    os.chmod(directory, 0o700)
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                _move(Path(entry.path), heap / next(names))
            else:
                os.unlink(entry.path)


def _move(directory: Path, target: Path) -> None:
    """An agent leaves read-only directories behind; moving one writes its `..`."""
    os.chmod(directory, 0o700)
    directory.rename(target)


def remove_if_empty(directory: Path) -> None:
    with suppress(OSError):
        directory.rmdir()
