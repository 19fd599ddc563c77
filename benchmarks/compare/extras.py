"""What grows: time with the number of checkpoints, disk with each change, memory with the tree."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import time
from pathlib import Path

from benchmarks.compare.ours import Ours, in_new_process
from benchmarks.compare.results import Check, Tree
from benchmarks.compare.trees import Editor, furnish, make_project

_WINDOW = 21
_CHANGES = 40
"""Fewer than would have the packs merged or old checkpoints dropped meanwhile."""
_HOT_FILES = 10
_MANY = 100
_FORGOTTEN = 65.0


def growth(place: Path, files: int, checkpoints: int) -> Check:
    """Compares the last of many checkpoints of a plan with the tenth of another.

    They are made in turn, so that what else the machine does hits both alike;
    the plans have homes of their own, so that neither grows with the other.
    What plans make in hours is made in seconds here, so the disk gets time to forget it.
    """
    tree = Tree(files)
    make_project(place / "project", tree)
    old, young = (_Running(place, name, tree) for name in ("old", "young"))
    start = 10 - _WINDOW // 2
    for _ in range(checkpoints - _WINDOW):
        old.checkpoint()
    for _ in range(start - 1):
        young.checkpoint()
    if checkpoints > _MANY:
        _rest()
    late: list[float] = []
    early: list[float] = []
    for _ in range(_WINDOW):
        late.append(old.checkpoint())
        early.append(young.checkpoint())
    old.close()
    young.close()
    ratio = statistics.median(late) / statistics.median(early)
    return Check(
        f"checkpoint {checkpoints:,} of a plan against checkpoint 10, {files:,} files",
        ratio,
        "times",
        1.2,
    )


def _rest() -> None:
    """Waits until ext4 uses the places of removed files again, which it steps over for a minute.

    With thousands of them, making a file takes it a millisecond instead of some microseconds.
    """
    os.sync()
    time.sleep(_FORGOTTEN)


def disk(place: Path, files: int) -> list[Check]:
    """Returns what one changed file three directories deep adds to the store, and once packed."""
    tree = Tree(files)
    make_project(place / "project", tree)
    plan = _Running(place, "plan", tree)
    store = Path(plan.ours.sandbox.store)
    plain, packed = _used(store), _packed(store, place / "before.git")
    for number in range(_CHANGES):
        plan.checkpoint(number % _HOT_FILES)
    plain = (_used(store) - plain) / _CHANGES
    packed = (_packed(store, place / "after.git") - packed) / _CHANGES
    plan.close()
    return [
        Check("one changed 4 KB file, on disk", plain / 1024, "KB", 16),
        Check("one changed 4 KB file, after packing", packed / 1024, "KB", 2),
    ]


def memory(place: Path, sizes: tuple[int, int]) -> Check:
    """Returns by how much a process grows with each file of the sandbox that it watches.

    That is the slope between a small tree and a large one: what the process
    needs for any tree is not in it.
    """
    small, large = (_grown(place / str(files), files) for files in sizes)
    slope = (large - small) / (sizes[1] - sizes[0])
    name = f"memory a file, from {sizes[0]:,} to {sizes[1]:,} files"
    return Check(name, max(slope, 0.0), "bytes", 200)


def _grown(place: Path, files: int) -> int:
    tree = Tree(files)
    make_project(place / "project", tree)
    ours = Ours(place / "project", place / "store")
    furnish(ours.root, tree)
    ours.first()
    ours.close()
    grown = in_new_process(ours.home, ours.plan_id, "memory")["grown"]
    shutil.rmtree(place)
    return grown


class _Running:
    """A watched plan in a home of its own, in which file after file is changed."""

    def __init__(self, place: Path, name: str, tree: Tree) -> None:
        self.ours = Ours(place / "project", place / name)
        furnish(self.ours.root, tree)
        self.ours.first()
        self._editor = Editor(self.ours.root, tree)

    def checkpoint(self, which: int | None = None) -> float:
        """Changes a file, a random one or always the same, and returns the checkpoint's seconds."""
        self._editor.edit(1) if which is None else self._editor.edit_number(which)
        started = time.perf_counter()
        self.ours.snapshot()
        return time.perf_counter() - started

    def close(self) -> None:
        self.ours.close()


def _used(directory: Path) -> int:
    """Returns the bytes of all blocks below, those of hard links once."""
    found = [path.lstat() for path in directory.rglob("*")]
    return sum({status.st_ino: status.st_blocks * 512 for status in found}.values())


def _packed(store: Path, copy: Path) -> int:
    """Returns what a copy of the store takes when it is packed; the store stays as it is."""
    shutil.copytree(store, copy, symlinks=True)
    variables = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(
        ["git", "--git-dir", str(copy), "repack", "--geometric=2", "-d", "--quiet"],
        env=os.environ | variables,
        check=True,
    )
    return sum(path.stat().st_size for path in (copy / "objects").rglob("*") if path.is_file())
