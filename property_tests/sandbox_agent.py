"""An agent that does anything to a sandbox, and a place where it finds one cheaply."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple, TypeVar

from hypothesis import strategies as st
from msgspec.structs import replace

from cleveragents.cli.demo_project import make_repository
from cleveragents.domain.sandboxes.resource import ResourceType, SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.infrastructure.sandbox.checkpoint import CheckpointManager
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.sandboxes import AllSandboxes
from cleveragents.infrastructure.sandbox.store.limits import Limits
from cleveragents.infrastructure.system import SystemClock
from cleveragents.testing.sample_records import resource
from cleveragents.testing.trees import Node, Tree

NAMES = (
    *("a", "b", "dir", "sub", "x.ign", "build", "a.txt", "A", ".git", "git~1", ".GIT"),
    *("new\nline", " lead", "trail ", "-dash", "*glob", ":(glob)x", 'q"uote', "back\\slash"),
    *("tab\t", "\u00e9", "e\u0301", os.fsdecode(b"\xff\xfe"), "n" * 255, "#x", "!x", "%escaped-x"),
)
MODES = (0o644, 0o600, 0o000, 0o755, 0o444, 0o4755, 0o640, 0o111)
DIRECTORY_MODES = (0o755, 0o700, 0o000, 0o555, 0o1777, 0o2775, 0o300)
CONTENTS = (b"", b"1", b"2", b"line\r\n", b"\0\xff", b"$Id$\n", b"large" * 20_000)
TARGETS = (".", "..", "a", "missing", "dir/../a", "/nonexistent/x")
IGNORE_RULES = (
    *(b"", b"*.ign\n", b"build/\n", b"*\n", b"/a\n", b"*.ign\n!x.ign\n", b"sub\n", b"dir/*\n"),
    b"build/*\n!build/a\n",
)
GIT_COMMANDS = (
    *("add -A", "add -f -A", "commit --allow-empty -qm x", "commit -aqm x", "reset -q --hard"),
    *("reset -q --soft HEAD~1", "reset -q HEAD~1", "checkout -q -b other", "checkout -q --detach"),
    *("checkout -q other", "stash -q -u", "stash pop -q", "rm -rq --cached .", "clean -fdxq"),
    *("branch -qD other", "merge -q other", "update-index --split-index", "gc -q --prune=now"),
    *("update-index --assume-unchanged README.md", "update-index --skip-worktree src/main.py"),
    *("update-index --no-assume-unchanged README.md", "worktree prune", "pack-refs --all"),
    *("checkout -q -f HEAD -- .", "symbolic-ref HEAD refs/heads/unborn", "merge --abort"),
)


T = TypeVar("T")


class Edit(NamedTuple):
    """One act: what is done, where, and with which of the choices there are for it."""

    act: str
    path: str
    other: str
    choice: int


ON_FILES = (
    *("write", "write", "append", "replace", "replace", "edit_unnoticeably", "remove", "remove"),
    *("make_directory", "chmod", "chmod", "chmod_top", "link", "link_hard", "rename", "rename"),
    *("swap", "make_fifo", "make_repository", "replace_by_rename", "write_to_linked"),
)
ON_GIT = ("ignore", "ignore", "git", "git", "git")

few = st.sampled_from(
    ("a", "dir", "dir/a", "dir/sub", "dir/sub/a", "b", "b/a", "b/sub/a", "x.ign", "build/x.ign")
)
odd = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
existing = st.integers(0, 200).map("/{}".format)
"""One of the paths that are there when it is used."""
paths = st.one_of(existing, few, existing, few, odd)


def edits(*, with_git: bool) -> st.SearchStrategy[list[Edit]]:
    """What an agent does between two looks at its sandbox."""
    acts = st.sampled_from((*ON_FILES, *ON_GIT) if with_git else ON_FILES)
    each = st.builds(Edit, acts, paths, paths, st.integers(0, 30))
    return st.lists(each, min_size=1, max_size=8)


class Place:
    """One project and one home directory for all examples."""

    def __init__(self, strategy: SandboxStrategy) -> None:
        self.strategy = strategy
        self.directory = Path(tempfile.mkdtemp(prefix="cleveragents-properties-"))
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.directory),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "agent",
            "GIT_AUTHOR_EMAIL": "agent@example.invalid",
            "GIT_COMMITTER_NAME": "agent",
            "GIT_COMMITTER_EMAIL": "agent@example.invalid",
        }
        self._git = Git(self.environment, self.directory)
        project = self.directory / "project"
        make_repository(self._git, project, {"README.md": "read me\n", "src/main.py": "print()\n"})
        if strategy is SandboxStrategy.FILESYSTEM_COPY:
            shutil.rmtree(project / ".git")
        home = self.directory / "home"
        self.sandboxes = AllSandboxes(self._git, home, SystemClock(), self.manager())
        self._resource = replace(
            resource(),
            path=str(project),
            name="project",
            strategy=strategy,
            type=ResourceType.GIT_CHECKOUT if self.with_git else ResourceType.FS_DIRECTORY,
        )
        self._numbers = itertools.count()

    @property
    def with_git(self) -> bool:
        return self.strategy is SandboxStrategy.GIT_WORKTREE

    def manager(self) -> CheckpointManager:
        """What a new process would begin with."""
        return CheckpointManager(self._git, Limits())

    def new_sandbox(self) -> SandboxRef:
        number = f"{next(self._numbers):05}"
        return self.sandboxes.create(f"S{number}", f"P{number}", self._resource)

    def fork(self, source: SandboxRef, snapshot_id: str) -> SandboxRef:
        number = f"{next(self._numbers):05}"
        return self.sandboxes.fork(f"S{number}", f"P{number}", self._resource, source, snapshot_id)

    def git(self, sandbox: SandboxRef, *arguments: str, stdin: bytes = b"") -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=sandbox.path,
            env=self.environment,
            input=stdin,
            capture_output=True,
            check=False,
        )
        return os.fsdecode(done.stdout)


class Agent:
    """Does edits; what is impossible is left undone."""

    def __init__(self, place: Place, sandbox: SandboxRef) -> None:
        self._place = place
        self._sandbox = sandbox
        self._root = Path(sandbox.path)

    def do(self, edit: Edit) -> None:
        path, other = self._meant(edit.path), self._meant(edit.other)
        if self._place.with_git and any(each.split("/")[0] == ".git" for each in (path, other)):
            return  # The sandbox's own.
        if edit.act in ("rename", "swap") and self._would_block_git(path, other):
            return
        with contextlib.suppress(OSError):
            getattr(self, f"_{edit.act}")(edit, self._root / path, self._root / other)

    def _would_block_git(self, path: str, other: str) -> bool:
        """A FIFO in the place of a rule file: git waits for ever for somebody to write to it."""
        places = (self._root / path, self._root / other)
        return any(place.is_fifo() for place in places) and any(
            place.name == ".gitignore" for place in places
        )

    def _meant(self, path: str) -> str:
        if not path.startswith("/"):
            return path
        there = sorted(own_eyes(self._root, without_git=True).keys() - {"."}) or ["a"]
        return there[int(path[1:]) % len(there)]

    def _write(self, edit: Edit, path: Path, _: Path) -> None:
        if not path.is_fifo():
            path.write_bytes(_of(CONTENTS, edit))

    def _append(self, edit: Edit, path: Path, _: Path) -> None:
        if not path.is_fifo():
            with path.open("ab") as stream:
                stream.write(_of(CONTENTS, edit) or b"more")

    def _replace(self, edit: Edit, path: Path, other: Path) -> None:
        """Whatever is there, and in the way to there, becomes a file."""
        inside = path.relative_to(self._root)
        for above in [*reversed(inside.parents)][1:]:
            place = self._root / above
            if place.is_symlink() or not place.is_dir():
                _remove(place)
        _remove(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._write(edit, path, other)

    def _replace_by_rename(self, edit: Edit, path: Path, _: Path) -> None:
        draft = path.with_name("draft")
        draft.write_bytes(_of(CONTENTS, edit))
        draft.rename(path)

    def _edit_unnoticeably(self, _: Edit, path: Path, __: Path) -> None:
        """Other bytes, same size and same time."""
        if path.is_file() and not path.is_symlink():
            status = path.stat()
            with path.open("r+b") as stream:
                stream.write(bytes(byte ^ 1 for byte in path.read_bytes()))
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    def _remove(self, _: Edit, path: Path, __: Path) -> None:
        _remove(path)

    def _make_directory(self, _: Edit, path: Path, __: Path) -> None:
        path.mkdir(parents=True)

    def _chmod(self, edit: Edit, path: Path, _: Path) -> None:
        if not path.is_symlink():
            path.chmod(_of(DIRECTORY_MODES if path.is_dir() else MODES, edit))

    def _chmod_top(self, edit: Edit, _: Path, __: Path) -> None:
        self._root.chmod(_of((0o755, 0o700, 0o555), edit))

    def _link(self, edit: Edit, path: Path, _: Path) -> None:
        _remove(path)
        path.symlink_to(_of(TARGETS, edit))

    def _link_hard(self, _: Edit, path: Path, other: Path) -> None:
        os.link(path, other, follow_symlinks=False)

    def _write_to_linked(self, edit: Edit, path: Path, other: Path) -> None:
        """A file that has several names, if need be after giving it one more."""
        if path.is_file() and not path.is_symlink() and path.stat().st_nlink == 1:
            os.link(path, other)
            return
        for each in own_eyes(self._root, without_git=True):
            place = self._root / each
            if place.is_file() and not place.is_symlink() and place.stat().st_nlink > 1:
                self._append(edit, place, other)
                return

    def _rename(self, _: Edit, path: Path, other: Path) -> None:
        path.rename(other)

    def _swap(self, _: Edit, path: Path, other: Path) -> None:
        aside = self._root.parent / "aside"
        path.rename(aside)
        try:
            other.rename(path)
        finally:
            try:
                aside.rename(other)
            except OSError:
                _remove(aside)

    def _make_fifo(self, _: Edit, path: Path, __: Path) -> None:
        os.mkfifo(path)

    def _make_repository(self, edit: Edit, path: Path, _: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self._place.git(self._sandbox, "init", "-q", "--", str(path))
        if edit.choice % 2:
            self._place.git(self._sandbox, "-C", str(path), "commit", "-qm", "x", "--allow-empty")

    def _ignore(self, edit: Edit, _: Path, __: Path) -> None:
        directory = _of(("", "", "dir", "src"), edit)
        (self._root / directory / ".gitignore").write_bytes(_of(IGNORE_RULES, edit))

    def _git(self, edit: Edit, _: Path, __: Path) -> None:
        self._place.git(self._sandbox, *_of(GIT_COMMANDS, edit).split())


def own_eyes(root: Path, *, without_git: bool) -> Tree:
    """Everything in a directory, itself as `.`, read without any of the code under test."""
    found: Tree = {}
    waiting = [""]
    while waiting:
        path = waiting.pop()
        full = root / path if path else root
        status = full.lstat()
        mode = stat.S_IMODE(status.st_mode)
        if stat.S_ISLNK(status.st_mode):
            found[path or "."] = Node("link", 0, os.fsencode(full.readlink()))
        elif stat.S_ISDIR(status.st_mode):
            found[path or "."] = Node("directory", mode, b"")
            inside = [f"{path}/{name}" if path else name for name in os.listdir(full)]  # noqa: PTH208
            waiting += [inner for inner in inside if not (without_git and inner == ".git")]
        elif stat.S_ISREG(status.st_mode):
            found[path] = Node("file", mode, full.read_bytes())
        else:
            found[path] = Node("special", mode, b"")
    return found


def _of(choices: tuple[T, ...], edit: Edit) -> T:
    return choices[edit.choice % len(choices)]


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif os.path.lexists(path):
        path.unlink()
