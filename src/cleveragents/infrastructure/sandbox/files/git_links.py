"""The files by which a sandbox and its private repository know each other.

An agent can damage or remove them. As long as one of them is whole, the sandbox is
recognized, and a restore writes the others again.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path

from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.domain.sandboxes.uncaptured import DAMAGED_GIT, OTHER_GIT, Reason
from cleveragents.infrastructure.files import write_durably
from cleveragents.infrastructure.sandbox.git.command import admin_directory


class GitLinks:
    """The links of one sandbox of a git project."""

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

    @property
    def places(self) -> list[str]:
        return list(map(str, self._contents))

    def are_known(self) -> bool:
        """Says whether the directory and the repository still name each other, on one side."""
        return self._is_whole(self._admin / "gitdir") or self._is_whole(self._link)

    def damaged(self) -> list[tuple[str, Reason]]:
        """Returns the links that are not as they should be, as a snapshot lists them."""
        found = [
            (f".git/{place.name}", DAMAGED_GIT) for place in self._broken() if place != self._link
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
        for place in self._broken():
            if place == self._link:
                self._restore_own_link()
            else:
                write_durably(place, self._contents[place], mode=0o644)

    def restore_head(self) -> None:
        """Has HEAD name the sandbox's own branch."""
        branch = os.fsencode(f"ref: refs/heads/{self._sandbox.branch}\n")
        write_durably(self._admin / "HEAD", branch, mode=0o644)

    def _broken(self) -> list[Path]:
        return [place for place in self._contents if not self._is_whole(place)]

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
