"""Makes the files of a new sandbox those of the project as they are, for `--include-uncommitted`.

HEAD, branch and index of the sandbox stay what the checkout made them: to the
sandbox's git, what the user has not committed is not committed either.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from pathlib import Path

from cleveragents.domain.errors import ProjectRefusedError
from cleveragents.domain.sandboxes.sandbox import SandboxRef, Uncaptured
from cleveragents.infrastructure.sandbox.create.project_files import (
    ProjectListing,
    look,
    unreadable,
)
from cleveragents.infrastructure.sandbox.git.command import Git, admin_directory
from cleveragents.infrastructure.sandbox.git.repository import Repository
from cleveragents.infrastructure.sandbox.store.file_copy import copy_content

_ATTEMPTS = 5
_PIECE = 1 << 20
# What was seen has gone, or is another kind of thing now: the next look sees that.
_BECAME_SOMETHING_ELSE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.EINVAL)
# Without O_NONBLOCK, opening what has just become a named pipe would wait for its writer.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def take_over(repository: Repository, git: Git, sandbox: SandboxRef) -> tuple[Uncaptured, ...]:
    """Copies what differs, removes what the project does not have, and returns what was left out.

    The sandbox is that of one moment: when something has changed after it was
    copied, what has changed is copied again.

    Raises:
        ProjectRefusedError: The project cannot be read whole, or does not stop changing.
        OSError: The sandbox cannot be written.
    """
    mirror, scratch = Path(sandbox.store), admin_directory(sandbox) / "project"
    target = Path(sandbox.path)
    seen = look(repository, git, mirror, scratch)
    for _ in range(_ATTEMPTS):
        _remove_others(target, seen)
        _copy(repository.root, target, seen)
        now = look(repository, git, mirror, scratch)
        if now == seen:
            _set_modes(target, seen)
            return seen.skipped
        seen = now
    raise ProjectRefusedError(
        str(repository.root),
        "its files change faster than they can be copied",
        hint="Try again when nothing writes to it, or leave out `--include-uncommitted`",
    )


def _remove_others(target: Path, wanted: ProjectListing) -> None:
    waiting = [""]
    while waiting:
        directory = waiting.pop()
        with os.scandir(target / directory) as entries:
            for entry in list(entries):
                name = f"{directory}/{entry.name}" if directory else entry.name
                if entry.is_dir(follow_symlinks=False):
                    if name in wanted.directories:
                        waiting.append(name)
                    else:
                        shutil.rmtree(entry.path)
                elif name not in wanted.leaves and name != ".git":
                    os.unlink(entry.path)


def _copy(root: Path, target: Path, wanted: ProjectListing) -> None:
    for name in sorted(wanted.directories):
        (target / name).mkdir(mode=0o700, exist_ok=True)
    for name, leaf in wanted.leaves.items():
        try:
            if stat.S_ISLNK(leaf.mode):
                found = os.readlink(root / name)
            else:
                found = os.open(root / name, _READ)
        except OSError as error:
            if error.errno not in _BECAME_SOMETHING_ELSE:
                raise unreadable(root, name, error) from error
            continue
        if isinstance(found, str):
            _copy_link(found, target / name)
        else:
            _copy_file(found, target / name)


def _copy_link(pointing: str, target: Path) -> None:
    if not target.is_symlink() or os.readlink(target) != pointing:
        target.unlink(missing_ok=True)
        target.symlink_to(pointing)


def _copy_file(source: int, target: Path) -> None:
    try:
        status = os.fstat(source)
        if not stat.S_ISREG(status.st_mode):
            return
        if not _is_same(source, status, target):
            target.unlink(missing_ok=True)
            _write(source, status, target)
        target.chmod(stat.S_IMODE(status.st_mode))
    finally:
        os.close(source)


def _is_same(source: int, status: os.stat_result, target: Path) -> bool:
    """Compares bytes, and rewinds the source afterwards."""
    if not os.path.lexists(target):
        return False
    present = target.lstat()
    if not stat.S_ISREG(present.st_mode) or present.st_size != status.st_size:
        return False
    with target.open("rb") as there:
        while piece := os.read(source, _PIECE):
            if there.read(len(piece)) != piece:
                os.lseek(source, 0, os.SEEK_SET)
                return False
    return True


def _write(source: int, status: os.stat_result, target: Path) -> None:
    writer = os.open(target, _CREATE, 0o600)
    try:
        copy_content(source, writer, status, share=True)
    finally:
        os.close(writer)


def _set_modes(target: Path, wanted: ProjectListing) -> None:
    """Gives directories their permission bits last: some would not let themselves be filled."""
    for name, mode in sorted(wanted.directories.items(), reverse=True):
        os.chmod(target / name, mode)
