"""HEAD, branch and index of a sandbox's own git: read, and put back."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cleveragents.domain.sandbox import SandboxRef
from cleveragents.infrastructure.files import write_durably
from cleveragents.infrastructure.sandbox.git import Git
from cleveragents.infrastructure.sandbox.layout import admin_directory, git_on_sandbox
from cleveragents.infrastructure.sandbox.manifest import GitState
from cleveragents.infrastructure.sandbox.objects import (
    EMPTY_TREE,
    GITLINK,
    Kind,
    NewObject,
    build_trees,
)

_ORDINARY = b"H "
_EMPTY_BLOB = b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
_UNDER_WAY = {
    "MERGE_HEAD": "a merge in progress",
    "CHERRY_PICK_HEAD": "a cherry-pick in progress",
    "REVERT_HEAD": "a revert in progress",
    "rebase-merge": "a rebase in progress",
    "rebase-apply": "a rebase in progress",
    "BISECT_LOG": "a bisection in progress",
}


@dataclass(frozen=True)
class GitLook:
    """What was found of the sandbox's git."""

    state: GitState
    objects: tuple[NewObject, ...]
    """What has to be stored to keep the index."""
    uncaptured: list[tuple[str, str]]
    """What a snapshot does not hold, and why."""


class SandboxGit:
    """The git side of one sandbox."""

    def __init__(self, sandbox: SandboxRef, git: Git) -> None:
        self._sandbox = sandbox
        self._admin = admin_directory(sandbox)
        self._git = git_on_sandbox(git, sandbox)

    def ignored(self) -> frozenset[str]:
        """Returns untracked paths that ignore rules leave out; directories end with `/`."""
        listing = self._git.run(
            "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"
        )
        found = {name for name in listing.split(b"\0") if name}
        directories = {name for name in found if name.endswith(b"/")}
        # git also names directories in which everything happens to be ignored.
        return frozenset(map(os.fsdecode, found - directories | self._matching(directories)))

    def _matching(self, names: Set[bytes]) -> set[bytes]:
        """Returns those of the untracked names that a rule matches, not only what is in them."""
        if not names:
            return set()
        # `check-ignore` refuses literal pathspecs; after `./` no character is special to it.
        asked = b"".join(b"./" + name + b"\0" for name in names)
        git = self._git.with_variables(GIT_LITERAL_PATHSPECS="0")
        matching = git.run("check-ignore", "--no-index", "-z", "--stdin", stdin=asked, ok=(0, 1))
        return {name.removeprefix(b"./") for name in matching.split(b"\0") if name}

    def look(self) -> GitLook:
        branch = os.fsdecode(self._git.run("symbolic-ref", "-q", "HEAD", ok=(0, 1))).strip()
        commit = os.fsdecode(
            self._git.run("rev-parse", "--verify", "-q", "HEAD^{commit}", ok=(0, 1, 128))
        ).strip()
        listing = self._git.run("ls-files", "-z", "--stage", "-v")
        tree, kept, objects = _index_of(listing)
        return GitLook(
            state=GitState(branch or None, commit or None, tree, kept),
            objects=objects,
            uncaptured=self._under_way() + self._strange_link() + self._staged_by_name(listing),
        )

    def restore(self, wanted: GitState) -> None:
        """Puts HEAD, branch and index back, and the link to them if it was damaged."""
        self._restore_link()
        self._remove_locks(wanted)
        present = self.look().state
        if (present.branch, present.commit) != (wanted.branch, wanted.commit):
            self._restore_head(wanted)
        if present.index != wanted.index:
            self._restore_index(wanted, keep=present.index_listing is None)

    def _restore_head(self, wanted: GitState) -> None:
        if wanted.branch is None:
            self._git.run("update-ref", "--no-deref", "HEAD", wanted.commit or "")
            return
        self._git.run("symbolic-ref", "HEAD", wanted.branch)
        if wanted.commit is None:
            self._git.run("update-ref", "-d", wanted.branch)
        else:
            self._git.run("update-ref", wanted.branch, wanted.commit)

    def _under_way(self) -> list[tuple[str, str]]:
        return [
            (f".git/{name}", reason)
            for name, reason in _UNDER_WAY.items()
            if (self._admin / name).exists()
        ]

    def _strange_link(self) -> list[tuple[str, str]]:
        if self._is_linked() or not os.path.lexists(self._link):
            return []
        return [(".git", "not the sandbox's own; a rollback moves it aside")]

    def _staged_by_name(self, listing: bytes) -> list[tuple[str, str]]:
        """Returns what `git add --intent-to-add` named: the index has it as an empty file."""
        if _EMPTY_BLOB not in listing:
            return []
        added = self._git.run("diff-files", "-z", "--name-only", "--diff-filter=A")
        names = [os.fsdecode(name) for name in added.split(b"\0") if name]
        return [(f".git/index: {name}", "staged by name only") for name in names]

    def _restore_index(self, wanted: GitState, *, keep: bool) -> None:
        """With `keep`, entries that stay the same keep what git knows about their files."""
        index = self._admin / "index"
        draft = self._admin / f"index.cleveragents-{secrets.token_hex(4)}"
        git = self._git.with_variables(GIT_INDEX_FILE=str(draft))
        try:
            if keep and index.exists():
                shutil.copyfile(index, draft)
            git.run("read-tree", "--reset", wanted.index_tree or EMPTY_TREE)
            if wanted.index_listing is not None:
                self._fill_index(git, self._git.run("cat-file", "blob", wanted.index_listing))
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

    @property
    def _link(self) -> Path:
        return Path(self._sandbox.path) / ".git"

    @property
    def _link_content(self) -> bytes:
        return os.fsencode(f"gitdir: {self._admin}\n")

    def _is_linked(self) -> bool:
        try:
            regular = stat.S_ISREG(os.lstat(self._link).st_mode)
            return regular and self._link.read_bytes() == self._link_content
        except OSError:
            return False

    def _restore_link(self) -> None:
        """An agent may remove or replace `.git`: what it put there is moved aside, not deleted."""
        if self._is_linked():
            return
        plan_directory = self._link.parent.parent
        if os.path.lexists(self._link):
            aside = f".{self._sandbox.resource}.git-found-{secrets.token_hex(4)}"
            self._link.rename(plan_directory / aside)
        draft = plan_directory / f".{self._sandbox.resource}.git-link"
        write_durably(draft, self._link_content, mode=0o644)
        draft.replace(self._link)

    def _remove_locks(self, wanted: GitState) -> None:
        """A tool that was killed may have left locks of its git; it does not run any more."""
        for place in (self._admin / "HEAD", Path(self._sandbox.store) / (wanted.branch or "HEAD")):
            with suppress(FileNotFoundError):
                place.with_name(f"{place.name}.lock").unlink()


def _index_of(listing: bytes) -> tuple[str | None, str | None, tuple[NewObject, ...]]:
    """Returns the tree an index is, or else the listing that holds it, and what to store for it."""
    entries: dict[str, tuple[str, str]] = {}
    for line in listing.split(b"\0")[:-1]:
        head, _, name = line.partition(b"\t")
        if not (head.startswith(_ORDINARY) and head.endswith(b" 0")):
            blob = NewObject.of(Kind.BLOB, listing)
            return None, blob.id, (blob,)
        _, mode, object_id, _ = os.fsdecode(head).split(" ")
        entries[os.fsdecode(name)] = (mode, object_id)
    tree, trees = build_trees(entries)
    return tree, None, tuple(trees) if entries else ()


def staged_objects(listing: bytes) -> set[str]:
    """Returns the blobs that an index kept as a listing names."""
    heads = (line.partition(b"\t")[0].split(b" ") for line in listing.split(b"\0")[:-1])
    return {object_id.decode() for _, mode, object_id, _ in heads if mode != GITLINK.encode()}
