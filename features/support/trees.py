"""Directories as plain values, read by our own eyes: what a scenario compares byte for byte."""

from __future__ import annotations

import functools
import os
import sqlite3
import stat
import subprocess
from contextlib import closing
from pathlib import Path
from typing import NamedTuple


class Node(NamedTuple):
    """One entry of a directory: kind and mode, and its bytes or the target of a link."""

    kind: str
    mode: int
    content: bytes


Tree = dict[str, Node]


def tree(root: Path, *, without: frozenset[str] = frozenset()) -> Tree:
    """Everything below a directory, empty directories too; names may hold any byte."""
    places = (
        Path(directory, name)
        for directory, directories, files in os.walk(root)
        for name in (*directories, *files)
    )
    return {
        str(place.relative_to(root)): _node(place)
        for place in places
        if place.relative_to(root).parts[0] not in without
    }


def _node(path: Path) -> Node:
    status = path.lstat()
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISLNK(status.st_mode):
        return Node("link", 0, os.fsencode(path.readlink()))
    if stat.S_ISDIR(status.st_mode):
        return Node("directory", mode, b"")
    if not stat.S_ISREG(status.st_mode):
        return Node("special", mode, b"")
    return Node("file", mode, path.read_bytes())


def git_place(sandbox: Path) -> str:
    """Where git is in a sandbox, in git's own words: commit, branch and index."""
    return _said_by_git(sandbox, tuple(map(_bytes, _what_git_reads(sandbox))))


def _what_git_reads(sandbox: Path) -> list[Path]:
    """The files of a sandbox's git that decide where it is; without them git is asked once."""
    link = sandbox / ".git"
    private = (
        Path(_bytes(link).decode().removeprefix("gitdir: ").strip()) if link.is_file() else link
    )
    common = private / _bytes(private / "commondir").decode().strip()
    branch = _bytes(private / "HEAD").decode(errors="replace").removeprefix("ref: ").strip()
    return [private / "HEAD", private / "index", common / branch, common / "packed-refs"]


def _bytes(file: Path) -> bytes:
    return file.read_bytes() if file.is_file() else b""


@functools.lru_cache(maxsize=64)
def _said_by_git(sandbox: Path, _read: tuple[bytes, ...]) -> str:
    asked = (
        ["git", "rev-parse", "HEAD", "--symbolic-full-name", "HEAD"],
        ["git", "ls-files", "--stage", "-v"],
    )
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    said = [
        subprocess.run(command, cwd=sandbox, env=clean, capture_output=True, check=False)
        for command in asked
    ]
    return "".join(done.stdout.decode(errors="surrogateescape") for done in said)


Records = dict[str, list[tuple[object, ...]]]


def records(database: Path) -> Records:
    """Every row of the database but the leases, which come and go with each command."""
    with closing(sqlite3.connect(database)) as connection:
        # A scenario may have stored what is not text.
        connection.text_factory = lambda stored: stored.decode("utf-8", "surrogateescape")
        names = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if name != "locks"
        ]
        return {
            name: sorted(connection.execute(f"SELECT * FROM {name}"), key=repr) for name in names
        }


def difference(old: Tree, new: Tree) -> list[str]:
    """Paths that are not the same in both, for the message of a failed comparison."""
    return sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path))
