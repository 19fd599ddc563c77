"""Locks on files: a wait for one names the process that has it, is announced, and ends.

A lock belongs to an open file, so the system releases it when a process ends, however it ends.
The process that has a lock alone writes its name into the file, for those that wait.

`Presence` uses the same to tell which processes use a home: each one locks a file of its own,
`run/<owner id>.process`, while it runs. So everybody who sees the file knows whether its process
still runs, also from another container that has the same host name and the same process numbers
(docs/adr/0021-leases-belong-to-a-lock.md).
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from itertools import islice
from pathlib import Path

import msgspec

from cleveragents.domain.errors import ConflictError, DatabaseError
from cleveragents.domain.plans.lease import LONGEST_LEASE_SECONDS, Holder
from cleveragents.domain.record import Record
from cleveragents.domain.wording import listed
from cleveragents.infrastructure.home import create_private_directory
from cleveragents.infrastructure.system import announce_wait, this_process

WAIT_SECONDS = 600.0
"""Longer than anything takes that is done under such a lock, such as copying a large project."""
_QUIET_SECONDS = 1.0
_POLL_SECONDS = 0.02
_NAME_BYTES = 300
_SUFFIX = ".process"
_MOST_BYTES = 10_000
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC


@contextmanager
def exclusive(path: Path) -> Generator[None]:
    """Keeps other processes out while the block runs.

    Raises:
        ConflictError: another process has the lock for too long; the error names it.
    """
    with lock_file(path) as descriptor:
        wait_for_lock(descriptor, path, fcntl.LOCK_EX)
        with signed(descriptor):
            yield


@contextmanager
def lock_file(path: Path) -> Generator[int]:
    """Opens a file to lock, which is made when needed and never removed; unlocks it afterwards.

    Closing alone would leave the lock to a child that was forked and has not yet called exec;
    but such a child itself must not unlock what its parent still uses.
    """
    process, descriptor = os.getpid(), os.open(path, _FLAGS, 0o600)
    try:
        yield descriptor
    finally:
        if os.getpid() == process:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def wait_for_lock(descriptor: int, path: Path, kind: int) -> None:
    """Takes the lock as soon as it is free.

    Args:
        descriptor: The file, open for writing.
        path: Its name, for messages.
        kind: `fcntl.LOCK_EX` or `fcntl.LOCK_SH`.

    Raises:
        ConflictError: another process has the lock for too long; the error names it.
    """
    if take_lock(descriptor, kind):
        return
    _wait(
        lambda: take_lock(descriptor, kind),
        lambda: f"{lock_holder(descriptor)}, which has locked {path}",
        lambda: ConflictError(
            f"{path} is locked by {lock_holder(descriptor)}",
            hint="Wait until it is done, or stop that process",
            path=str(path),
        ),
    )


@contextmanager
def one_of(paths: Sequence[Path], limit: str) -> Generator[None]:
    """Has one of several locks alone while the block runs, whichever is free first.

    Args:
        paths: The files, at least one.
        limit: Why there are not more, for messages.

    Raises:
        ConflictError: other processes have all of them for too long; the error names them.
    """
    with ExitStack() as opened:
        descriptors = [opened.enter_context(lock_file(path)) for path in paths]
        taken: list[int] = []

        def take() -> bool:
            free = (each for each in descriptors if take_lock(each, fcntl.LOCK_EX))
            taken.extend(islice(free, 1))
            return bool(taken)

        def holders() -> str:
            return listed([lock_holder(each) for each in descriptors])

        _wait(
            take,
            lambda: f"{holders()}: {limit}",
            lambda: ConflictError(
                f"{limit}, and others are running: {holders()}",
                hint="Wait until one of them is done, or raise the limit",
            ),
        )
        with signed(taken[0]):
            yield


def _wait(
    taken: Callable[[], bool], holder: Callable[[], str], busy: Callable[[], ConflictError]
) -> None:
    """Waits until something is taken; says for whom it waits, and raises `busy` in the end."""
    began, announced = time.monotonic(), False
    while not taken():
        waited = time.monotonic() - began
        if waited >= WAIT_SECONDS:
            raise busy()
        if waited >= _QUIET_SECONDS and not announced:
            announced = True
            announce_wait(f"Waiting for {holder()}")
        time.sleep(_POLL_SECONDS)


def take_lock(descriptor: int, kind: int) -> bool:
    """Takes the lock if it is free, and returns whether it was."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@cache
def _name_of(_: int) -> bytes:
    """Returns the name of this process; a forked child has another id, and so asks again."""
    return str(this_process()).encode()


@contextmanager
def signed(descriptor: int) -> Generator[None]:
    """Has the name of this process in a file that it has locked alone, while the block runs."""
    # On a full disk, those that wait do not learn the name.
    with suppress(OSError):
        os.pwrite(descriptor, _name_of(os.getpid()), 0)
    try:
        yield
    finally:
        os.ftruncate(descriptor, 0)


def lock_holder(descriptor: int) -> str:
    """Returns the name of the process that has the lock, as far as it has written it."""
    try:
        name = os.pread(descriptor, _NAME_BYTES, 0).decode(errors="replace").strip()
    except IsADirectoryError:
        name = ""
    return name or "another process"


class RunningProcess(Record):
    """What a process writes about itself."""

    holder: Holder
    revision: str
    """The schema of the database that its program knows."""


class Presence:
    """This process among those that use one home. Threads may share it.

    Whoever asks whether another process runs tries a shared lock on its file, so that two
    processes that ask do not see each other.
    """

    def __init__(self, home: Path, process: RunningProcess) -> None:
        """Announces nothing yet."""
        self.directory = home / "run"
        self._process = process
        self.holder = process.holder
        self._descriptor: int | None = None
        self._announced_by = 0
        self._outlives = False

    def announce(self) -> None:
        """Tells the others that this process runs, until `withdraw` or its end; repeatable.

        Raises:
            DatabaseError: the file cannot be written.
        """
        if self._descriptor is None:
            try:
                self._descriptor = self._lock()
            except OSError as error:
                raise DatabaseError(
                    f"{self.directory} cannot be written: {error.strerror}",
                    hint="Free some space, or check the owner and permissions of the directory",
                    place=str(self.directory),
                ) from error
            self._announced_by = os.getpid()

    def _lock(self) -> int:
        for directory in (self.directory.parent, self.directory):
            create_private_directory(directory)
        self._remove_old()
        place = self._place(self.holder.owner_id)
        # Locked before it has its name: nobody may find it unlocked and believe it ended.
        draft = place.with_name(f".{place.name}")
        descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            os.write(descriptor, json.dumps(self._process.model_dump()).encode())
            draft.rename(place)
        except BaseException:
            os.close(descriptor)
            draft.unlink(missing_ok=True)
            raise
        return descriptor

    def leave_behind(self) -> None:
        """Has the file stay after the end, to tell the others that this process ended.

        They need it where a lease of this process is still in the database.
        """
        self._outlives = True

    def withdraw(self) -> None:
        """Removes the file, which a process that holds nothing no longer needs; repeatable."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            return
        # A forked child has the descriptor too, but the file is about its parent.
        if os.getpid() == self._announced_by and not self._outlives:
            self._place(self.holder.owner_id).unlink(missing_ok=True)
        os.close(descriptor)

    def is_running(self, owner_id: str) -> bool | None:
        """Returns whether that process runs; None if this home does not know it."""
        with _opened(self._place(owner_id)) as descriptor:
            return None if descriptor is None else not take_lock(descriptor, fcntl.LOCK_SH)

    def others(self) -> Sequence[RunningProcess]:
        """Returns the other processes that use this home now."""
        found: list[RunningProcess] = []
        for place in sorted(self.directory.glob(f"*{_SUFFIX}")):
            with _opened(place) as descriptor:
                if (
                    descriptor is None
                    or place.stem == self.holder.owner_id
                    or take_lock(descriptor, fcntl.LOCK_SH)
                ):
                    continue
                with suppress(ValueError, msgspec.ValidationError):
                    text = os.read(descriptor, _MOST_BYTES)
                    found.append(RunningProcess.model_validate(json.loads(text)))
        return found

    def _place(self, owner_id: str) -> Path:
        return self.directory / f"{owner_id}{_SUFFIX}"

    def _remove_old(self) -> None:
        """Removes what killed processes left.

        Only when every lease that such a process may have held has expired: until then, the
        file tells that the process ended.
        """
        for place in self.directory.glob(f"*{_SUFFIX}"):
            with _opened(place) as descriptor:
                if descriptor is None or not take_lock(descriptor, fcntl.LOCK_SH):
                    continue
                if time.time() - os.fstat(descriptor).st_mtime > LONGEST_LEASE_SECONDS:
                    place.unlink(missing_ok=True)


@contextmanager
def _opened(place: Path) -> Generator[int | None]:
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)
