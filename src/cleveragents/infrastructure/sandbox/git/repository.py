"""Looking at a project before it is sandboxed, without touching it or running anything of it."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from cleveragents.domain.errors import GitCommandError, ProjectRefusedError
from cleveragents.domain.sandboxes.resource import ResourceType
from cleveragents.domain.sandboxes.sandbox import ProjectFacts
from cleveragents.infrastructure.sandbox.git.command import Git, is_on
from cleveragents.infrastructure.sandbox.git.objects import GITLINK

_PROMISOR = re.compile(r"remote\..*\.promisor")
_LFS = re.compile(rb"^[^#\n][^\n]*\sfilter=lfs(\s|$)", re.MULTILINE)


@dataclass(frozen=True)
class Repository:
    """Where a project's git data is."""

    root: Path
    """Top of its working tree."""
    git_dir: Path
    common_dir: Path
    """Same as `git_dir`, except in a linked worktree."""

    def object_directories(self) -> list[Path]:
        """Returns every place its objects may be: its own, and those it borrows from."""
        found: list[Path] = []
        waiting = [self.common_dir / "objects"]
        while waiting:
            directory = waiting.pop(0)
            if directory in found or not directory.is_dir():
                continue
            found.append(directory)
            alternates = directory / "info" / "alternates"
            if alternates.is_file():
                lines = os.fsdecode(alternates.read_bytes()).splitlines()
                waiting += [directory / line for line in lines if line and line[0] != "#"]
        return found


def store_key(path: Path, kind: ResourceType) -> str:
    """The same thing always has the same key; readable, and unique by its path and kind."""
    slug = re.sub(r"[^a-z0-9]+", "-", path.name.lower()).strip("-")[:40] or "project"
    distinction = b"" if kind is ResourceType.GIT_CHECKOUT else f"{kind}\0".encode()
    digest = hashlib.sha256(distinction + os.fsencode(path)).hexdigest()[:16]
    return f"{slug}-{digest}"


def find_repository(path: Path, home_directory: Path | None) -> Repository:
    """Returns the repository that `path` is in.

    Args:
        path: The project, or any directory inside it.
        home_directory: The user's home, which is never a project.

    Raises:
        ProjectRefusedError: there is none, or it is not one to sandbox.
    """
    start = _existing_directory(path)
    for candidate in (start, *start.parents):
        if os.path.lexists(candidate / ".git"):
            break
        if _looks_bare(candidate):
            raise ProjectRefusedError(
                str(candidate), "it is a bare repository or inside one", hint="Name a working tree"
            )
    else:
        raise ProjectRefusedError(
            str(start),
            "it is not in a git repository",
            hint="Run `git init` there, or name another directory with `--project`",
        )
    if candidate == Path(candidate.anchor) or candidate == home_directory:
        raise ProjectRefusedError(
            str(candidate),
            "it is your home directory or the root of the file system",
            hint="Make a repository for the project alone",
        )
    git_dir = _git_directory(candidate)
    common_dir, pointer = git_dir, git_dir / "commondir"
    if pointer.is_file():  # A linked worktree.
        common_dir = (git_dir / os.fsdecode(pointer.read_bytes()).rstrip("\n")).resolve()
    return Repository(candidate, git_dir, common_dir)


def inspect_repository(repository: Repository, git: Git) -> ProjectFacts:
    """Returns the facts about a repository that can be sandboxed whole.

    Raises:
        ProjectRefusedError: something of it would be missing in a sandbox.
    """
    git = git.at(repository.git_dir)
    if not git.succeeds("rev-parse", "--git-dir"):
        raise ProjectRefusedError(str(repository.root), "its `.git` is not a git repository")
    _refuse_unsupported_formats(repository, git)
    commit = os.fsdecode(git.run("rev-parse", "--verify", "-q", "HEAD", ok=(0, 1))).strip()
    branch = os.fsdecode(git.run("symbolic-ref", "-q", "HEAD", ok=(0, 1))).strip()
    if commit:
        _refuse_unsupported_content(repository, git, commit)
    return ProjectFacts(
        root=str(repository.root),
        key=store_key(repository.root, ResourceType.GIT_CHECKOUT),
        type=ResourceType.GIT_CHECKOUT,
        head_commit=commit or None,
        branch=branch.removeprefix("refs/heads/") or None,
    )


def _existing_directory(path: Path) -> Path:
    try:
        resolved = path.resolve(strict=True)
    except PermissionError as error:
        raise ProjectRefusedError(str(path), "permission denied") from error
    except (OSError, RuntimeError) as error:
        raise ProjectRefusedError(str(path), "there is no such directory") from error
    if not resolved.is_dir():
        raise ProjectRefusedError(str(path), "it is not a directory")
    return resolved


def _looks_bare(directory: Path) -> bool:
    return (
        os.path.isfile(directory / "HEAD")
        and os.path.isdir(directory / "objects")
        and os.path.isdir(directory / "refs")
    )


def _git_directory(root: Path) -> Path:
    link = root / ".git"
    if os.path.isdir(link):
        return link
    try:
        text = os.fsdecode(link.read_bytes()) if os.path.isfile(link) else ""
    except OSError as error:
        raise ProjectRefusedError(
            str(root), f"its `.git` cannot be read: {error.strerror}"
        ) from error
    if not text.startswith("gitdir: "):
        raise ProjectRefusedError(str(root), "its `.git` is neither a directory nor a link to one")
    target = root / text.removeprefix("gitdir: ").rstrip("\n")
    if not target.is_dir():
        raise ProjectRefusedError(str(root), f"its `.git` points to {target}, which is not there")
    return target


def _refuse_unsupported_formats(repository: Repository, git: Git) -> None:
    root = str(repository.root)
    settings = git.settings()
    if settings.get("extensions.objectformat", "sha1").lower() != "sha1":
        raise ProjectRefusedError(root, "its objects are not named by SHA-1")
    promisors = [settings[name] for name in settings if _PROMISOR.fullmatch(name)]
    if settings.get("extensions.partialclone") or any(map(is_on, promisors)):
        raise ProjectRefusedError(
            root,
            "it is a partial clone, so some of its files would have to be downloaded",
            hint="Fetch everything first: `git fetch --refetch --no-filter`",
        )
    if is_on(settings.get("core.sparsecheckout")):
        raise ProjectRefusedError(
            root,
            "it is a sparse checkout, and a sandbox would hold files you do not have",
            hint="Run `git sparse-checkout disable` first",
        )


def _refuse_unsupported_content(repository: Repository, git: Git, commit: str) -> None:
    root = str(repository.root)
    try:
        listing = git.run("ls-tree", "-r", "-z", "--full-tree", commit)
    except GitCommandError as error:
        raise ProjectRefusedError(
            root, f"its commit {commit} is incomplete", hint="Run `git fsck` in the project"
        ) from error
    attribute_files: list[str] = []
    for line in listing.split(b"\0"):
        head, _, name = line.partition(b"\t")
        if head.startswith(GITLINK.encode()):
            raise ProjectRefusedError(
                root,
                f"it has a submodule at {os.fsdecode(name)}, which a sandbox would not hold",
                hint="Run the plan in a repository without submodules, or name a directory as "
                "a resource of the type `fs-directory`",
            )
        if name == b".gitattributes" or name.endswith(b"/.gitattributes"):
            attribute_files.append(os.fsdecode(head.split(b" ")[2]))
    for object_id in attribute_files:
        if _LFS.search(git.run("cat-file", "blob", object_id)):
            raise ProjectRefusedError(
                root,
                "it keeps files in Git LFS, and a sandbox would hold only their pointers",
                hint="Run the plan in a repository without Git LFS, or name a directory as "
                "a resource of the type `fs-directory`",
            )
