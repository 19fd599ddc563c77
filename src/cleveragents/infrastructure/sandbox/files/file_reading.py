"""Reading files that others may write to at the same time."""

from __future__ import annotations

import os
import stat

from cleveragents.infrastructure.sandbox.git.objects import (
    NewObject,
    ObjectChangedError,
    ObjectKind,
    hash_file,
    read_file,
)

# Small files are kept from the moment they are read, so that a later write cannot spoil them.
_SMALL = 1 << 20
_KEPT_ALTOGETHER = 16 << 20
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class FileReader:
    """Reads regular files once; of large ones only the name of the bytes is kept."""

    def __init__(self) -> None:
        self._room = _KEPT_ALTOGETHER

    def make_room(self) -> None:
        """Says that what was read before need not be kept any more."""
        self._room = _KEPT_ALTOGETHER

    def read(self, full: str) -> tuple[NewObject, int]:
        """Returns the bytes of a file as an object, and its mode.

        Raises:
            ObjectChangedError: it was written to meanwhile.
        """
        descriptor = os.open(full, _FLAGS)
        try:
            before = os.fstat(descriptor)
            if not stat.S_ISREG(before.st_mode):
                raise ObjectChangedError(full)
            blob = self._read(descriptor, full, before.st_size)
            after = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        if _stamp(before) != _stamp(after):
            raise ObjectChangedError(full)
        return blob, after.st_mode

    def _read(self, descriptor: int, full: str, size: int) -> NewObject:
        if size <= min(_SMALL, self._room):
            self._room -= size
            return NewObject.of(ObjectKind.BLOB, read_file(descriptor, size))
        return NewObject(hash_file(descriptor, size), ObjectKind.BLOB, None, full, size)


def _stamp(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_mode
