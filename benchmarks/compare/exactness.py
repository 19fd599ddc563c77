"""Whether a restore brought everything back: every byte, type, mode, link and directory."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.compare.results import Standing

_EXECUTABLE = 0o100
"""The only permission bit that git keeps."""


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


def fingerprint(root: Path) -> Fingerprint:
    """Reads the whole tree but git's own directory at its top."""
    found: dict[str, Entry] = {}
    _read(root, "", found)
    return found


def _read(directory: Path, prefix: str, found: dict[str, Entry]) -> bool:
    """Returns whether there is a file somewhere below."""
    has_files = False
    with os.scandir(directory) as entries:
        for entry in entries:
            path = f"{prefix}{entry.name}"
            if path == ".git":
                continue
            mode = stat.S_IMODE(entry.stat(follow_symlinks=False).st_mode)
            if entry.is_dir(follow_symlinks=False):
                below = _read(Path(entry.path), f"{path}/", found)
                found[path] = Entry("directory", mode, is_empty=not below)
                has_files |= below
            else:
                found[path] = _leaf(entry, mode)
                has_files = True
    return has_files


def _leaf(entry: os.DirEntry[str], mode: int) -> Entry:
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
