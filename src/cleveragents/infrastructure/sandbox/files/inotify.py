"""Watches a directory tree with Linux's inotify, read straight from the kernel's queue.

The kernel queues an event inside the system call that caused it, so everything
written before `drain` is called is in the queue: no waiting, no marker files.
Blind spots are a file that stays mapped, and a hard link from outside; a scan
(`scan.py`) sees those. It also sees what was written through a name that is gone again:
it may have been one more name of a file that is still there.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
import threading
from dataclasses import dataclass, field

_MODIFY, _ATTRIB, _CLOSE_WRITE = 0x2, 0x4, 0x8
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x40, 0x80, 0x100, 0x200
_ONLY_DIRECTORY, _DO_NOT_FOLLOW = 0x01000000, 0x02000000
_IS_DIRECTORY, _OVERFLOW, _IGNORED = 0x40000000, 0x4000, 0x8000
_CAME_OR_WENT = _CREATE | _MOVED_TO | _DELETE | _MOVED_FROM
_MASK = _MODIFY | _ATTRIB | _CLOSE_WRITE | _CAME_OR_WENT | _ONLY_DIRECTORY | _DO_NOT_FOLLOW
_HEADER = struct.Struct("iIII")
_BUFFER = 1 << 18
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ELOOP, errno.ENAMETOOLONG)


class WatchUnavailableError(Exception):
    """This system cannot watch, or has no watches left."""


@dataclass
class PendingChanges:
    """What happened since the last time."""

    paths: set[str] = field(default_factory=set[str])
    """Paths whose entry may differ."""
    replaced: set[str] = field(default_factory=set[str])
    """Directories that came or went: what was known below them is no longer valid."""
    lost: bool = False
    """Events were dropped: only a scan can tell."""
    doubtful: bool = False
    """A name came, was used to change something, and went: what it was only a scan can tell."""
    new: dict[str, bool] = field(default_factory=dict[str, bool])
    """Names of files that came meanwhile, and whether something was changed through them."""
    moving: dict[int, bool] = field(default_factory=dict[int, bool])
    """The same for the old names of moves, by the number of the move."""


class Watch:
    """Watches the directories it is given, one by one."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._libc = ctypes.CDLL(None, use_errno=True)
        if not hasattr(self._libc, "inotify_init1"):
            raise WatchUnavailableError("there is no inotify")
        self._descriptor: int = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._descriptor < 0:
            raise WatchUnavailableError(os.strerror(ctypes.get_errno()))
        self._paths: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        self._gathered = PendingChanges()

    @property
    def descriptor(self) -> int:
        """Can be read once something has happened since `gather` or `drain`."""
        return self._descriptor

    def add(self, path: str) -> None:
        """Watches one directory; one that is gone already is left out.

        Raises:
            WatchUnavailableError: the system allows no more.
        """
        full = os.fsencode(f"{self._root}/{path}" if path else self._root)
        number = self._libc.inotify_add_watch(self._descriptor, full, _MASK)
        if number < 0:
            code = ctypes.get_errno()
            if code in _GONE:
                return
            raise WatchUnavailableError(os.strerror(code))
        self._paths[number] = path
        self._numbers[path] = number

    def forget(self, path: str) -> None:
        """Stops watching one directory, unless what was there is watched under another path."""
        number = self._numbers.pop(path, None)
        if number is not None and self._paths.get(number) == path:
            del self._paths[number]
            self._libc.inotify_rm_watch(self._descriptor, number)

    def drain(self) -> PendingChanges:
        """Returns everything that happened before this call, and forgets it."""
        self.gather()
        pending, self._gathered = self._gathered, PendingChanges()
        pending.doubtful |= any(pending.moving.values())  # Moved out of what is watched.
        return pending

    def gather(self) -> None:
        """Takes what happened from the kernel's queue, which holds only so much."""
        pending = self._gathered
        while not pending.lost:
            try:
                data = os.read(self._descriptor, _BUFFER)
            except BlockingIOError:
                break
            position = 0
            while position < len(data):
                number, mask, cookie, length = _HEADER.unpack_from(data, position)
                position += _HEADER.size
                name = data[position : position + length].rstrip(b"\0")
                position += length
                if mask & _OVERFLOW:
                    pending.lost = True
                elif mask & _IGNORED:
                    self._dropped(number)
                elif number in self._paths:
                    _note(self._paths[number], os.fsdecode(name), mask, cookie, pending)

    def close(self) -> None:
        """Lets go; the kernel takes its time over that, so another thread waits for it."""
        if sys.is_finalizing():  # A thread would no longer start.
            os.close(self._descriptor)
            return
        threading.Thread(target=os.close, args=(self._descriptor,), daemon=True).start()

    def _dropped(self, number: int) -> None:
        path = self._paths.pop(number, None)
        if path is not None and self._numbers.get(path) == number:
            del self._numbers[path]


def _note(directory: str, name: str, mask: int, cookie: int, pending: PendingChanges) -> None:
    """Notes one event; keeps in mind which names of files are new, and if a used one is gone."""
    if not name:
        if directory:
            pending.paths.add(directory)
        return
    path = f"{directory}/{name}" if directory else name
    pending.paths.add(path)
    came_or_went = mask & _CAME_OR_WENT
    if mask & _IS_DIRECTORY:
        if came_or_went:
            pending.replaced.add(path)
        return
    if not came_or_went:
        if path in pending.new:
            pending.new[path] = True
        return
    was_used = pending.new.pop(path, False)
    if mask & _MOVED_FROM:
        pending.moving[cookie] = was_used  # Inside, it comes back under another name.
        return
    pending.doubtful |= was_used
    if mask & (_CREATE | _MOVED_TO):
        pending.new[path] = pending.moving.pop(cookie, False) if mask & _MOVED_TO else False
