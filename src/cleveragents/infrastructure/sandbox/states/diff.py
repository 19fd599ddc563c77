"""How two snapshots differ, for people: files, line counts and a patch."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import replace

from cleveragents.domain.sandboxes.sandbox import DiffFile, FilePatch, TreeDiff
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.objects import shown
from cleveragents.infrastructure.sandbox.states.difference import difference
from cleveragents.infrastructure.sandbox.states.path_changes import (
    DIFF_OPTIONS,
    PathStates,
    line_counts,
)
from cleveragents.infrastructure.sandbox.store.captured_state import CapturedState, TreeEntry
from cleveragents.infrastructure.sandbox.store.lazy_tree import LazyTree, ReadTree

NOT_CAPTURED = "not captured"
"""The status of a file that is there, but not in the newer snapshot: it is not deleted."""
PATCH_LIMIT = 1 << 20
_SECTION = b"diff --git "


def tree_diff(
    git: Git,
    old: tuple[str, CapturedState],
    new: tuple[str, CapturedState],
    read: ReadTree,
    prefix: str,
) -> TreeDiff:
    """Compares two snapshots, given as (commit, what it holds); `prefix` begins every path."""
    statuses = _statuses(old[1], new[1], read)
    unknown = {path for path, status in statuses.items() if status == NOT_CAPTURED}
    counts = line_counts(git, old[0], new[0])
    for path in unknown:
        counts.pop(path, None)
    files = [
        DiffFile(
            path=f"{prefix}{path}",
            status=status,
            insertions=counts.get(path, (0, 0))[0],
            deletions=counts.get(path, (0, 0))[1],
        )
        for path, status in sorted(statuses.items())
    ]
    if not files:
        return TreeDiff(files=(), patches=(), patch_truncated=False)
    patch = git.beginning(PATCH_LIMIT + 1, *_patch_arguments(prefix), old[0], new[0])
    return TreeDiff(
        files=tuple(files),
        patches=tuple(
            item
            for item in _patches(_patched_paths(git, old[0], new[0]), patch, prefix)
            if item.path.removeprefix(prefix) not in unknown
        ),
        patch_truncated=len(patch) > PATCH_LIMIT,
    )


def _patch_arguments(prefix: str) -> tuple[str, ...]:
    prefixes = (f"--src-prefix=a/{prefix}", f"--dst-prefix=b/{prefix}")
    return ("diff", *DIFF_OPTIONS, "--patch", *prefixes)


def _patches(paths: Sequence[str], patch: bytes, prefix: str) -> Iterator[FilePatch]:
    """Gives each section of a patch its path, which a header does not tell unambiguously.

    Sections have the order of the listing. Every line of content begins with a space, a sign
    or a backslash, and no name has a line end in it, so only a header can begin a section.
    """
    whole_lines = patch[: patch.rfind(b"\n", 0, PATCH_LIMIT) + 1]
    sections = (b"\n" + whole_lines).split(b"\n" + _SECTION)[1:]
    for path, section in zip(paths, sections, strict=False):  # The patch may have been cut.
        text = os.fsdecode(_SECTION + section.removesuffix(b"\n") + b"\n")
        yield FilePatch(path=f"{prefix}{path}", text=text)


def _patched_paths(git: Git, old: str, new: str) -> list[str]:
    """Returns the path of each section of the patch: two where the type of a file changed."""
    listing = git.run("diff", *DIFF_OPTIONS, "--name-status", "-z", old, new).split(b"\0")[:-1]
    return [
        shown(os.fsdecode(path))
        for status, path in zip(listing[::2], listing[1::2], strict=True)
        for _ in range(2 if status == b"T" else 1)
    ]


def _statuses(old: CapturedState, new: CapturedState, read: ReadTree) -> dict[str, str]:
    """Returns how each path changed; paths that were left out count too."""
    acts = difference(_all_captured(old), _all_captured(new), read)
    before = LazyTree(old.tree, read)
    after = PathStates(new, LazyTree(new.tree, read))
    found = {
        path: NOT_CAPTURED if after.left_out(path) else "deleted" for path in acts.remove_files
    }
    for path, entry in acts.write_files:
        node = before.get(path)
        was = old.entry_of(path, node) if node is not None and before.is_file(path) else None
        found[path] = _status(was, entry)
    directories = acts.shown_directories
    found |= {f"{path}/": "deleted" for path in acts.remove_directories if path in directories}
    found |= {f"{path}/": "added" for path in acts.make_directories if path in directories}
    made = {*acts.make_directories}
    found |= {
        f"{path}/": "mode changed"
        for path, _ in acts.set_modes
        if path in directories and path not in made
    }
    return found


def _all_captured(state: CapturedState) -> CapturedState:
    return replace(state, not_captured={}, ignored=frozenset())


def _status(before: TreeEntry | None, after: TreeEntry) -> str:
    if before is None:
        return "added"
    if stat.S_IFMT(before.mode) != stat.S_IFMT(after.mode):
        return "type changed"
    return "mode changed" if before.object_id == after.object_id else "modified"
