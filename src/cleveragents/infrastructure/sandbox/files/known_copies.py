"""Knowing a sandbox that was just made, without reading its files.

A commit's tree is what git has put on disk where it checks files out verbatim.
Where attributes, settings or odd names may make a difference, nothing is
assumed, and the first snapshot reads everything. What is known about a sandbox
holds for a copy of it too, unless the sandbox has changed since.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.domain.sandboxes.uncaptured import Reason
from cleveragents.infrastructure.sandbox.files.git_state import ObservedGit, SandboxGit, Stamps
from cleveragents.infrastructure.sandbox.files.live_tree import RememberedFile
from cleveragents.infrastructure.sandbox.files.scan import (
    SLACK_NANOSECONDS,
    FileSystemTime,
)
from cleveragents.infrastructure.sandbox.files.tracker import SavedState, save_state
from cleveragents.infrastructure.sandbox.git.command import Git, git_on_mirror
from cleveragents.infrastructure.sandbox.git.objects import ESCAPED
from cleveragents.infrastructure.sandbox.store.captured_state import (
    CapturedState,
    usual_modes_under,
)
from cleveragents.infrastructure.sandbox.store.refs import SnapshotRefs


@dataclass(frozen=True)
class CopyComparison:
    """How a sandbox compares with a snapshot."""

    ignored: frozenset[str]
    not_captured: Mapping[str, Reason]
    directories: Collection[str]
    """All that are looked into."""
    is_same: bool
    differing: frozenset[str]
    """The paths in it that are not as the snapshot has them."""
    tracked_though_ignored: frozenset[str] | None
    """As in `ObservedGit`; None if git must be asked, because its state is not the snapshot's."""


def state_of_copy(
    copy: SandboxRef,
    wanted: CapturedState,
    original: CopyComparison,
    proof: str,
    moment: FileSystemTime,
    git: tuple[Stamps, ObservedGit] | None,
) -> SavedState:
    """Returns what is known about a copy: it equals the snapshot where the original did.

    Args:
        copy: The sandbox that was made by copying another.
        wanted: What the snapshot holds.
        original: The other sandbox beside the snapshot.
        proof: The ref that keeps the snapshot.
        moment: When the copy was whole.
        git: What is known of the copy's own git.
    """
    inodes: dict[str, int] = {}
    for path in original.directories:
        with suppress(OSError):
            inodes[path] = os.lstat(f"{copy.path}/{path}").st_ino
    captured = replace(
        wanted,
        ignored=original.ignored,
        not_captured={
            path: why for path, why in original.not_captured.items() if not why.is_special_file
        },
        empty_directories=wanted.empty_directories & inodes.keys(),
    )
    remembered = RememberedFile(captured, inodes, os.lstat(copy.path).st_ino)
    return SavedState(proof, remembered, moment, git, frozenset(), 0)


def adopt(sandbox: SandboxRef, git: Git) -> None:
    """Writes down what a sandbox holds that was checked out at its base commit."""
    store = git_on_mirror(git, Path(sandbox.store))
    if sandbox.base_commit is None or not _is_verbatim(store, sandbox.base_commit):
        return
    refs = SnapshotRefs(sandbox, git)
    refs.prepare()
    sandbox_git = SandboxGit(sandbox, git)
    look = sandbox_git.look()
    # A scan reads again what was written just before a moment: wait, so that it is nothing.
    time.sleep(SLACK_NANOSECONDS / 1e9)
    moment = FileSystemTime.now_in(Path(sandbox.path).parent)
    top = os.lstat(sandbox.path)
    top_mode = stat.S_IMODE(top.st_mode)
    captured = CapturedState(
        tree=os.fsdecode(store.run("rev-parse", f"{sandbox.base_commit}^{{tree}}")).strip(),
        # The umask it was made under shows in its own directory.
        usual=usual_modes_under(0o777 & ~top_mode),
        unusual={},
        top_mode=top_mode,
        empty_directories=frozenset(),
        not_captured={},
        ignored=frozenset(),
        git=look.state,
    )
    remembered = RememberedFile(captured, _directories(sandbox.path), top.st_ino)
    state = SavedState(refs.base, remembered, moment, sandbox_git.seen, frozenset(), 0)
    save_state(sandbox, state)


def _is_verbatim(store: Git, commit: str) -> bool:
    settings = store.settings()
    if settings.get("core.autocrlf", "false").lower() not in ("", "false", "input"):
        return False
    if settings.get("core.symlinks", "true").lower() not in ("", "true"):
        return False
    if (store.directory / "info" / "attributes").stat().st_size:
        return False
    listing = b"\0" + store.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
    return not any(
        sign in listing for sign in (b"\0.gitattributes\0", b"/.gitattributes\0", ESCAPED.encode())
    )


def _directories(root: str) -> dict[str, int]:
    """Returns the inode of every directory below one."""
    found: dict[str, int] = {}
    waiting = [""]
    while waiting:
        path = waiting.pop()
        with suppress(OSError), os.scandir(f"{root}/{path}" if path else root) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    inner = f"{path}/{entry.name}" if path else entry.name
                    found[inner] = entry.inode()
                    waiting.append(inner)
    return found
