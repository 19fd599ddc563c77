"""Snapshots without git: a copy of every file, or hard links to the files of the copy before."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from benchmarks.compare.technique import NotAvailable, Technique


class Copy(Technique):
    """Copies everything each time and puts everything back."""

    name = "cp -a"
    takes_at_most: int | None = 20_000

    def __init__(self, origin: Path, store: Path) -> None:
        self.root = origin
        self.store = store
        self._number = 0
        store.mkdir(parents=True)

    def first(self) -> object:
        return self.snapshot()

    def snapshot(self) -> object:
        self._number += 1
        copy = self.copy_of(self._number)
        self.copy(copy)
        return copy

    def restore(self, snapshot: object) -> None:
        for entry in _entries(self.root):
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        _run("cp", "-a", f"{snapshot}/.", str(self.root))

    def tidy(self) -> None:
        """Keeps the two latest copies: what was before the last change, and after it."""
        gone = self._number - 2
        if gone > 0 and self.copy_of(gone).exists():
            shutil.rmtree(self.copy_of(gone))

    def copy(self, target: Path) -> None:
        target.mkdir()
        _run("cp", "-a", *map(str, _entries(self.root)), str(target))

    def copy_of(self, number: int) -> Path:
        return self.store / str(number)


class LinkedCopy(Copy):
    """Copies what changed and links the rest to the copy before; puts back what differs."""

    name = "rsync --link-dest"
    takes_at_most = None

    def __init__(self, origin: Path, store: Path) -> None:
        if shutil.which("rsync") is None:
            raise NotAvailable("rsync is not installed")
        super().__init__(origin, store)

    def copy(self, target: Path) -> None:
        before = self.copy_of(self._number - 1)
        link = [f"--link-dest={before}"] if before.exists() else []
        _run("rsync", "-a", "--exclude=/.git", *link, f"{self.root}/", f"{target}/")

    def restore(self, snapshot: object) -> None:
        _run("rsync", "-a", "--delete", "--exclude=/.git", f"{snapshot}/", f"{self.root}/")


def _entries(root: Path) -> list[Path]:
    return [entry for entry in root.iterdir() if entry.name != ".git"]


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
