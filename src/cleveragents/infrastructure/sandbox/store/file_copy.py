"""Copying one file as cheaply as the file system allows.

A process that only copies imports this: it does without everything that takes long to import.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sys

# From linux/fs.h; where the number means nothing the system says so, and bytes are copied.
_FICLONE = 0x40049409
_PIECE = 1 << 30
_SMALL_PIECE = 1 << 20
_BLOCK = 512
_NO_KERNEL_COPY = (errno.EXDEV, errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM)


def copy_content(source: int, target: int, status: os.stat_result, *, share: bool) -> bool:
    """Gives an empty file the bytes of another; returns whether they are shared by a reflink."""
    if share and clone(source, target):
        return True
    if space_needed(status) < status.st_size:
        _copy_data_only(source, target, status.st_size)
    else:
        _copy_range(source, target, status.st_size)
    return False


def space_needed(status: os.stat_result) -> int:
    """Returns what a copy of a regular file takes: holes stay holes."""
    return min(status.st_size, status.st_blocks * _BLOCK)


def clone(source: int, target: int) -> bool:
    """Has two files share their bytes; returns whether the file system can."""
    try:
        fcntl.ioctl(target, _FICLONE, source)
    except OSError:
        return False
    return True


def _copy_data_only(source: int, target: int, size: int) -> None:
    """Leaves out the holes; a file system that does not know them shows one piece."""
    offset = 0
    while offset < size:
        try:
            start = os.lseek(source, offset, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            break  # Nothing but a hole is left.
        offset = os.lseek(source, start, os.SEEK_HOLE)
        os.lseek(source, start, os.SEEK_SET)
        os.lseek(target, start, os.SEEK_SET)
        _copy_range(source, target, offset - start)
    os.ftruncate(target, size)


def _copy_range(source: int, target: int, left: int) -> None:
    """Copies so many bytes from where both files stand, or fewer where the source ends earlier."""
    try:
        while left and (done := _copy_in_kernel(source, target, min(left, _PIECE))):
            left -= done
    except OSError as error:
        if error.errno not in _NO_KERNEL_COPY:
            raise
    # Also where the kernel copied nothing: some file systems say 0 and mean "not here".
    while left and (data := os.read(source, min(left, _SMALL_PIECE))):
        left -= len(data)
        while data:
            data = data[os.write(target, data) :]


def _copy_in_kernel(source: int, target: int, count: int) -> int:
    return os.copy_file_range(source, target, count) if sys.platform == "linux" else 0
