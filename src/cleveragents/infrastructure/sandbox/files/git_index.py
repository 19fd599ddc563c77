"""The index of a sandbox's own git: read without changing it, and written again."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cleveragents.domain.errors import SnapshotError
from cleveragents.domain.sandboxes.uncaptured import STAGED_BY_NAME, Reason
from cleveragents.infrastructure.sandbox.files.agent_objects import (
    ABSENT,
    RawChange,
    named_objects,
    raw_changes,
)
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.objects import (
    EMPTY_TREE,
    ESCAPED,
    NewObject,
    ObjectKind,
)
from cleveragents.infrastructure.sandbox.store.blobs import blob_reader
from cleveragents.infrastructure.sandbox.store.captured_state import GitState, staged_objects
from cleveragents.infrastructure.sandbox.store.lazy_tree import LazyTree

# An entry with a flag, or one side of a conflict.
_UNUSUAL = re.compile(rb"(?:\A|\0)(?:(?!H |\Z)|H \d+ [0-9a-f]+ [1-3]\t)")
_EMPTY_BLOB = b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
_CHECKSUM_BYTES = 20


@dataclass(frozen=True)
class ObservedIndex:
    """What was found of an index."""

    tree: str | None = None
    """The tree that it is, or None where no tree can hold it: conflicts or flags."""
    listing: str | None = None
    """A blob with its entries, in that case."""
    objects: tuple[NewObject, ...] = ()
    """The listing, or the trees that may not be stored."""
    staged: frozenset[str] = frozenset()
    """The blobs that only the listing leads to."""
    blobs: frozenset[str] = frozenset()
    """The blobs that the commit of HEAD does not lead to."""
    by_name: tuple[tuple[str, Reason], ...] = ()
    """What `git add --intent-to-add` named."""
    tracked_though_ignored: frozenset[str] = frozenset()


def read_index(git: Git, admin: Path, commit: str | None) -> ObservedIndex:
    """Reads an index; one that is not there is empty.

    Args:
        git: A git that can read the objects.
        admin: The directory that has the index.
        commit: The commit of HEAD, which saves reading what the index has in common with it.

    Raises:
        SnapshotError: it is damaged, or something that it needs is missing.
    """
    with _copy_of_index(git, admin) as asked:
        listing = asked.run("ls-files", "-z", "--stage", "-v")
        by_name = tuple(_staged_by_name(asked, listing))
        forced = asked.run("ls-files", "-z", "--cached", "--ignored", "--exclude-standard")
        ignored = frozenset(map(os.fsdecode, forced.split(b"\0")[:-1]))
        if _UNUSUAL.search(listing) or ESCAPED.encode() in listing:
            blob = NewObject.of(ObjectKind.BLOB, listing)
            staged = frozenset(staged_objects(listing))
            return ObservedIndex(None, blob.id, (blob,), staged, staged, by_name, ignored)
        base = EMPTY_TREE
        if commit is not None:
            base = os.fsdecode(asked.run("rev-parse", f"{commit}^{{tree}}")).strip()
        options = ("--cached", "--raw", "-z", "--abbrev=40", "--no-renames")
        changes = raw_changes(asked.run("diff-index", *options, base))
    tree, objects = _index_tree(git, base, changes)
    blobs = frozenset(named_objects(changes))
    return ObservedIndex(tree, None, objects, frozenset(), blobs, by_name, ignored)


def _index_tree(git: Git, base: str, changes: list[RawChange]) -> tuple[str, tuple[NewObject, ...]]:
    """Returns the tree that the index is, and its trees that may not be stored.

    `git write-tree` would store them; looking must not change anything.
    """
    if not changes:
        return base, ()
    with blob_reader(git) as objects:
        tree = LazyTree(base, objects.read)
        for mode, object_id, name in changes:
            if mode == ABSENT:
                tree.remove(name)
            else:
                tree.put(name, (mode, object_id))
        identity, made = tree.flush()
    return identity, tuple(made)


@contextmanager
def _copy_of_index(git: Git, admin: Path) -> Generator[Git]:
    """Git writes to the index it is given even to answer, so it gets a copy."""
    index, copy = admin / "index", admin / f"index.cleveragents-{secrets.token_hex(4)}"
    try:
        if os.path.lexists(index):
            copy.write_bytes(_whole_index(index))
        yield git.with_variables(GIT_INDEX_FILE=str(copy))
    finally:
        copy.unlink(missing_ok=True)
        copy.with_name(f"{copy.name}.lock").unlink(missing_ok=True)


def _whole_index(index: Path) -> bytes:
    """Returns the bytes of an index; raises SnapshotError if it is damaged.

    Git does not look at the checksum: of half an index it makes entries that nobody staged.
    """
    if not index.is_file():
        raise SnapshotError("The index is not a file")
    content = index.read_bytes()
    body, checksum = content[:-_CHECKSUM_BYTES], content[-_CHECKSUM_BYTES:]
    is_without = not any(checksum)  # `index.skipHash` saves git the work.
    if not is_without and hashlib.sha1(body, usedforsecurity=False).digest() != checksum:
        raise SnapshotError("The index is damaged: its checksum is wrong")
    return content


def _staged_by_name(git: Git, listing: bytes) -> list[tuple[str, Reason]]:
    """Returns what `git add --intent-to-add` named: the index has it as an empty file."""
    heads = (line.partition(b"\t") for line in listing.split(b"\0"))
    empty = {name for head, _, name in heads if _EMPTY_BLOB in head}
    if not empty:
        return []
    # The index alone is asked: files that git cannot make sense of do not matter here.
    options = ("--cached", "--ita-invisible-in-index", "--name-only", "-z", "--no-renames")
    shown = git.run("diff-index", *options, EMPTY_TREE)
    names = sorted(map(os.fsdecode, empty.difference(shown.split(b"\0"))))
    return [(f".git/index: {name}", STAGED_BY_NAME) for name in names]


def restore_index(git: Git, admin: Path, wanted: GitState, *, keep: bool) -> None:
    """Writes an index; with `keep`, entries that stay keep what git knows about their files."""
    index = admin / "index"
    draft = admin / f"index.cleveragents-{secrets.token_hex(4)}"
    drafting = git.with_variables(GIT_INDEX_FILE=str(draft))
    try:
        if keep and index.exists():
            shutil.copyfile(index, draft)
        drafting.run("read-tree", "--reset", wanted.index_tree or EMPTY_TREE)
        if wanted.index_listing is not None:
            _fill(drafting, git.run("cat-file", "blob", wanted.index_listing))
        if index.is_dir():
            shutil.rmtree(index)
        draft.replace(index)
    finally:
        draft.unlink(missing_ok=True)
        draft.with_name(f"{draft.name}.lock").unlink(missing_ok=True)


def _fill(git: Git, listing: bytes) -> None:
    lines = [line for line in listing.split(b"\0") if line]
    git.run(
        "update-index", "-z", "--index-info", stdin=b"".join(line[2:] + b"\0" for line in lines)
    )
    marked = {
        "--assume-unchanged": [line for line in lines if line[:1].islower()],
        "--skip-worktree": [line for line in lines if line[:1] in b"Ss"],
    }
    for option, chosen in marked.items():
        if chosen:
            names = b"".join(line.partition(b"\t")[2] + b"\0" for line in chosen)
            git.run("update-index", option, "-z", "--stdin", stdin=names)
