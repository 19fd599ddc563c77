"""What a project holds on disk besides what it ignores, without touching the project.

git is asked about names only, on a copy of the project's index: neither the
index nor anything else of the project is written, and nothing of it runs. What
is really there is read from the disk, so that marks in the index such as
`assume-unchanged`, an unfinished merge or a staged deletion make no difference.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Collection, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from cleveragents.domain.errors import GitCommandError, ProjectRefusedError
from cleveragents.domain.sandboxes.sandbox import Uncaptured
from cleveragents.domain.sandboxes.uncaptured import special_file, special_kind
from cleveragents.infrastructure.sandbox.git.command import PRIVATE, Git
from cleveragents.infrastructure.sandbox.git.repository import Repository

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_HERE = b"./"
_WITHOUT = "or leave out `--include-uncommitted`"


class ProjectFile(NamedTuple):
    """A file or symlink as it was seen; a changed one is not equal to it."""

    mode: int
    size: int
    modified: int
    changed: int
    inode: int


@dataclass(frozen=True)
class ProjectListing:
    """What is there, by the path below the project's top."""

    leaves: Mapping[str, ProjectFile]
    directories: Mapping[str, int]
    """The permission bits of every directory, empty ones too."""
    skipped: tuple[Uncaptured, ...]


def look(repository: Repository, git: Git, mirror: Path, scratch: Path) -> ProjectListing:
    """Returns what the project holds now.

    Args:
        repository: The project.
        git: Any git.
        mirror: The project's mirror, which has its ignore rules.
        scratch: A directory that can be made and is removed.

    Raises:
        ProjectRefusedError: Something of it cannot be read, or is another repository.
    """
    with _own_index(repository, git, mirror, scratch) as asking:
        try:
            walk = _Walk(repository, asking, mirror.parent.parent.resolve(), _names(asking))
            walk.run()
        except GitCommandError as error:
            raise ProjectRefusedError(
                str(repository.root),
                f"git cannot tell which files it has: {error.message}",
                hint=f"Run `git status` in the project, {_WITHOUT}",
            ) from error
    skipped = tuple(sorted(walk.skipped, key=lambda item: item.path))
    return ProjectListing(walk.leaves, walk.directories, skipped)


def unreadable(root: Path, name: str, error: OSError) -> ProjectRefusedError:
    return ProjectRefusedError(
        str(root),
        f"`{name}` in it cannot be read: {error.strerror}",
        hint=f"Give yourself permission to read it, {_WITHOUT}",
    )


@contextmanager
def _own_index(repository: Repository, git: Git, mirror: Path, scratch: Path) -> Generator[Git]:
    """Gives a git that sees the project's files, and a copy of its index as its own."""
    scratch.mkdir()
    try:
        (scratch / "HEAD").write_text("ref: refs/heads/none\n")
        for name in ("index", *_shared_indexes(repository.git_dir)):
            with suppress(FileNotFoundError):
                shutil.copyfile(repository.git_dir / name, scratch / name)
        yield git.at(scratch).with_variables(
            GIT_COMMON_DIR=str(mirror.with_suffix(PRIVATE)), GIT_WORK_TREE=str(repository.root)
        )
    finally:
        shutil.rmtree(scratch)


def _shared_indexes(git_dir: Path) -> list[str]:
    return [path.name for path in git_dir.glob("sharedindex.*")]


def _names(git: Git) -> set[str]:
    """Returns every name that git tracks or would add."""
    listed = git.run("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return {os.fsdecode(name) for name in listed.split(b"\0") if name}


@dataclass
class _Walk:
    """Goes through the project level by level, so that git is asked once for each."""

    repository: Repository
    git: Git
    home: Path
    names: Collection[str]
    leaves: dict[str, ProjectFile] = field(default_factory=dict[str, ProjectFile])
    directories: dict[str, int] = field(default_factory=dict[str, int])
    skipped: list[Uncaptured] = field(default_factory=list[Uncaptured])

    def run(self) -> None:
        holding = _directories_of(self.names)
        level = [""]
        while level:
            unsure: list[str] = []
            inside: dict[str, int] = {}
            special: dict[str, str] = {}
            for directory in level:
                for name, status in self._entries(directory):
                    if stat.S_ISDIR(status.st_mode):
                        inside[name] = stat.S_IMODE(status.st_mode)
                        unsure += [] if name in holding else [name]
                    elif stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
                        if name in self.names:
                            self.leaves[name] = _leaf(status)
                    else:
                        special[name] = special_file(special_kind(status.st_mode)).text
            ignored = self._ignored([*unsure, *special])
            self._skip(special, ignored)
            level = [name for name in inside if name not in ignored]
            self.directories |= {name: inside[name] for name in level}

    def _entries(self, directory: str) -> Generator[tuple[str, os.stat_result]]:
        root = self.repository.root
        try:
            descriptor = os.open(root / directory, _DIRECTORY)
        except (FileNotFoundError, NotADirectoryError):
            return  # It has gone meanwhile: the next look sees that.
        except OSError as error:
            raise unreadable(root, directory or ".", error) from error
        try:
            with os.scandir(descriptor) as entries:
                for entry in entries:
                    name = f"{directory}/{entry.name}" if directory else entry.name
                    with suppress(FileNotFoundError):
                        if self._belongs(directory, entry.name):
                            yield name, entry.stat(follow_symlinks=False)
        finally:
            os.close(descriptor)

    def _belongs(self, directory: str, name: str) -> bool:
        if name == ".git" and directory:
            raise ProjectRefusedError(
                str(self.repository.root),
                f"it has another repository at `{directory}`, and a copy could reach into it",
                hint=f"Move it away, add it to `.gitignore`, {_WITHOUT}",
            )
        if name == ".git":
            return False
        if self.repository.root / directory / name == self.home:
            self._skip({f"{directory}/{name}".lstrip("/"): "CleverAgents keeps its own there"}, ())
            return False
        return True

    def _skip(self, reasons: Mapping[str, str], ignored: Collection[str]) -> None:
        self.skipped += [
            Uncaptured(path=name, reason=reason)
            for name, reason in reasons.items()
            if name not in ignored
        ]

    def _ignored(self, names: Iterable[str]) -> set[str]:
        asked = b"".join(_HERE + os.fsencode(name) + b"\0" for name in names)
        if not asked:
            return set()
        # It does not know that variable; what begins with `./` is taken as it is anyway.
        git = self.git.with_variables(GIT_LITERAL_PATHSPECS="0")
        answer = git.run("check-ignore", "-z", "--stdin", "--no-index", stdin=asked, ok=(0, 1))
        return {os.fsdecode(name.removeprefix(_HERE)) for name in answer.split(b"\0") if name}


def _directories_of(names: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for name in names:
        above = name.rpartition("/")[0]
        while above and above not in found:
            found.add(above)
            above = above.rpartition("/")[0]
    return found


def _leaf(status: os.stat_result) -> ProjectFile:
    return ProjectFile(
        status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
    )
