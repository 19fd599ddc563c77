"""Knowing a sandbox that was just checked out, without reading its files.

A commit's tree is what git has put on disk where it checks files out verbatim.
Where attributes, settings or odd names may make a difference, nothing is
assumed, and the first snapshot looks at everything.
"""

from __future__ import annotations

import os
import stat
import time
from contextlib import closing, suppress
from pathlib import Path

from cleveragents.domain.sandbox import SandboxRef
from cleveragents.infrastructure.sandbox.captured import Captured, UsualModes
from cleveragents.infrastructure.sandbox.change_scan import SLACK_NANOSECONDS, FileSystemClock
from cleveragents.infrastructure.sandbox.engine_state import EngineState, save_state
from cleveragents.infrastructure.sandbox.git import Git
from cleveragents.infrastructure.sandbox.git_state import SandboxGit
from cleveragents.infrastructure.sandbox.layout import git_on_mirror
from cleveragents.infrastructure.sandbox.live_state import Remembered
from cleveragents.infrastructure.sandbox.refs import SnapshotRefs
from cleveragents.infrastructure.sandbox.tree_names import ESCAPED


def adopt(sandbox: SandboxRef, git: Git) -> None:
    """Writes down what a sandbox holds that was checked out at its base commit."""
    store = git_on_mirror(git, Path(sandbox.store))
    if sandbox.base_commit is None or not _is_verbatim(store, sandbox.base_commit):
        return
    refs = SnapshotRefs(sandbox, git)
    refs.prepare()
    sandbox_git = SandboxGit(sandbox, git)
    look = sandbox_git.look()
    # What was written just before a moment is looked at again: let that be nothing.
    time.sleep(SLACK_NANOSECONDS / 1e9)
    with closing(FileSystemClock(Path(sandbox.path).parent)) as clock:
        moment = clock.now()
    top = os.lstat(sandbox.path)
    top_mode = stat.S_IMODE(top.st_mode)
    captured = Captured(
        tree=os.fsdecode(store.run("rev-parse", f"{sandbox.base_commit}^{{tree}}")).strip(),
        # The umask it was made under shows in its own directory.
        usual=UsualModes.under(0o777 & ~top_mode),
        unusual={},
        top_mode=top_mode,
        empty_directories=frozenset(),
        not_captured={},
        ignored=frozenset(),
        git=look.state,
    )
    remembered = Remembered(captured, _directories(sandbox.path), top.st_ino)
    state = EngineState(refs.base, remembered, moment, sandbox_git.seen, frozenset(), 0)
    save_state(sandbox, state)


def _is_verbatim(store: Git, commit: str) -> bool:
    def setting(key: str) -> str:
        return os.fsdecode(store.run("config", "--get", key, ok=(0, 1))).strip().lower()

    if setting("core.autocrlf") not in ("", "false", "input") or setting("core.symlinks") not in (
        "",
        "true",
    ):
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
