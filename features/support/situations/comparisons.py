"""Comparisons and restores as they might have come out, without measuring any."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from benchmarks.compare.exactness import Entry, Fingerprint
from benchmarks.compare.results import (
    Check,
    Comparison,
    KindsRestored,
    Machine,
    Measured,
    OnTree,
    Restored,
    Role,
    Scenario,
    Standing,
    Tree,
)

ROLES = {"inside a running plan": Role.IN_PLAN, "from a new process": Role.NEW_PROCESS}
STANDINGS = {str(standing): standing for standing in Standing}

RESTORED: Fingerprint = {
    "kept": Entry("directory", 0o755),
    "kept/file": Entry("file", 0o644, b"content"),
    "kept/script": Entry("file", 0o755, b"script"),
    "kept/link": Entry("link", 0o777, b"file"),
    "empty": Entry("directory", 0o755, is_empty=True),
}
"""What a restore should bring back."""

_WRONGS: Mapping[str, Mapping[str, Entry | None]] = {
    "nothing": {},
    "a permission bit": {"kept/file": Entry("file", 0o600, b"content")},
    "an empty directory": {"empty": None},
    "a directory of empty directories": {
        "left": Entry("directory", 0o755, is_empty=True),
        "left/behind": Entry("directory", 0o755, is_empty=True),
    },
    "the permission to execute": {"kept/script": Entry("file", 0o644, b"script")},
    "a byte": {"kept/file": Entry("file", 0o644, b"Content")},
    "a link": {"kept/link": Entry("link", 0o777, b"script")},
    "a file that should be gone": {"kept/new": Entry("file", 0o644, b"new")},
    "a file that should be there": {"kept/file": None},
    "a link in place of a file": {"kept/file": Entry("link", 0o777, b"content")},
}


def restored_wrongly(what: str) -> Fingerprint:
    """Returns what a restore left that got one thing wrong."""
    found = {**RESTORED, **_WRONGS[what]}
    return {path: entry for path, entry in found.items() if entry is not None}


def seconds(milliseconds: str) -> list[float]:
    return [float(each) / 1000 for each in milliseconds.split(",") if each]


class ComparisonDraft:
    """A comparison of which a scenario says more and more."""

    def __init__(self, files: int, peers: Iterable[Measured]) -> None:
        self._files = files
        self._techniques = list(peers)
        self._checks: list[Check] = []
        self._notes: list[str] = []
        self._kinds: list[KindsRestored] = []

    def add_ours(self, where: str, milliseconds: str, standing: str = "exact") -> None:
        name = "CleverAgents" if ROLES[where] is Role.IN_PLAN else "CleverAgents, new process"
        times = {Scenario.NOTHING: seconds(milliseconds)}
        ours = Measured(name, ROLES[where], standing=STANDINGS[standing], seconds=times)
        self._techniques.append(ours)

    def add_check(self, check: Check) -> None:
        self._checks.append(check)

    def add_note(self, note: str) -> None:
        self._notes.append(note)

    def add_kinds(self, technique: str, kinds: Mapping[str, Restored]) -> None:
        self._kinds.append(KindsRestored(technique, kinds))

    def finished(self) -> Comparison:
        tree = OnTree(Tree(self._files), self._techniques)
        machine = Machine({"git": "2.39.5"})
        return Comparison(machine, [tree], self._checks, self._notes, self._kinds)


def make_tree(root: Path) -> None:
    """Makes a tree that is old enough for its times to be believed."""
    (root / "empty").mkdir()
    (root / "file").write_text("content")
    (root / "other").write_text("CONTENT")
    (root / "link").symlink_to("file")
    time.sleep(0.15)


def _edit(root: Path) -> None:
    before = (root / "file").stat()
    (root / "file").write_text("Content")
    os.utime(root / "file", ns=(before.st_atime_ns, before.st_mtime_ns))


def _point_elsewhere(root: Path) -> None:
    (root / "link").unlink()
    (root / "link").symlink_to("elsewhere")


TOUCHES: Mapping[str, Callable[[Path], object]] = {
    "nothing else": lambda _: None,
    "another byte in a file, and its old times": _edit,
    "another mode": lambda root: (root / "file").chmod(0o600),
    "another file of the same size in a file's place": lambda root: (root / "other").rename(
        root / "file"
    ),
    "a link to elsewhere": _point_elsewhere,
    "one directory less": lambda root: (root / "empty").rmdir(),
}
