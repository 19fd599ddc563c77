"""The git of a project that a session works on in place: read, and never written.

A snapshot of such a sandbox holds files only, so a restore leaves `HEAD`, branches and index
alone. The index matters all the same: what is tracked is captured even where rules ignore it.

In a private view, `.git` is the view's own and part of the files, so this only reads its index.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from time import time_ns

from cleveragents.domain.errors import GitCommandError, ProjectRefusedError
from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.domain.sandboxes.uncaptured import GIT_MADE_LATER, UNREADABLE_INDEX
from cleveragents.infrastructure.sandbox.files.git_state import ObservedGit, Stamps
from cleveragents.infrastructure.sandbox.files.scan import SLACK_NANOSECONDS
from cleveragents.infrastructure.sandbox.git.command import PRIVATE, Git, git_on_mirror
from cleveragents.infrastructure.sandbox.git.repository import Repository, find_repository
from cleveragents.infrastructure.sandbox.store.directories import beside

_NAMED = 20


class ProjectGit:
    """The user's own git, as far as snapshots need to know about it."""

    def __init__(self, sandbox: SandboxRef, git: Git) -> None:
        self._sandbox = sandbox
        self._git = git
        self._root = Path(sandbox.path)
        self._excludes = Path(sandbox.store).with_suffix(PRIVATE) / "info" / "exclude"
        is_repository = sandbox.branch is not None
        mirror = git_on_mirror(git, Path(sandbox.store))
        self.outside = mirror.with_variables(GIT_WORK_TREE=sandbox.path) if is_repository else None
        """Git for the ignore rules, from the mirror: no agent can damage it. None without git."""
        self.durable: str | None = None
        self.seen: tuple[Stamps, ObservedGit] | None = None
        self.head: str | None = None
        """The commit of `HEAD` when `look` was last called."""
        self._of_head: Stamps | None = None
        self._is_content = sandbox.strategy is SandboxStrategy.PRIVATE_VIEW
        """Whether snapshots hold `.git` like any other directory."""

    def look(self) -> ObservedGit:
        """Returns what is tracked though it is ignored; git is asked only if that may differ."""
        found = self._look()
        if self._is_content:
            return _kept(found.tracked_though_ignored)
        return found

    def _look(self) -> ObservedGit:
        if self.outside is None:
            has_git = os.path.lexists(self._root / ".git")
            return ObservedGit(uncaptured=((".git", GIT_MADE_LATER),) if has_git else ())
        try:
            repository = find_repository(self._root, None)
        except ProjectRefusedError:  # The command removed or damaged it.
            self.head = self._of_head = None
            return ObservedGit(uncaptured=((".git", UNREADABLE_INDEX),))
        admin = repository.git_dir
        stamps = _stamps(admin / "index")
        if self.seen is None or self.seen[0] != stamps or _are_fresh(stamps):
            self.seen = (stamps, self._read(admin))
        if self._is_content:
            return self.seen[1]
        of_head = _stamps(*_places_of_head(repository))
        if self._of_head != of_head or _are_fresh(of_head):
            said = self._git.at(admin).run("rev-parse", "--verify", "-q", "HEAD", ok=(0, 1, 128))
            self.head, self._of_head = said.decode().strip() or None, of_head
        return self.seen[1]

    def commits_since(self, head: str) -> Sequence[str]:
        """Returns the commits that `HEAD` has and `head` has not, newest first."""
        with suppress(ProjectRefusedError, GitCommandError):
            git = self._git.at(find_repository(self._root, None).git_dir)
            shown = ("--no-show-signature", "--no-decorate", f"--max-count={_NAMED}", "-z")
            said = git.run("log", *shown, "--format=%h %s", f"{head}..HEAD", "--")
            return [line.decode(errors="replace") for line in said.split(b"\0") if line]
        return ()

    def _read(self, admin: Path) -> ObservedGit:
        # Git writes to the index it is given even to answer, so it gets a copy.
        copy = beside(self._sandbox) / f".{self._sandbox.resource}.index-{secrets.token_hex(4)}"
        git = self._git.at(admin).with_variables(
            GIT_INDEX_FILE=str(copy), GIT_WORK_TREE=self._sandbox.path
        )
        try:
            if (admin / "index").is_file():
                shutil.copyfile(admin / "index", copy)
            rules = ("--exclude-standard", f"--exclude-from={self._excludes}")
            said = git.run("ls-files", "-z", "--cached", "--ignored", *rules)
        except (GitCommandError, OSError):
            return ObservedGit(uncaptured=((".git/index", UNREADABLE_INDEX),))
        finally:
            copy.unlink(missing_ok=True)
            copy.with_name(f"{copy.name}.lock").unlink(missing_ok=True)
        return ObservedGit(
            tracked_though_ignored=frozenset(map(os.fsdecode, said.split(b"\0")[:-1]))
        )


@lru_cache(maxsize=4)
def _kept(tracked_though_ignored: frozenset[str]) -> ObservedGit:
    """Returns the same value for the same paths: then nothing has changed."""
    return ObservedGit(tracked_though_ignored=tracked_though_ignored)


def _places_of_head(repository: Repository) -> list[Path]:
    """Returns the files of which one changes whenever the commit of `HEAD` does."""
    head, common = repository.git_dir / "HEAD", repository.common_dir
    branch = ""
    with suppress(OSError):
        branch = os.fsdecode(head.read_bytes()).removeprefix("ref: ").strip()
    return [head, common / "packed-refs", *([common / branch] if branch else [])]


def _are_fresh(stamps: Stamps) -> bool:
    """Right after a write, another one could leave the same stamps."""
    newest = max((time for stamp in stamps if stamp for time in stamp[:2]), default=0)
    return newest > time_ns() - SLACK_NANOSECONDS


def _stamps(*places: Path) -> Stamps:
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
