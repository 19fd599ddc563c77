"""Finds out whether a private view of a project can be made, by making one in a child process.

The advice is as narrow as possible: it never is to switch the protection of the system off.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess  # nosec B404 # `find` is started with an argument list, never through a shell
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from cleveragents.domain.errors import ViewUnavailableError
from cleveragents.domain.wording import listed
from cleveragents.infrastructure.home import create_private_directory
from cleveragents.infrastructure.sandbox.files.namespaces import NamespaceError, own_mounts
from cleveragents.infrastructure.sandbox.files.overlay_mounts import (
    bind,
    keep_mounts_private,
    make_read_only,
    mount_view,
    mounts_below,
)

_ELSEWHERE = (
    "Add `-i` to work on your own files, with checkpoints to go back to, or `--isolation copy` "
    "to work in a copy"
)
_NAMESPACE = "namespace"
_MOUNT = "mount"
_COPY = "copy"
_PROFILE = (
    "Ask the administrator for an AppArmor profile that permits `userns` to this one program, "
    f"{sys.executable}. {_ELSEWHERE}"
)
APPARMOR = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
SETTINGS = {
    "/proc/sys/user/max_user_namespaces": (
        "0",
        "the system permits no user namespaces (user.max_user_namespaces is 0)",
        "Ask the administrator to permit some: `sysctl user.max_user_namespaces=100`. "
        f"{_ELSEWHERE}",
    ),
    "/proc/sys/kernel/unprivileged_userns_clone": (
        "0",
        "the system permits user namespaces to root only (kernel.unprivileged_userns_clone is 0)",
        f"Ask the administrator whether you may have them. {_ELSEWHERE}",
    ),
    APPARMOR: (
        "1",
        "AppArmor permits user namespaces only to the programs that it knows",
        _PROFILE,
    ),
}


def refuse_view(project: Path, home: Path) -> None:
    """Raises ViewUnavailableError with the reason unless a view of a project can be made.

    Args:
        project: The top directory of the project.
        home: The home directory of CleverAgents, where its layer would be.
    """
    if sys.platform != "linux":
        raise ViewUnavailableError("it needs Linux", hint=_ELSEWHERE)
    link = project / ".git"
    if os.path.lexists(link) and (link.is_symlink() or not link.is_dir()):
        raise ViewUnavailableError(
            f"the git of {project} is outside of the project, so commits would be real",
            hint=_ELSEWHERE,
        )
    mounted = mounts_below(project)
    if mounted:
        raise ViewUnavailableError(
            f"something else is mounted in the project, at {listed(mounted)}",
            hint=f"Unmount it, or move it out of the project. {_ELSEWHERE}",
        )
    problem = tried(project, home)
    if problem:
        stage, _, number = problem.partition(" ")
        _refuse(project, home, stage, int(number or 0))
    foreign = _of_others(project)
    if foreign is not None:
        raise ViewUnavailableError(
            f"{foreign} belongs to another user or group, so a view cannot hold changes to it",
            hint=f"Run `chown` or `chgrp` on it, if it should be yours. {_ELSEWHERE}",
        )


def _refuse(project: Path, home: Path, stage: str, number: int) -> None:
    """Raises ViewUnavailableError for what the trial met."""
    said = f"{os.strerror(number)} ({errno.errorcode.get(number, number)})"
    if stage == _NAMESPACE:
        for place, (value, reason, hint) in SETTINGS.items():
            with suppress(OSError):
                if Path(place).read_text(encoding="ascii").strip() == value:
                    raise ViewUnavailableError(reason, hint=hint)
        raise ViewUnavailableError(
            f"the system does not permit namespaces here: {said}",
            hint="In a container, start it with a seccomp profile that permits `unshare` and "
            f"`mount` to this program. {_ELSEWHERE}",
        )
    if stage == _COPY:
        raise ViewUnavailableError(f"files cannot be changed in it: {said}", hint=_ELSEWHERE)
    if number in (errno.EPERM, errno.EACCES) and _restricts_programs():
        raise ViewUnavailableError(
            "AppArmor gives this program no privilege in a user namespace", hint=_PROFILE
        )
    raise ViewUnavailableError(
        f"it cannot be mounted with the project in {project} and its changes in {home}: {said}",
        hint="Both have to be on local file systems that are no overlay: set "
        f"`CLEVERAGENTS_HOME` to a directory on such a one. {_ELSEWHERE}",
    )


def _restricts_programs() -> bool:
    try:
        return Path(APPARMOR).read_text(encoding="ascii").strip() == "1"
    except OSError:
        return False


def tried(project: Path, home: Path) -> str:
    """Makes a view in a child process; returns where it failed with which error, or nothing."""
    create_private_directory(home)
    sandboxes = create_private_directory(home / "sandboxes")
    trial = Path(tempfile.mkdtemp(prefix=".view-", dir=sandboxes))
    for name in ("upper", "work", "lower", "view"):
        (trial / name).mkdir()
    told, tell = os.pipe()
    try:
        child = os.fork()
        if child == 0:  # pragma: no cover # It never returns.
            os.write(tell, _trial(project, trial).encode("ascii"))
            os._exit(0)
        os.close(tell)
        with open(told, "rb", closefd=False) as stream:
            said = stream.read().decode("ascii")
        os.waitpid(child, 0)
        return said
    finally:
        os.close(told)
        with suppress(OSError):
            os.chmod(trial / "work" / "work", 0o700)
        shutil.rmtree(trial, ignore_errors=True)


def _trial(project: Path, trial: Path) -> str:
    """Runs in the child; its mounts end with it."""
    stage = _NAMESPACE
    try:
        own_mounts()
        keep_mounts_private()
        stage = _MOUNT
        bind(project, trial / "lower")
        make_read_only(trial / "lower")
        mount_view(trial / "lower", trial / "upper", trial / "work", trial / "view")
        stage = _COPY
        (trial / "view" / ".cleveragents-trial").touch()
        (trial / "view" / ".cleveragents-trial").unlink()
    except NamespaceError as error:
        return f"{stage} {error.number or 0}"
    except OSError as error:
        return f"{stage} {error.errno or 0}"
    except BaseException:  # Whatever it is, the parent must not run this child's code twice.
        return f"{stage} 0"
    return ""


def _of_others(project: Path) -> str | None:
    """Returns a file that another user or group owns, which a user namespace cannot map."""
    if os.geteuid() == 0:
        return None
    mine = ("-uid", str(os.geteuid()), "-gid", str(os.getegid()))
    command = ("find", str(project), "-xdev", "!", "(", *mine, ")", "-print0", "-quit")
    with suppress(OSError):
        done = subprocess.run(command, capture_output=True, check=False)  # nosec B603
        if done.stdout:
            return os.fsdecode(done.stdout.split(b"\0")[0])
    return None
