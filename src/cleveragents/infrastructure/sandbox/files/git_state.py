"""HEAD, branch and index of a sandbox's own git: read and restored."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import time_ns
from typing import NoReturn

from cleveragents.domain.errors import (
    GitCommandError,
    NoSpaceError,
    SandboxMissingError,
    SnapshotError,
)
from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.domain.sandboxes.uncaptured import DAMAGED_GIT, GIT_OPERATIONS, OTHER_GIT, Reason
from cleveragents.infrastructure.files import write_durably
from cleveragents.infrastructure.sandbox.files.agent_objects import (
    AgentObjects,
    agent_objects,
    objects_of_commit,
)
from cleveragents.infrastructure.sandbox.files.git_index import (
    ObservedIndex,
    read_index,
    restore_index,
)
from cleveragents.infrastructure.sandbox.files.scan import SLACK_NANOSECONDS
from cleveragents.infrastructure.sandbox.git.command import (
    Git,
    admin_directory,
    git_on_mirror,
    git_on_sandbox,
)
from cleveragents.infrastructure.sandbox.git.objects import NewObject
from cleveragents.infrastructure.sandbox.store.captured_state import GitState
from cleveragents.infrastructure.sandbox.store.refs import SnapshotRefs

_NO_GIT = GitState()
_NOTHING = AgentObjects()
_HEAD_COMMIT = "HEAD^{commit}"

Stamps = list[list[int] | None]
"""Times, size and inode of some files; None for one that is not there."""


@dataclass(frozen=True)
class ObservedGit:
    """What was found of the sandbox's git."""

    state: GitState = _NO_GIT
    objects: tuple[NewObject, ...] = ()
    """What has to be stored to keep HEAD and index."""
    to_sync: tuple[Path, ...] = ()
    """Files of the agent's git that have to be synced for the same purpose."""
    uncaptured: tuple[tuple[str, Reason], ...] = ()
    """What a snapshot does not hold, and why."""
    tracked_though_ignored: frozenset[str] = frozenset()
    staged: frozenset[str] = frozenset()
    """The blobs that only a listing leads to."""


class GitLinks:
    """The files by which a sandbox and its private repository know each other.

    An agent can damage or remove them. As long as one of them is whole, the sandbox is
    recognized, and a restore writes the others again.
    """

    def __init__(self, sandbox: SandboxRef) -> None:
        admin, path = admin_directory(sandbox), Path(sandbox.path)
        self._sandbox = sandbox
        self._admin = admin
        self._link = path / ".git"
        self._contents: Mapping[Path, bytes] = {
            admin / "commondir": b"../..\n",
            admin / "gitdir": os.fsencode(f"{path}/.git\n"),
            self._link: os.fsencode(f"gitdir: {admin}\n"),
        }
        self.places = [*map(str, self._contents)]

    def are_known(self) -> bool:
        """Says whether the directory and the repository still name each other, on one side."""
        return self._is_whole(self._admin / "gitdir") or self._is_whole(self._link)

    def damaged(self) -> list[tuple[str, Reason]]:
        """Returns the links that are not as they should be, as a snapshot lists them."""
        found = [
            (f".git/{place.name}", DAMAGED_GIT)
            for place in self._contents
            if place != self._link and not self._is_whole(place)
        ]
        if not self._is_whole(self._link):
            is_there = os.path.lexists(self._link)
            found.append((".git", OTHER_GIT if is_there else DAMAGED_GIT))
        return found

    def create(self) -> None:
        """Makes the links of a new sandbox, which is on its own branch."""
        self._admin.mkdir(parents=True, exist_ok=True)
        # Keeps `git worktree prune` from removing it.
        write_durably(self._admin / "locked", b"in use by a CleverAgents plan\n", mode=0o644)
        for place, content in self._contents.items():
            write_durably(place, content, mode=0o644)
        self.restore_head()

    def restore(self) -> None:
        """Writes the links that are damaged or missing, and where they belong if that is gone."""
        if not self._admin.is_dir():
            self._admin.unlink(missing_ok=True)
            self._admin.mkdir(parents=True)
        for place, content in self._contents.items():
            if self._is_whole(place):
                continue
            if place == self._link:
                self._restore_own_link()
            else:
                write_durably(place, content, mode=0o644)

    def restore_head(self) -> None:
        """Has HEAD name the sandbox's own branch."""
        branch = os.fsencode(f"ref: refs/heads/{self._sandbox.branch}\n")
        write_durably(self._admin / "HEAD", branch, mode=0o644)

    def _is_whole(self, place: Path) -> bool:
        try:
            is_regular = stat.S_ISREG(os.lstat(place).st_mode)
            return is_regular and place.read_bytes() == self._contents[place]
        except OSError:
            return False

    def _restore_own_link(self) -> None:
        """An agent may remove or replace `.git`: what it put there is moved aside, not deleted."""
        plan_directory = self._link.parent.parent
        if os.path.lexists(self._link):
            aside = f".{self._sandbox.resource}.git-found-{secrets.token_hex(4)}"
            self._link.rename(plan_directory / aside)
        draft = plan_directory / f".{self._sandbox.resource}.git-link"
        write_durably(draft, self._contents[self._link], mode=0o644)
        draft.replace(self._link)


class SandboxGit:
    """The git side of one sandbox."""

    def __init__(self, sandbox: SandboxRef, git: Git) -> None:
        self._sandbox = sandbox
        self._admin = admin_directory(sandbox)
        self.git = git_on_sandbox(git, sandbox)
        self.outside = git_on_mirror(git, Path(sandbox.store), GIT_WORK_TREE=sandbox.path)
        """Git for what does not concern HEAD and index: it works where these are damaged."""
        self._refs = SnapshotRefs(sandbox, git)
        self._links = GitLinks(sandbox)
        self.durable: str | None = None
        """The commit of the last stored state: all that it leads to is durable."""
        self.seen: tuple[Stamps, ObservedGit] | None = None
        """What was found last, and by which stamps to know that it still holds."""
        self._made: Stamps | None = None
        """The stamps right after this process created the sandbox, while no other uses it."""

    def stamps(self) -> Stamps:
        """Returns what changes whenever HEAD, the branch or the index may have changed."""
        admin = str(self._admin)
        try:
            with open(f"{admin}/HEAD", "rb", buffering=0) as head:
                branch = os.fsdecode(head.read()).removeprefix("ref: ").strip()
        except OSError:
            branch = ""
        places = [f"{admin}/HEAD", f"{admin}/index", *self._links.places]
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

    def require_links(self) -> None:
        """Raises SandboxMissingError unless the sandbox and its repository know each other."""
        if not self._links.are_known():
            self._raise_unknown()

    def _raise_unknown(self) -> NoReturn:
        raise SandboxMissingError(self._sandbox.path, "is not known to its private repository")

    def know(self, look: ObservedGit) -> None:
        """Adopts the git state of a new sandbox, which no other process uses yet."""
        self._made = self.stamps()
        self.seen = (self._made, look)

    def _look(self) -> ObservedGit:
        """Finds HEAD, branch and index; what is damaged counts as not captured."""
        if not os.path.isdir(self._sandbox.store):
            self._raise_unknown()
        branch, commit, made = self._head()
        index, staged = self._index(commit, branch)
        damaged = [".git/HEAD"] * (branch is None and commit is None) + [".git/index"] * (not index)
        found = index or ObservedIndex()
        return ObservedGit(
            state=GitState(branch, commit, found.tree, found.listing),
            objects=(*found.objects, *made.to_store, *staged.to_store),
            to_sync=(*made.to_sync, *staged.to_sync),
            uncaptured=(
                *self._under_way(),
                *self._links.damaged(),
                *((path, DAMAGED_GIT) for path in damaged),
                *found.by_name,
            ),
            tracked_though_ignored=found.tracked_though_ignored,
            staged=found.staged,
        )

    def _head(self) -> tuple[str | None, str | None, AgentObjects]:
        """Returns branch, commit and what to store of it; neither if something is damaged."""
        said = self.git.run("symbolic-ref", "-q", "HEAD", ok=(0, 1, 128))
        branch = os.fsdecode(said).strip() or None
        said = self.git.run("rev-parse", "--verify", "-q", _HEAD_COMMIT, ok=(0, 1, 128))
        commit = said.decode().strip() or None
        if commit is None:
            is_unborn = branch is not None and not self._refs.has(branch)
            return branch if is_unborn else None, None, _NOTHING
        known = [each for each in (self._sandbox.base_commit, self.durable) if each is not None]
        if commit in known:
            return branch, commit, _NOTHING
        try:
            needed = objects_of_commit(self.git, commit, known)
            return branch, commit, self._durably(needed)
        except SnapshotError as error:
            _raise_unless_damage(error)
            return None, None, _NOTHING

    def _index(
        self, commit: str | None, branch: str | None
    ) -> tuple[ObservedIndex | None, AgentObjects]:
        """Returns the index, or None if it is damaged, and what to store of it."""
        if not self._admin.is_dir():
            return None, _NOTHING
        # Git refuses to work where HEAD is damaged, so it is asked from elsewhere then.
        git = self.outside if commit is None and branch is None else self.git
        try:
            found = read_index(git, self._admin, commit)
            return found, self._durably(found.blobs)
        except SnapshotError as error:
            _raise_unless_damage(error)
            return None, _NOTHING

    def _durably(self, object_ids: Collection[str]) -> AgentObjects:
        return agent_objects(self.outside, Path(self._sandbox.store), object_ids)

    def start(self, wanted: GitState) -> None:
        """Gives a new sandbox its own branch, and HEAD and index, wherever HEAD is."""
        if wanted.commit is not None:
            self.git.run("update-ref", f"refs/heads/{self._sandbox.branch}", wanted.commit)
        if wanted.branch != f"refs/heads/{self._sandbox.branch}":
            self._restore_head(wanted)
        restore_index(self.git, self._admin, wanted, keep=False)

    def restore(self, wanted: GitState) -> None:
        """Restores HEAD, branch and index as far as they were captured, and damaged links."""
        self._links.restore()
        present = self.look().state
        if present == wanted:
            return
        self._remove_locks(wanted)
        if not present.has_head:
            self._links.restore_head()
        if wanted.has_head and present.head != wanted.head:
            self._restore_head(wanted)
        if wanted.has_index and present.index != wanted.index:
            keep = present.index_tree is not None
            restore_index(self.git, self._admin, wanted, keep=keep)

    def _restore_head(self, wanted: GitState) -> None:
        if wanted.branch is None:
            self.git.run("update-ref", "--no-deref", "HEAD", wanted.commit or "")
            return
        self.git.run("symbolic-ref", "HEAD", wanted.branch)
        self._remove_damaged_ref(wanted.branch)
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

    def _remove_damaged_ref(self, branch: str) -> None:
        """Git refuses to move a branch whose ref it cannot read."""
        path = Path(self._sandbox.store) / branch
        if path.is_file() and not self.git.succeeds("rev-parse", "--verify", "-q", branch):
            path.unlink()

    def _remove_locks(self, wanted: GitState) -> None:
        """A tool that was killed may have left locks of its git; it no longer runs."""
        for place in (self._admin / "HEAD", Path(self._sandbox.store) / (wanted.branch or "HEAD")):
            with suppress(FileNotFoundError):
                place.with_name(f"{place.name}.lock").unlink()


def _raise_unless_damage(error: SnapshotError) -> None:
    """A git that was killed, hangs or has no room says nothing about the repository."""
    if isinstance(error, NoSpaceError) or (isinstance(error, GitCommandError) and error.status < 0):
        raise error


def forked(state: GitState, source: SandboxRef, fork: SandboxRef) -> GitState:
    """Returns the git state of a fork: on its own branch if the source was on its own."""
    if not state.has_head:
        branch = f"refs/heads/{fork.branch}"
        return replace(state, branch=branch, commit=source.base_commit)
    on_branch = state.branch == f"refs/heads/{source.branch}" or state.commit is None
    return replace(state, branch=f"refs/heads/{fork.branch}" if on_branch else None)
