"""How two snapshots differ, for people: files, line counts and a patch."""

from __future__ import annotations

import os
import stat

from cleveragents.domain.sandbox import DiffFile, TreeDiff
from cleveragents.infrastructure.sandbox.git import Git
from cleveragents.infrastructure.sandbox.manifest import Entry, Manifest

_PATCH_LIMIT = 1 << 20
_QUIET = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames")


def tree_diff(git: Git, old: tuple[str, Manifest], new: tuple[str, Manifest]) -> TreeDiff:
    """Compares two snapshots, given as (commit, manifest)."""
    counts = _line_counts(git, old[0], new[0])
    files = [
        DiffFile(
            path=path,
            status=status,
            insertions=counts.get(path, (0, 0))[0],
            deletions=counts.get(path, (0, 0))[1],
        )
        for path, status in sorted(_statuses(old[1], new[1]).items())
    ]
    patch = git.run("diff", *_QUIET, "--patch", old[0], new[0]) if files else b""
    return TreeDiff(
        files=tuple(files),
        patch=patch[:_PATCH_LIMIT].decode(errors="surrogateescape"),
        patch_truncated=len(patch) > _PATCH_LIMIT,
    )


def _line_counts(git: Git, old: str, new: str) -> dict[str, tuple[int | None, int | None]]:
    counts: dict[str, tuple[int | None, int | None]] = {}
    for record in git.run("diff", *_QUIET, "--numstat", "-z", old, new).split(b"\0")[:-1]:
        added, removed, path = record.split(b"\t", 2)
        counts[os.fsdecode(path)] = (_number(added), _number(removed))
    return counts


def _number(text: bytes) -> int | None:
    return None if text == b"-" else int(text)


def _statuses(old: Manifest, new: Manifest) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in old.files.keys() | new.files.keys():
        status = _status(old.files.get(path), new.files.get(path))
        if status:
            found[path] = status
    before, after = set(old.bare_directories()), set(new.bare_directories())
    found.update({f"{path}/": "deleted" for path in before - after if path not in new.directories})
    found.update({f"{path}/": "added" for path in after - before if path not in old.directories})
    for path in old.directories.keys() & new.directories.keys():
        if old.directories[path] != new.directories[path]:
            found[f"{path}/"] = "mode changed"
    return found


def _status(before: Entry | None, after: Entry | None) -> str | None:
    if before == after:
        return None
    if before is None:
        return "added"
    if after is None:
        return "deleted"
    if stat.S_IFMT(before.mode) != stat.S_IFMT(after.mode):
        return "type changed"
    return "mode changed" if before.object_id == after.object_id else "modified"
