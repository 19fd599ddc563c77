"""Merging what a plan did with what the project has become, without either noticing.

Everything happens in the private mirror and in a room of our own: raw bytes become blobs as
the project's attributes want them in a commit, trees are merged by git, and merged files are
checked out to see their bytes. Our own configuration is the only one, so no filter program
and no merge driver exists here.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.layout import git_on_mirror, private_directory
from cleveragents.infrastructure.sandbox.store.blobs import BlobReader
from cleveragents.infrastructure.sandbox.store.captured_state import TreeEntry

Nodes = dict[str, tuple[str, str]]
"""Git mode and object id, by path."""

_NOTHING = "000000"


@dataclass(frozen=True)
class MergeOutcome:
    """A merged tree, and the files that could not be merged."""

    tree: str
    conflicts: tuple[str, ...]


class MergeWorkspace:
    """Where the files of one apply become trees."""

    def __init__(self, git: Git, mirror: Path, place: Path) -> None:
        """Args: `place` is an empty directory; whoever gave it removes it."""
        self._place = place
        self._numbers = count()
        self._private = private_directory(mirror)
        self._any_git = git
        self.git = git_on_mirror(git, mirror)
        self.objects = BlobReader(self.git)

    def tree_with(self, base: str, files: Mapping[str, TreeEntry | None]) -> str:
        """Returns a tree with some files of it other: raw bytes, made what a commit holds."""
        git, place = self._worktree()
        git.run("read-tree", base)
        gone = [path for path, entry in files.items() if entry is None]
        git.run("update-index", "--force-remove", "-z", "--stdin", stdin=_listed(gone))
        for path, entry in files.items():
            if entry is not None:
                self._write(place / path, entry)
        put = [path for path, entry in files.items() if entry is not None]
        git.run("update-index", "--add", "--replace", "-z", "--stdin", stdin=_listed(put))
        return _text(git.run("write-tree"))

    def merge(self, base: str, ours: str, theirs: str) -> MergeOutcome:
        """Merges two trees that came from a third; git takes commits for that."""
        if base == ours:
            return MergeOutcome(theirs, ())
        start = self.commit(base, (), "base")
        sides = [self.commit(tree, (start,), "side") for tree in (ours, theirs)]
        options = ("--write-tree", "--name-only", "--no-messages", "-z")
        said = self.git.run("merge-tree", *options, *sides, ok=(0, 1)).split(b"\0")
        return MergeOutcome(
            _text(said[0]), tuple(sorted(os.fsdecode(name) for name in said[1:] if name))
        )

    def commit(
        self,
        tree: str,
        parents: Iterable[str],
        message: str,
        identity: Mapping[str, str] | None = None,
    ) -> str:
        git = self.git.with_variables(**(identity or {}))
        options = [option for parent in parents for option in ("-p", parent)]
        return _text(git.run("commit-tree", tree, *options, stdin=os.fsencode(message)))

    def differing(self, old: str, new: str) -> Nodes:
        """Returns the files that differ, as the new tree has them; gone ones have mode 000000."""
        options = ("-r", "-z", "--no-renames", "--no-abbrev", "--raw")
        fields = self.git.run("diff-tree", *options, old, new).split(b"\0")[:-1]
        found: Nodes = {}
        for head, name in zip(fields[::2], fields[1::2], strict=True):
            _, mode, _, object_id, _ = head.decode().split(" ")
            found[os.fsdecode(name)] = (mode, object_id)
        return found

    def nodes(self, tree: str) -> Nodes:
        """Returns all files of a tree."""
        found: Nodes = {}
        for line in self.git.run("ls-tree", "-r", "-z", "--full-tree", tree).split(b"\0")[:-1]:
            head, _, name = line.partition(b"\t")
            mode, _, object_id = head.decode().split(" ")
            found[os.fsdecode(name)] = (mode, object_id)
        return found

    def checked_out(self, tree: str, paths: Iterable[str]) -> dict[str, bytes]:
        """Returns the bytes that files of a tree have in a working tree."""
        wanted = list(paths)
        git, place = self._worktree()
        git.run("read-tree", tree)
        git.run("checkout-index", "--force", "-z", "--stdin", stdin=_listed(wanted))
        return {path: _content(place / path) for path in wanted}

    @contextmanager
    def looking_at(self, git_dir: Path, root: Path) -> Generator[Git]:
        """Gives a git that sees a project's files, and a copy of its index as its own."""
        git, place = self._worktree()
        for name in ("index", *(path.name for path in git_dir.glob("sharedindex.*"))):
            if (git_dir / name).is_file():
                # With its times: by these git knows which entries to look at twice.
                shutil.copy2(git_dir / name, git.directory / name)
        del place  # The project's own is looked at.
        yield git.with_variables(GIT_WORK_TREE=str(root))

    def close(self) -> None:
        self.objects.close()

    def _worktree(self) -> tuple[Git, Path]:
        """Makes a working tree with an index of its own."""
        number = next(self._numbers)
        place, admin = self._place / f"{number}", self._place / f"{number}.git"
        place.mkdir(parents=True)
        admin.mkdir()
        (admin / "HEAD").write_text("ref: refs/heads/none\n")
        git = self._any_git.at(admin).with_variables(
            GIT_COMMON_DIR=str(self._private), GIT_WORK_TREE=str(place)
        )
        return git, place

    def _write(self, place: Path, entry: TreeEntry) -> None:
        place.parent.mkdir(parents=True, exist_ok=True)
        if entry.is_link:
            os.symlink(self.objects.read(entry.object_id), os.fsencode(place))
            return
        with place.open("xb") as stream:
            self.objects.copy(entry.object_id, stream.write)
        place.chmod(0o755 if entry.mode & 0o100 else 0o644)


def is_gone(node: tuple[str, str]) -> bool:
    """Returns whether `MergeWorkspace.differing` says that a file is gone."""
    return node[0] == _NOTHING


def _listed(paths: Iterable[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in paths)


def _text(said: bytes) -> str:
    return os.fsdecode(said).strip()


def _content(path: Path) -> bytes:
    return os.readlink(os.fsencode(path)) if path.is_symlink() else path.read_bytes()
