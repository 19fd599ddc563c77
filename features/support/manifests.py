"""What a directory holds, as JSON can keep it: to compare with what was written down earlier."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

Entry = list[str | int]
Manifest = dict[str, Entry]


def manifest(root: Path) -> Manifest:
    """Kind, mode and content of everything below a directory, `.git` left out.

    A content is the SHA-256 of a file, or the target of a link. That of a file whose owner
    may not read it is not looked at: who runs the tests decides whether it could be.
    """
    found: Manifest = {}
    for directory, directories, files in os.walk(root):
        directories[:] = [name for name in directories if name != ".git"]
        for name in {*directories, *files} - {".git"}:
            path = Path(directory, name)
            found[str(path.relative_to(root))] = _entry(path)
    return dict(sorted(found.items()))


def _entry(path: Path) -> Entry:
    status = path.lstat()
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISLNK(status.st_mode):
        return ["link", 0, str(path.readlink())]
    if stat.S_ISDIR(status.st_mode):
        return ["directory", mode, ""]
    if not stat.S_ISREG(status.st_mode):
        return ["special", mode, ""]
    if not mode & stat.S_IRUSR:
        return ["file", mode, "unreadable"]
    return ["file", mode, hashlib.sha256(path.read_bytes()).hexdigest()]
