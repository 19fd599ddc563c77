"""Namespaces of one process: its own mounts, without any privilege outside of them.

A process that is not root gets a user namespace too, in which it stays the same user. Of the
privileges that come with that, it keeps the one for mounting; a program that it executes gets
none. The kernel changes the namespaces of single-threaded processes only.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import NoReturn

_CLONE_NEWNS = 0x00020000
_CLONE_NEWUSER = 0x10000000
_CAPABILITY_VERSION = 0x20080522
_CAP_SYS_CHROOT = 18
_CAP_SYS_ADMIN = 21
_THREADS = "/proc/self/task"


class NamespaceError(Exception):
    """This process cannot have other namespaces."""

    def __init__(self, reason: str, number: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.number = number
        """The error of the kernel, if it refused."""


def require_one_thread() -> None:
    """Raises NamespaceError if this process has threads."""
    try:
        threads = len(os.listdir(_THREADS))
    except OSError:
        return
    if threads > 1:
        raise NamespaceError(f"this process has {threads} threads already")


def own_mounts() -> None:
    """Gives this process mounts of its own; nothing that it mounts is seen elsewhere.

    Raises:
        NamespaceError: the process has threads, or the system does not permit it.
    """
    if sys.platform != "linux":
        raise NamespaceError("namespaces exist on Linux only")
    if os.geteuid() == 0:
        _unshare(_CLONE_NEWNS)
        return
    require_one_thread()
    uid, gid = os.geteuid(), os.getegid()
    _unshare(_CLONE_NEWUSER | _CLONE_NEWNS)
    try:
        # The kernel asks for this before it lets an unprivileged process map a group.
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{uid} {uid} 1\n")
        _write("/proc/self/gid_map", f"{gid} {gid} 1\n")
    except OSError as error:
        raise NamespaceError(f"the user cannot be mapped: {error.strerror}", error.errno) from error


def copy_of_mounts() -> None:
    """Gives a process that may mount a copy of its mounts.

    Raises:
        NamespaceError: the system does not permit it.
    """
    _unshare(_CLONE_NEWNS)


def drop_privileges() -> None:
    """Keeps the privilege for mounting, and drops those over files that the user does not have.

    Without this, an unreadable file would be readable in a user namespace. Root is left alone.
    """
    if os.geteuid() == 0:
        return
    kept = (1 << _CAP_SYS_ADMIN) | (1 << _CAP_SYS_CHROOT)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)(kept, kept, 0, 0, 0, 0)
    if ctypes.CDLL(None, use_errno=True).capset(header, sets) != 0:
        raise NamespaceError(os.strerror(ctypes.get_errno()), ctypes.get_errno())


def join(process: int) -> None:
    """Moves this process into the namespaces of another one.

    Raises:
        NamespaceError: the process has threads, or the other one has ended or is another user's.
    """
    require_one_thread()
    try:
        user = os.open(f"/proc/{process}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
        mounts = os.open(f"/proc/{process}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise NamespaceError(
            f"the process {process} cannot be joined: {error.strerror}", error.errno
        ) from error
    try:
        join_namespaces(user, mounts)
    finally:
        os.close(user)
        os.close(mounts)


def join_namespaces(user: int, mounts: int) -> None:
    """Moves this process into namespaces that are open as descriptors.

    Raises:
        NamespaceError: the process has threads, or they are another user's.
    """
    own, other = os.stat("/proc/self/ns/user"), os.fstat(user)
    if not os.path.samestat(own, other):
        _setns(user, _CLONE_NEWUSER)
    # The kernel moves the process to the root directory.
    directory = os.open(".", os.O_PATH | os.O_CLOEXEC)
    try:
        _setns(mounts, _CLONE_NEWNS)
        os.fchdir(directory)
    finally:
        os.close(directory)


def with_other_mounts() -> Iterator[int]:
    """Yields one process for each set of mounts that is not the one of this process."""
    seen = {os.readlink("/proc/self/ns/mnt")}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError):
                mounts = os.readlink(f"/proc/{name}/ns/mnt")
                if mounts not in seen:
                    seen.add(mounts)
                    yield int(name)


def _unshare(flags: int) -> None:
    if ctypes.CDLL(None, use_errno=True).unshare(flags) != 0:
        _refuse("namespaces are not permitted", ctypes.get_errno())


def _setns(descriptor: int, kind: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(descriptor, kind) != 0:
        _refuse("the namespace cannot be joined", ctypes.get_errno())


def _refuse(what: str, number: int) -> NoReturn:
    name = errno.errorcode.get(number, str(number))
    raise NamespaceError(f"{what}: {os.strerror(number)} ({name})", number)


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode("ascii"))
    finally:
        os.close(descriptor)
