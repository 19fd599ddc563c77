"""Whether a restore brought everything back: every byte, type, mode, link and directory."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.compare.results import Standing

_EXECUTABLE = 0o100
"""The only permission bit that git keeps."""
_SLACK_NANOSECONDS = 100_000_000


@dataclass(frozen=True)
class Entry:
    """What stands at a path."""

    kind: str
    """`file`, `directory`, `link` or `other`."""
    mode: int
    content: bytes = b""
    """A digest of the bytes, or where the link points."""
    is_empty: bool = False
    """A directory with no file below it, however deep."""


Fingerprint = Mapping[str, Entry]
Signature = tuple[int, int, int, int, int]
"""Inode, mode, size and times of a file, the change time last."""
_Known = Mapping[str, tuple[Signature, Entry]]


class Witness:
    """Takes fingerprints of one tree, and reads again only what may have changed since the last.

    Whatever changes a file moves its change time, which no technique can set. A
    file that changed just before it was read is read again the next time, because
    one more change might leave the same time.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[str, tuple[Signature, Entry]] = {}

    def fingerprint(self) -> Fingerprint:
        """Looks at the whole tree but git's own directory at its top."""
        known, self._known = self._known, {}
        started = time.time_ns()
        found: dict[str, Entry] = {}
        self._look(str(self._root), "", found, known)
        self._known = {
            path: (signature, entry)
            for path, (signature, entry) in self._known.items()
            if signature[-1] < started - _SLACK_NANOSECONDS
        }
        return found

    def _look(self, directory: str, prefix: str, found: dict[str, Entry], known: _Known) -> bool:
        """Returns whether there is a file somewhere below."""
        has_files = False
        with os.scandir(directory) as entries:
            for entry in entries:
                path = f"{prefix}{entry.name}"
                if path == ".git":
                    continue
                status = entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    below = self._look(entry.path, f"{path}/", found, known)
                    mode = stat.S_IMODE(status.st_mode)
                    found[path] = Entry("directory", mode, is_empty=not below)
                    has_files |= below
                    continue
                has_files = True
                signature = _signature(status)
                before = known.get(path)
                same = before is not None and before[0] == signature
                found[path] = before[1] if before and same else _leaf(entry, status.st_mode)
                self._known[path] = (signature, found[path])
        return has_files


def _signature(status: os.stat_result) -> Signature:
    return (
        *(status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns),
        status.st_ctime_ns,
    )


def _leaf(entry: os.DirEntry[str], status: int) -> Entry:
    mode = stat.S_IMODE(status)
    if entry.is_symlink():
        return Entry("link", mode, os.fsencode(Path(entry.path).readlink()))
    if not entry.is_file():
        return Entry("other", mode)
    content = Path(entry.path).read_bytes()
    return Entry("file", mode, hashlib.blake2b(content, digest_size=16).digest())


def standing_of(wanted: Fingerprint, found: Fingerprint) -> Standing:
    """Says how well `found` is what was `wanted`."""
    if wanted == found:
        return Standing.EXACT
    return Standing.INEXACT if differences(wanted, found) else Standing.NEAR_EXACT


def differences(wanted: Fingerprint, found: Fingerprint) -> list[str]:
    """Returns the paths that are wrong by more than permission bits and empty directories."""
    return sorted(
        path
        for path in wanted.keys() | found.keys()
        if _as_git_sees_it(wanted.get(path)) != _as_git_sees_it(found.get(path))
    )


def _as_git_sees_it(entry: Entry | None) -> tuple[str, bytes, bool] | None:
    """Returns what git can describe of an entry; of an empty directory nothing."""
    if entry is None or entry.is_empty:
        return None
    executable = entry.kind == "file" and bool(entry.mode & _EXECUTABLE)
    return entry.kind, entry.content, executable


if __name__ == "__main__":
    print({path: asdict(entry) for path, entry in Witness(Path()).fingerprint().items()})
