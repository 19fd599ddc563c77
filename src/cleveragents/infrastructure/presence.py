"""Which processes use a home: each one locks a file of its own while it runs.

The file is `run/<owner id>.process`. The system releases the lock when the process ends,
however it ends. So everybody who sees the file knows whether its process still runs, also
from another container that has the same host name and the same process numbers
(docs/adr/0021-leases-belong-to-a-lock.md).
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import ValidationError

from cleveragents.domain.errors import DatabaseError
from cleveragents.domain.plans.lease import LONGEST_LEASE_SECONDS, Holder
from cleveragents.domain.record import Record
from cleveragents.infrastructure.home import create_private_directory

_SUFFIX = ".process"
_MOST_BYTES = 10_000


class RunningProcess(Record):
    """What a process says about itself."""

    holder: Holder
    revision: str
    """The schema of the database that its program knows."""


class Presence:
    """This process among those that use one home. Threads may share it."""

    def __init__(self, home: Path, process: RunningProcess) -> None:
        """Announces nothing yet."""
        self._directory = home / "run"
        self._process = process
        self._descriptor: int | None = None
        self._announced_by = 0

    @property
    def holder(self) -> Holder:
        return self._process.holder

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
                    f"{self._directory} cannot be written: {error.strerror}",
                    hint="Free some space, or check the owner and permissions of the directory",
                    place=str(self._directory),
                ) from error
            self._announced_by = os.getpid()

    def _lock(self) -> int:
        for directory in (self._directory.parent, self._directory):
            create_private_directory(directory)
        self._remove_old()
        place = self._place(self.holder.owner_id)
        # Locked before it has its name: nobody may find it unlocked and believe it ended.
        draft = place.with_name(f".{place.name}")
        descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            os.write(descriptor, self._process.model_dump_json().encode())
            draft.rename(place)
        except BaseException:
            os.close(descriptor)
            draft.unlink(missing_ok=True)
            raise
        return descriptor

    def withdraw(self) -> None:
        """Removes the file, which a process that holds nothing no longer needs; repeatable."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            return
        # A forked child has the descriptor too, but the file tells of its parent.
        if os.getpid() == self._announced_by:
            self._place(self.holder.owner_id).unlink(missing_ok=True)
        os.close(descriptor)

    def is_running(self, owner_id: str) -> bool | None:
        """Returns whether that process runs; None if this home does not know it."""
        with _opened(self._place(owner_id)) as descriptor:
            return None if descriptor is None else _is_locked(descriptor)

    def others(self) -> Sequence[RunningProcess]:
        """Returns the other processes that use this home now."""
        found: list[RunningProcess] = []
        for place in sorted(self._directory.glob(f"*{_SUFFIX}")):
            with _opened(place) as descriptor:
                if (
                    descriptor is None
                    or place.stem == self.holder.owner_id
                    or not _is_locked(descriptor)
                ):
                    continue
                with suppress(ValidationError):
                    text = os.read(descriptor, _MOST_BYTES)
                    found.append(RunningProcess.model_validate_json(text))
        return found

    def _place(self, owner_id: str) -> Path:
        return self._directory / f"{owner_id}{_SUFFIX}"

    def _remove_old(self) -> None:
        """Removes what killed processes left.

        Only when every lease that such a process may have held has expired: until then, the
        file tells that the process ended.
        """
        for place in self._directory.glob(f"*{_SUFFIX}"):
            with _opened(place) as descriptor:
                if descriptor is None or _is_locked(descriptor):
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


def _is_locked(descriptor: int) -> bool:
    """Returns whether another process has the lock.

    Asks for a shared lock, so that two processes that ask do not see each other.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False
