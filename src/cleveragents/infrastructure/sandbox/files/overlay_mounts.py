"""Mounting and unmounting overlayfs. The only place that mounts anything.

Directories are given to the kernel as open descriptors: then no character of
their names can be taken for a separator of mount options, and what was checked
is what is mounted.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from cleveragents.domain.errors import ConflictError, SandboxMissingError, SnapshotError
from cleveragents.domain.sandboxes.sandbox import SandboxRef

if TYPE_CHECKING:
    import ctypes

_MS_NOSUID = 2
_MS_NODEV = 4
_UMOUNT_NOFOLLOW = 8
_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPE = re.compile(rb"\\([0-7]{3})")
LOWER = "lower"
"""A file that names the directory below; written last, so it tells a finished sandbox."""


def mount_overlay(lower: Path, upper: Path, work: Path, place: Path) -> None:
    """Shows `lower` at `place`; everything written there goes to `upper`.

    Raises:
        OSError: the system does not permit or support it.
    """
    with ExitStack() as opened:

        def name(directory: Path) -> str:
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(directory, flags)
            opened.callback(os.close, descriptor)
            return f"/proc/self/fd/{descriptor}"

        options = f"lowerdir={name(lower)},upperdir={name(upper)},workdir={name(work)}"
        done = _libc().mount(
            b"overlay", os.fsencode(place), b"overlay", _MS_NOSUID | _MS_NODEV, options.encode()
        )
        if done != 0:
            _raise_errno(place)


def unmount(place: Path) -> None:
    """Raises OSError, EBUSY for one, while anything of it is in use."""
    if _libc().umount2(os.fsencode(place), _UMOUNT_NOFOLLOW) != 0:
        _raise_errno(place)


def is_overlay(place: Path) -> bool:
    """Returns whether an overlay is mounted exactly there."""
    if sys.platform != "linux":
        return False
    wanted = os.fsencode(place)
    for line in _MOUNTS.read_bytes().splitlines():
        before, _, after = line.partition(b" - ")
        mounted = _ESCAPE.sub(lambda found: bytes([int(found[1], 8)]), before.split(b" ")[4])
        if mounted == wanted and after.startswith(b"overlay "):
            return True
    return False


def layers_of(place: Path) -> Path:
    """Returns the directory beside an overlay that holds its layers."""
    return place.with_name(f".{place.name}.overlay")


def is_one(place: Path) -> bool:
    """Returns whether the sandbox at a place is an overlay, mounted or not."""
    return (layers_of(place) / LOWER).is_file()


def attach(place: Path) -> None:
    """Mounts a sandbox where its files are to be seen, unless it is mounted.

    Raises:
        OSError: it cannot be mounted, or is not one of our overlays.
    """
    if not is_overlay(place):
        layers = layers_of(place)
        lower = Path(os.fsdecode((layers / LOWER).read_bytes()))
        mount_overlay(lower, layers / "upper", layers / "work", place)


def require_mounted(sandbox: SandboxRef) -> None:
    """Mounts the overlay of a sandbox again where a reboot has unmounted it.

    Raises:
        SandboxMissingError: it cannot be mounted.
    """
    try:
        attach(Path(sandbox.path))
    except OSError as error:
        raise SandboxMissingError(
            sandbox.path, f"is not mounted and cannot be: {error.strerror}"
        ) from error


def detach(place: Path) -> None:
    """Unmounts a sandbox; what was written to it stays in its upper layer.

    Raises:
        ConflictError: a process is working in it.
    """
    while is_overlay(place):
        try:
            unmount(place)
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise SnapshotError(f"The sandbox cannot be unmounted: {error}") from error
            raise ConflictError(
                f"The sandbox is in use and cannot be unmounted: {place}",
                hint="End the processes that work in it, then try again",
                path=str(place),
            ) from error


def _libc() -> ctypes.CDLL:
    if sys.platform != "linux":
        raise OSError("overlayfs exists on Linux only")
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def _raise_errno(place: Path) -> NoReturn:
    import ctypes

    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number), str(place))
