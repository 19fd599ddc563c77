"""Merging what a plan did with what the project has become, without touching either.

Everything happens in the private mirror and in a directory of our own: raw bytes become blobs as
the project's attributes want them in a commit, git merges trees, and merged files are checked out
to get their bytes. Only our own configuration is in force, so no filter program and no merge
driver of the project or the user runs here.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from cleveragents.domain.errors import MergeConflictError
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.repository import Repository
from cleveragents.infrastructure.sandbox.store.blobs import BlobReader
from cleveragents.infrastructure.sandbox.store.captured_state import TreeEntry

Nodes = dict[str, tuple[str, str]]
"""Git mode and object id, by path."""

GONE = "000000"
"""The mode that `MergeWorkspace.differing` gives a file that is gone."""
_PLAIN = ("H", "0")
_CONFLICTED = ("conflicted", "")


@dataclass(frozen=True)
class ProjectIndex:
    """What is staged, and which files differ from what is staged."""

    nodes: Nodes
    """An entry with a conflict or a flag differs from every node of a tree."""
    changed: Set[str]


@dataclass(frozen=True)
class IndexMove:
    """The bytes of an index; None where there is none, or it does not change."""

    before: bytes | None = None
    after: bytes | None = None
    time: int | None = None
    """When the index that is there was written, in nanoseconds."""


@dataclass(frozen=True)
class MergeWorkspace:
    """A directory in which the files of one apply become trees."""

    git: Git
    """Git on the mirror."""
    _objects: BlobReader
    _path: Path
    """An empty directory; the caller removes it."""
    _numbers: Iterator[int] = field(default_factory=count)

    def tree_with(self, base: str, files: Mapping[str, TreeEntry | None]) -> str:
        """Returns a tree with some of its files replaced by raw bytes.

        Git adds them from a working tree, so that line endings and other attributes of the
        project make of them what a commit would hold.
        """
        git, path = self._worktree()
        git.run("read-tree", base)
        gone = [name for name, entry in files.items() if entry is None]
        git.run(
            "update-index", "--force-remove", "-z", "--stdin", stdin=os.fsencode("\0".join(gone))
        )
        for name, entry in files.items():
            if entry is None:
                continue
            file = path / name
            _create_directories(file.parent)
            if stat.S_ISLNK(entry.mode):
                os.symlink(self._objects.read(entry.object_id), os.fsencode(file))
                continue
            with file.open("xb") as stream:
                self._objects.copy(entry.object_id, stream.write)
            file.chmod(0o755 if entry.mode & 0o100 else 0o644)
        put = [name for name, entry in files.items() if entry is not None]
        git.run(
            "update-index", "--add", "--replace", "-z", "--stdin", stdin=os.fsencode("\0".join(put))
        )
        return git.run("write-tree").decode().strip()

    def merge(self, base: str, ours: str, theirs: str, *, root: Path, hint: str) -> str:
        """Merges two trees that came from a third.

        Raises:
            MergeConflictError: both have changed the same; it has `root` and `hint`.
        """
        if base == ours:
            return theirs
        # `merge-tree` finds the base by itself, so it wants commits.
        start = self.commit(base, (), "base")
        sides = [self.commit(tree, (start,), "side") for tree in (ours, theirs)]
        options = ("--write-tree", "--name-only", "--no-messages", "-z")
        tree, *names = self.git.run("merge-tree", *options, *sides, ok=(0, 1)).split(b"\0")
        conflicts = sorted(os.fsdecode(name) for name in names if name)
        if conflicts:
            raise MergeConflictError(str(root), conflicts, hint=hint)
        return tree.decode().strip()

    def commit(
        self,
        tree: str,
        parents: Iterable[str],
        message: str,
        identity: Mapping[str, str] | None = None,
    ) -> str:
        git = self.git.with_variables(**(identity or {}))
        options = [option for parent in parents for option in ("-p", parent)]
        made = git.run("commit-tree", tree, *options, stdin=os.fsencode(message))
        return made.decode().strip()

    def differing(self, old: str, new: str) -> Nodes:
        """Returns the files that differ, as the new tree has them; those gone have mode GONE.

        From the empty tree, these are all files of the new one.
        """
        options = ("-r", "-z", "--no-renames", "--no-abbrev", "--raw")
        fields = self.git.run("diff-tree", *options, old, new).split(b"\0")[:-1]
        found: Nodes = {}
        for head, name in zip(fields[::2], fields[1::2], strict=True):
            _, mode, _, object_id, _ = head.decode().split(" ")
            found[os.fsdecode(name)] = (mode, object_id)
        return found

    def checked_out(self, tree: str, paths: Iterable[str]) -> dict[str, bytes]:
        """Returns the bytes that files of a tree have in a working tree."""
        wanted = list(paths)
        git, path = self._worktree()
        git.run("read-tree", tree)
        git.run("checkout-index", "--force", "-z", "--stdin", stdin=os.fsencode("\0".join(wanted)))
        return {name: _content(path / name) for name in wanted}

    def project_git(self, git_dir: Path, root: Path) -> Git:
        """Returns a git that sees a project's files, and has a copy of its index as its own."""
        git, _ = self._worktree()
        for name in ("index", *(path.name for path in git_dir.glob("sharedindex.*"))):
            if (git_dir / name).is_file():
                # With its times: by these git knows which entries to look at twice.
                shutil.copy2(git_dir / name, git.directory / name)
        return git.with_variables(GIT_WORK_TREE=str(root))

    def staged_in(self, index: bytes | None, git_dir: Path, root: Path) -> bytes:
        """Returns what an index of a project says is staged, whatever it says about times."""
        return self._with_index(index, git_dir, root).run("ls-files", "-z", "--stage", "-v")

    def whole_index(self, index: bytes | None, git_dir: Path, root: Path) -> bytes:
        """Returns an index of a project in one piece; None is one that has nothing staged."""
        git = self._with_index(index, git_dir, root)
        if index is None:
            git.run("read-tree", "--empty")
        else:
            git.run("update-index", "--no-split-index")
        return (git.directory / "index").read_bytes()

    def _with_index(self, index: bytes | None, git_dir: Path, root: Path) -> Git:
        git = self.project_git(git_dir, root)
        copy = git.directory / "index"
        copy.unlink(missing_ok=True)
        if index is not None:
            copy.write_bytes(index)
        return git

    def index_of(self, repository: Repository) -> ProjectIndex:
        git = self.project_git(repository.git_dir, repository.root)
        listing = git.run("ls-files", "-z", "--stage", "-v").split(b"\0")[:-1]
        # A file that was only touched is read, and found to be the same.
        git.run("update-index", "-q", "--unmerged", "--refresh", ok=(0, 1))
        changed = git.run("diff-files", "-z", "--name-only").split(b"\0")[:-1]
        nodes: Nodes = {}
        for line in listing:
            head, _, name = line.partition(b"\t")
            tag, mode, object_id, stage = head.decode().split(" ")
            plain = (tag, stage) == _PLAIN
            nodes[os.fsdecode(name)] = (mode, object_id) if plain else _CONFLICTED
        return ProjectIndex(nodes, {os.fsdecode(name) for name in changed})

    def index_with(self, repository: Repository, nodes: Nodes) -> IndexMove:
        """Returns a project's index as it is, and with some of its entries replaced."""
        git = self.project_git(repository.git_dir, repository.root)
        copy = git.directory / "index"
        before = copy.read_bytes() if copy.exists() else None
        time = copy.stat().st_mtime_ns if before is not None else None
        # Parts of it may be in files of their own, which would have to be written too.
        git.run("update-index", "--no-split-index")
        lines = (
            f"{mode} {object_id}\t".encode() + os.fsencode(path) + b"\0"
            for path, (mode, object_id) in nodes.items()
        )
        git.run("update-index", "-z", "--index-info", stdin=b"".join(lines))
        return IndexMove(before, copy.read_bytes(), time)

    def _worktree(self) -> tuple[Git, Path]:
        """Makes an empty working tree with an index of its own."""
        number = next(self._numbers)
        path, admin = self._path / f"{number}", self._path / f"{number}.git"
        path.mkdir(parents=True)
        admin.mkdir()
        (admin / "HEAD").write_text("ref: refs/heads/none\n")
        git = self.git.at(admin).with_variables(
            GIT_COMMON_DIR=str(self.git.directory), GIT_WORK_TREE=str(path)
        )
        return git, path


def _content(path: Path) -> bytes:
    return os.readlink(os.fsencode(path)) if path.is_symlink() else path.read_bytes()


def _create_directories(path: Path) -> None:
    """Creates a directory and those above it, without recursion: it may be very deep."""
    missing: list[Path] = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for directory in reversed(missing):
        directory.mkdir()
