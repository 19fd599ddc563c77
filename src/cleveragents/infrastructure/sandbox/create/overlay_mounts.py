"""Mounting and unmounting overlayfs. The only place that mounts anything.

Directories are given to the kernel as open descriptors: then no character of
their names can be taken for a separator of mount options, and what was checked
is what is mounted.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    import ctypes

_MS_NOSUID = 2
_MS_NODEV = 4
_UMOUNT_NOFOLLOW = 8
_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPE = re.compile(rb"\\([0-7]{3})")


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


def _libc() -> ctypes.CDLL:
    if sys.platform != "linux":
        raise OSError("overlayfs exists on Linux only")
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def _raise_errno(place: Path) -> NoReturn:
    import ctypes

    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number), str(place))
