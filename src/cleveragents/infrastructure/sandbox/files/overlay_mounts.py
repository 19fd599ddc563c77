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
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from cleveragents.domain.errors import ConflictError, SandboxMissingError, SnapshotError
from cleveragents.domain.sandboxes.sandbox import SandboxRef

if TYPE_CHECKING:
    import ctypes

_MS_RDONLY = 1
_MS_NOSUID = 2
_MS_NODEV = 4
_MS_REMOUNT = 32
_MS_BIND = 4096
_MS_REC = 16384
_MS_SLAVE = 1 << 19
_UMOUNT_DETACH = 2
_UMOUNT_NOFOLLOW = 8
_MOUNTS = "/proc/self/mountinfo"
_OVERLAY = b"overlay "
_ESCAPE = re.compile(rb"\\([0-7]{3})")
LOWER = "lower"
"""A file that names the directory below; written last, so it tells a finished sandbox."""


def mount_overlay(
    lower: Path, upper: Path, work: Path, place: Path, extra: str = "", flags: int | None = None
) -> None:
    """Shows `lower` at `place`; everything written there goes to `upper`.

    Args:
        lower: What is shown, and only read.
        upper: Gets what is written.
        work: What the kernel needs beside `upper`.
        place: Where it is mounted.
        extra: More options, which end with a comma.
        flags: Instead of those that keep devices and set-user-id programs from working.

    Raises:
        OSError: the system does not permit or support it.
    """
    with ExitStack() as opened:

        def name(directory: Path) -> str:
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(directory, flags)
            opened.callback(os.close, descriptor)
            return f"/proc/self/fd/{descriptor}"

        options = f"{extra}lowerdir={name(lower)},upperdir={name(upper)},workdir={name(work)}"
        used = _MS_NOSUID | _MS_NODEV if flags is None else flags
        _mount("overlay", place, "overlay", used, options)


def mount_view(lower: Path, upper: Path, work: Path, place: Path) -> None:
    """Mounts an overlay whose notes are in attributes that every user may write.

    Raises:
        OSError: the system does not permit or support it.
    """
    # `xino` keeps the inode numbers if the layers are on two file systems.
    mount_overlay(lower, upper, work, place, "userxattr,index=off,xino=on,", 0)


def keep_mounts_private() -> None:
    """Has nothing that this process mounts appear elsewhere.

    What is unmounted elsewhere goes here too: otherwise this process would keep the disk busy.
    """
    _mount(None, Path("/"), None, _MS_REC | _MS_SLAVE)


def bind(directory: Path, place: Path) -> None:
    """Shows a directory, without what is mounted below it, at another place too.

    Raises:
        OSError: EINVAL, for one, if the user may not uncover what is below a mount.
    """
    _mount(str(directory), place, None, _MS_BIND)


def make_read_only(place: Path) -> None:
    """Raises OSError unless nothing can be written through a mount from now on."""
    # These flags have the same values as those of the mount; the others stay by themselves.
    kept = os.statvfs(place).f_flag & (_MS_NOSUID | _MS_NODEV | os.ST_NOEXEC)
    _mount(None, place, None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY | kept)


def uncover(place: Path) -> None:
    """Removes what is mounted at a place, from the mounts of this process; users keep it."""
    if _libc().umount2(os.fsencode(place), _UMOUNT_DETACH | _UMOUNT_NOFOLLOW) != 0:
        _raise_errno(place)


def mounts_below(directory: Path, process: str = "self") -> list[str]:
    """Returns the places below a directory where something else is mounted."""
    start = os.fsencode(directory) + b"/"
    return [os.fsdecode(place) for place, _ in _mounted(process) if place.startswith(start)]


def unmount(place: Path) -> None:
    """Raises OSError, EBUSY for one, while anything of it is in use."""
    if _libc().umount2(os.fsencode(place), _UMOUNT_NOFOLLOW) != 0:
        _raise_errno(place)


def is_overlay(place: Path, process: str = "self") -> bool:
    """Returns whether an overlay is mounted exactly there, for a process."""
    wanted = os.fsencode(place)
    return any(
        mounted == wanted and kind.startswith(_OVERLAY) for mounted, kind in _mounted(process)
    )


def _mounted(process: str) -> Iterator[tuple[bytes, bytes]]:
    """Yields each place where something is mounted for a process, and what that is."""
    if sys.platform != "linux":
        return
    with open(_MOUNTS.replace("self", process), "rb") as listing:
        lines = listing.read().splitlines()
    for line in lines:
        before, _, after = line.partition(b" - ")
        yield _ESCAPE.sub(lambda found: bytes([int(found[1], 8)]), before.split(b" ")[4]), after


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


def _mount(
    source: str | None, place: Path, kind: str | None, flags: int, options: str | None = None
) -> None:
    texts = [None if text is None else os.fsencode(text) for text in (source, kind, options)]
    if _libc().mount(texts[0], os.fsencode(place), texts[1], flags, texts[2]) != 0:
        _raise_errno(place)


def _libc() -> ctypes.CDLL:
    if sys.platform != "linux":
        raise OSError("overlayfs exists on Linux only")
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def _raise_errno(place: Path) -> NoReturn:
    import ctypes

    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number), str(place))
