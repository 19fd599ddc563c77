"""HEAD, branch and index of a sandbox's own git: read, and put back."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import time_ns

from cleveragents.domain.errors import SandboxMissingError
from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.domain.sandboxes.uncaptured import (
    GIT_OPERATIONS,
    OTHER_GIT,
    STAGED_BY_NAME,
    Reason,
)
from cleveragents.infrastructure.files import write_durably
from cleveragents.infrastructure.sandbox.files.scan import SLACK_NANOSECONDS
from cleveragents.infrastructure.sandbox.git.command import Git, admin_directory, git_on_sandbox
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
_ABSENT = "000000"
_EMPTY_BLOB = b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
_NO_GIT = GitState()

Stamps = list[list[int] | None]
"""Times, size and inode of some files; None for one that is not there."""


@dataclass(frozen=True)
class ObservedGit:
    """What was found of the sandbox's git."""

    state: GitState = _NO_GIT
    objects: tuple[NewObject, ...] = ()
    """What has to be stored to keep the index: its trees, or a listing where trees will not do."""
    uncaptured: tuple[tuple[str, Reason], ...] = ()
    """What a snapshot does not hold, and why."""
    tracked_though_ignored: frozenset[str] = frozenset()
    staged: frozenset[str] = frozenset()
    """The blobs that only a listing leads to."""


class SandboxGit:
    """The git side of one sandbox."""

    def __init__(self, sandbox: SandboxRef, git: Git) -> None:
        self._sandbox = sandbox
        self._admin = admin_directory(sandbox)
        self.git = git_on_sandbox(git, sandbox)
        self.seen: tuple[Stamps, ObservedGit] | None = None
        """What was found last, and by which stamps to know that it still holds."""
        self._link = Path(sandbox.path) / ".git"
        self._link_content = os.fsencode(f"gitdir: {self._admin}\n")
        self._made: Stamps | None = None
        """The stamps of what we have just made, while nobody else has the sandbox."""

    def stamps(self) -> Stamps:
        """Returns what changes whenever HEAD, the branch or the index may have changed."""
        admin = str(self._admin)
        try:
            with open(f"{admin}/HEAD", "rb", buffering=0) as head:
                branch = os.fsdecode(head.read()).removeprefix("ref: ").strip()
        except OSError:
            branch = ""
        places = [f"{admin}/{name}" for name in ("HEAD", "index", "gitdir")]
        places.append(f"{self._sandbox.path}/.git")
        places += [f"{self._sandbox.store}/{name}" for name in (branch, "packed-refs")]
        places += [f"{admin}/{name}" for name in GIT_OPERATIONS]
        stamps: Stamps = []
        for place in places:
            try:
                status = os.lstat(place)
            except OSError:
                stamps.append(None)
            else:
                times = [status.st_mtime_ns, status.st_ctime_ns]
                stamps.append([*times, status.st_size, status.st_ino])
        return stamps

    def look(self) -> ObservedGit:
        """Returns HEAD, branch and index; git is asked only if they may have changed.

        Raises:
            SandboxMissingError: the private repository knows no such sandbox.
        """
        stamps = self.stamps()
        newest = max((time for stamp in stamps if stamp for time in stamp[:2]), default=0)
        # Right after a write, another one could leave the same stamps.
        is_fresh = newest > time_ns() - SLACK_NANOSECONDS
        doubtful = is_fresh and stamps != self._made
        if self.seen is None or self.seen[0] != stamps or doubtful:
            self.seen = (stamps, self._look())
        return self.seen[1]

    def know(self, look: ObservedGit) -> None:
        """Says what a new sandbox has, which nobody else works in yet."""
        self._made = self.stamps()
        self.seen = (self._made, look)

    def _look(self) -> ObservedGit:
        try:
            pointer = os.fsdecode((self._admin / "gitdir").read_bytes()).rstrip("\n")
        except OSError:
            pointer = ""
        if pointer != f"{self._sandbox.path}/.git":
            path = self._sandbox.path
            raise SandboxMissingError(path, "is not known to its private repository")
        branch = os.fsdecode(self.git.run("symbolic-ref", "-q", "HEAD", ok=(0, 1))).strip()
        commit = os.fsdecode(
            self.git.run("rev-parse", "--verify", "-q", "HEAD^{commit}", ok=(0, 1, 128))
        ).strip()
        with self._copy_of_index() as git:
            listing = git.run("ls-files", "-z", "--stage", "-v")
            by_name = self._staged_by_name(git, listing)
            forced = git.run("ls-files", "-z", "--cached", "--ignored", "--exclude-standard")
            tree, objects = None, (NewObject.of(ObjectKind.BLOB, listing),)
            if not _UNUSUAL.search(listing) and ESCAPED.encode() not in listing:
                tree, objects = self._index_tree(git, commit)
        return ObservedGit(
            state=GitState(
                branch=branch or None,
                commit=commit or None,
                index_tree=tree,
                index_listing=objects[0].id if tree is None else None,
            ),
            objects=objects,
            uncaptured=(*self._under_way(), *self._strange_link(), *by_name),
            tracked_though_ignored=frozenset(map(os.fsdecode, forced.split(b"\0")[:-1])),
            staged=frozenset(staged_objects(listing) if tree is None else ()),
        )

    def _index_tree(self, git: Git, commit: str) -> tuple[str, tuple[NewObject, ...]]:
        """Returns the tree that the index is, and its trees that may not be stored.

        `git write-tree` would store them; looking must not change anything.
        """
        base = EMPTY_TREE
        if commit:
            base = os.fsdecode(git.run("rev-parse", f"{commit}^{{tree}}")).strip()
        changes = git.run(
            "diff-index", "--cached", "--raw", "-z", "--abbrev=40", "--no-renames", base
        )
        fields = changes.split(b"\0")[:-1]
        if not fields:
            return base, ()
        with blob_reader(git) as objects:
            tree = LazyTree(base, objects.read)
            for head, name in zip(fields[::2], fields[1::2], strict=True):
                _, mode, _, object_id, _ = head.decode().split(" ")
                if mode == _ABSENT:
                    tree.remove(os.fsdecode(name))
                else:
                    tree.put(os.fsdecode(name), (mode, object_id))
            identity, made = tree.flush()
        return identity, tuple(made)

    @contextmanager
    def _copy_of_index(self) -> Generator[Git]:
        """Git writes to the index it is given even to answer, so it gets a copy."""
        copy = self._admin / f"index.cleveragents-{secrets.token_hex(4)}"
        try:
            with suppress(FileNotFoundError):
                shutil.copyfile(self._admin / "index", copy)
            yield self.git.with_variables(GIT_INDEX_FILE=str(copy))
        finally:
            copy.unlink(missing_ok=True)
            copy.with_name(f"{copy.name}.lock").unlink(missing_ok=True)

    def start(self, wanted: GitState) -> None:
        """Gives a new sandbox its own branch, and HEAD and index, wherever HEAD is."""
        if wanted.commit is not None:
            self.git.run("update-ref", f"refs/heads/{self._sandbox.branch}", wanted.commit)
        if wanted.branch != f"refs/heads/{self._sandbox.branch}":
            self._restore_head(wanted)
        self._restore_index(wanted, keep=False)

    def restore(self, wanted: GitState) -> None:
        """Puts HEAD, branch and index back, and the link to them if it was damaged."""
        if not self._is_linked():
            self._restore_link()
        present = self.look().state
        if present == wanted:
            return
        self._remove_locks(wanted)
        if (present.branch, present.commit) != (wanted.branch, wanted.commit):
            self._restore_head(wanted)
        if (present.index_tree, present.index_listing) != (wanted.index_tree, wanted.index_listing):
            self._restore_index(wanted, keep=present.index_listing is None)

    def _restore_head(self, wanted: GitState) -> None:
        if wanted.branch is None:
            self.git.run("update-ref", "--no-deref", "HEAD", wanted.commit or "")
            return
        self.git.run("symbolic-ref", "HEAD", wanted.branch)
        if wanted.commit is None:
            self.git.run("update-ref", "-d", wanted.branch)
        else:
            self.git.run("update-ref", wanted.branch, wanted.commit)

    def _under_way(self) -> list[tuple[str, Reason]]:
        return [
            (f".git/{name}", reason)
            for name, reason in GIT_OPERATIONS.items()
            if (self._admin / name).exists()
        ]

    def _strange_link(self) -> list[tuple[str, Reason]]:
        if self._is_linked() or not os.path.lexists(self._link):
            return []
        return [(".git", OTHER_GIT)]

    def _staged_by_name(self, git: Git, listing: bytes) -> list[tuple[str, Reason]]:
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

    def _restore_index(self, wanted: GitState, *, keep: bool) -> None:
        """With `keep`, entries that stay the same keep what git knows about their files."""
        index = self._admin / "index"
        draft = self._admin / f"index.cleveragents-{secrets.token_hex(4)}"
        git = self.git.with_variables(GIT_INDEX_FILE=str(draft))
        try:
            if keep and index.exists():
                shutil.copyfile(index, draft)
            git.run("read-tree", "--reset", wanted.index_tree or EMPTY_TREE)
            if wanted.index_listing is not None:
                self._fill_index(git, self.git.run("cat-file", "blob", wanted.index_listing))
            draft.replace(index)
        finally:
            draft.unlink(missing_ok=True)
            draft.with_name(f"{draft.name}.lock").unlink(missing_ok=True)

    def _fill_index(self, git: Git, listing: bytes) -> None:
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

    def _is_linked(self) -> bool:
        try:
            regular = stat.S_ISREG(os.lstat(self._link).st_mode)
            return regular and self._link.read_bytes() == self._link_content
        except OSError:
            return False

    def _restore_link(self) -> None:
        """An agent may remove or replace `.git`: what it put there is moved aside, not deleted."""
        plan_directory = self._link.parent.parent
        if os.path.lexists(self._link):
            aside = f".{self._sandbox.resource}.git-found-{secrets.token_hex(4)}"
            self._link.rename(plan_directory / aside)
        draft = plan_directory / f".{self._sandbox.resource}.git-link"
        write_durably(draft, self._link_content, mode=0o644)
        draft.replace(self._link)

    def _remove_locks(self, wanted: GitState) -> None:
        """A tool that was killed may have left locks of its git; it no longer runs."""
        for place in (self._admin / "HEAD", Path(self._sandbox.store) / (wanted.branch or "HEAD")):
            with suppress(FileNotFoundError):
                place.with_name(f"{place.name}.lock").unlink()


def forked(state: GitState, source: SandboxRef, fork: SandboxRef) -> GitState:
    """Returns where the git of a fork is to be: on its own branch if the source was on its own."""
    on_branch = state.branch == f"refs/heads/{source.branch}" or state.commit is None
    return replace(state, branch=f"refs/heads/{fork.branch}" if on_branch else None)
