"""HEAD, branch and index of a sandbox's own git: read, and put back."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path

from cleveragents.domain.sandbox import SandboxRef
from cleveragents.infrastructure.files import write_durably
from cleveragents.infrastructure.sandbox.git import Git
from cleveragents.infrastructure.sandbox.manifest import GitState
from cleveragents.infrastructure.sandbox.objects import Kind, NewObject
from cleveragents.infrastructure.sandbox.worktree import admin_directory

_EMPTY_INDEX_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_PLAIN = b"H "


class SandboxGit:
    """The git side of one sandbox."""

    def __init__(self, sandbox: SandboxRef, git: Git) -> None:
        self._sandbox = sandbox
        self._admin = admin_directory(sandbox)
        self._git = git.at(self._admin).with_variables(GIT_WORK_TREE=sandbox.path)

    def ignored(self) -> frozenset[str]:
        """Returns untracked paths that ignore rules leave out; directories end with `/`."""
        listing = self._git.run(
            "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"
        )
        return frozenset(os.fsdecode(name) for name in listing.split(b"\0") if name)

    def state(self) -> tuple[GitState, list[NewObject]]:
        """Returns HEAD, branch and index, and the object that keeps an unusual index."""
        branch = os.fsdecode(self._git.run("symbolic-ref", "-q", "HEAD", ok=(0, 1))).strip()
        commit = os.fsdecode(
            self._git.run("rev-parse", "--verify", "-q", "HEAD^{commit}", ok=(0, 1, 128))
        ).strip()
        tree, listing = self._index()
        state = GitState(branch or None, commit or None, tree, listing.id if listing else None)
        return state, [listing] if listing else []

    def restore(self, wanted: GitState) -> None:
        """Puts HEAD, branch and index back, and the link to them if it was damaged."""
        self._restore_link()
        present, _ = self.state()
        if wanted.branch is None:
            self._git.run("update-ref", "--no-deref", "HEAD", wanted.commit or "")
        else:
            self._git.run("symbolic-ref", "HEAD", wanted.branch)
            if wanted.commit is None:
                self._git.run("update-ref", "-d", wanted.branch)
            else:
                self._git.run("update-ref", wanted.branch, wanted.commit)
        if (present.index_tree, present.index_listing) != (
            wanted.index_tree,
            wanted.index_listing,
        ):
            self._restore_index(wanted)

    def _index(self) -> tuple[str | None, NewObject | None]:
        index = self._admin / "index"
        if not index.exists():
            return _EMPTY_INDEX_TREE, None
        # git writes to the index it is given, even to answer: let it have a copy.
        copy = self._admin / f"index.cleveragents-{secrets.token_hex(4)}"
        try:
            shutil.copyfile(index, copy)
            git = self._git.with_variables(GIT_INDEX_FILE=str(copy))
            listing = git.run("ls-files", "-z", "--stage", "-v")
            lines = listing.split(b"\0")[:-1]
            if all(
                line.startswith(_PLAIN) and line.split(b"\t")[0].endswith(b" 0") for line in lines
            ):
                return os.fsdecode(git.run("write-tree", "--missing-ok")).strip(), None
            return None, NewObject.of(Kind.BLOB, listing)
        finally:
            copy.unlink(missing_ok=True)

    def _restore_index(self, wanted: GitState) -> None:
        index = self._admin / "index"
        draft = self._admin / f"index.cleveragents-{secrets.token_hex(4)}"
        git = self._git.with_variables(GIT_INDEX_FILE=str(draft))
        try:
            if index.exists():
                shutil.copyfile(index, draft)
            # Entries that stay the same keep what git knows about their files.
            git.run("read-tree", "--reset", wanted.index_tree or _EMPTY_INDEX_TREE)
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

    def _restore_link(self) -> None:
        """An agent may remove or replace `.git`: what it put there is moved aside, not deleted."""
        link = Path(self._sandbox.path) / ".git"
        content = os.fsencode(f"gitdir: {self._admin}\n")
        if link.is_file() and not link.is_symlink() and link.read_bytes() == content:
            return
        if link.exists() or link.is_symlink():
            aside = f".{self._sandbox.resource}.git-found-{secrets.token_hex(4)}"
            link.rename(link.parent.parent / aside)
        write_durably(link, content, mode=0o644)
