"""This process and its surroundings: clock, ids, identity, signals, and what it shows its user.

Python would raise KeyboardInterrupt between any two instructions, for example between a restore
and its record. So the first signal only sets a flag, which the work reads between its durable
steps. A second signal means that the user does not want to wait: it raises at once, and the
next command finishes what was left, as after a kill.

Waits and long work happen far below the services, in places that know nothing of them. So the
code that talks to the user sets how these are shown while it calls the services: `waits_shown`
and `progress_shown`.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.system import Clock, FaultPoints, IdSource, Interruption
from cleveragents.domain.plans.lease import Holder
from cleveragents.infrastructure.descriptors import readable

_UNKNOWN = "unknown"

_ULID_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)

ItemT = TypeVar("ItemT")
ShowProgress = Callable[[str, int, int], None]
"""Receives the name of the work, how many parts are done, and how many there are."""

_MANY = 1000
"""Less work than this ends before a bar could be read."""
_UPDATES = 100

_wait_shown: ContextVar[Callable[[str], None] | None] = ContextVar("wait_shown", default=None)
_progress_shown: ContextVar[ShowProgress | None] = ContextVar("progress_shown", default=None)


class SystemClock(Clock):
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


class MonotonicUlids(IdSource):
    """ULIDs that increase, also within one millisecond or when the clock goes back."""

    def __init__(self) -> None:
        self._last = 0
        self._making = threading.Lock()

    def new(self) -> str:
        milliseconds, chance = time.time_ns() // 1_000_000, int.from_bytes(os.urandom(10))
        with self._making:
            number = self._last = max(milliseconds << 80 | chance, self._last + 1)
        return "".join(_ULID_DIGITS[number >> shift & 31] for shift in range(125, -1, -5))


class NoFaults(FaultPoints):
    """The fault points of production: nothing happens."""

    def reach(self, point: FaultPoint) -> None:
        return None


class SignalInterruption(Interruption):
    """The signals of this process.

    A signal that was already ignored (`nohup`, a background job of a script) stays ignored.
    """

    def __init__(self) -> None:
        self._blocks = 0
        self._requested = False

    @contextmanager
    def listening(self) -> Generator[None]:
        # Python lets only the main thread set handlers, and delivers signals only to it.
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in _SIGNALS}
        # None is a handler that was not set from Python, which we could not restore.
        ours = [number for number, old in before.items() if old not in (signal.SIG_IGN, None)]
        self._blocks += 1
        ended_well = False
        try:
            for number in ours:
                signal.signal(number, self._note)
            yield
            ended_well = True
        finally:
            for number in ours:
                signal.signal(number, before[number])
            self._blocks -= 1
            # Read only after the old handlers are back: a signal that arrived before then
            # set the flag, and one that arrives later goes to the old handler. None is lost.
            pending = self._requested and not self._blocks
            self._requested = self._requested and not pending
            if pending and ended_well:
                raise KeyboardInterrupt

    def requested(self) -> bool:
        return self._requested

    def _note(self, number: int, _: object) -> None:
        if self._requested:
            raise KeyboardInterrupt
        self._requested = True


class ChildInterruption(SignalInterruption):
    """The same, and the end of a pipe: the parent process is gone or wants this one to stop."""

    def __init__(self, pipe: int) -> None:
        """Args: `pipe` is a descriptor that the parent never writes to, only closes."""
        super().__init__()
        self._pipe = pipe

    def requested(self) -> bool:
        return super().requested() or bool(readable([self._pipe], 0))


class ToolInterruption(Interruption):
    """The user's request to stop, and the loss of the lease, which ends the right to continue."""

    def __init__(self, user: Interruption, must_stop: Callable[[], bool]) -> None:
        self._user = user
        self._must_stop = must_stop

    def listening(self) -> AbstractContextManager[None]:
        return self._user.listening()

    def requested(self) -> bool:
        return self._user.requested() or self._must_stop()


def is_this_machine(holder: Holder) -> bool:
    """Whether the number of that process means the same process here.

    In another container, or after the process has ended, it may be that of any other process.
    """
    started = _process_start(str(holder.process_id))
    return started == holder.process_started and started != _UNKNOWN


def _process_start(process: str = "self") -> str:
    """Returns when a process started, in ticks since the machine did."""
    try:
        status = Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return _UNKNOWN
    # The name of the program, in parentheses, may itself contain spaces and parentheses.
    return status.rpartition(b")")[2].split()[19].decode()


def this_process() -> Holder:
    """Returns the holder that leases of this process name."""
    return Holder(
        owner_id=os.urandom(8).hex(),
        host=os.uname().nodename,
        process_id=os.getpid(),
        process_started=_process_start(),
        command=" ".join([Path(sys.argv[0]).name, *sys.argv[1:4]])[:120],
    )


def announce_wait(text: str) -> None:
    """Shows the text, if anybody wants to see it."""
    show = _wait_shown.get()
    if show is not None:
        show(text)


@contextmanager
def waits_shown(show: Callable[[str], None]) -> Generator[None]:
    """Shows the announcements of this thread while the block runs."""
    before = _wait_shown.set(show)
    try:
        yield
    finally:
        _wait_shown.reset(before)


@contextmanager
def progress_shown(show: ShowProgress) -> Generator[None]:
    """Shows the progress of this thread while the block runs."""
    before = _progress_shown.set(show)
    try:
        yield
    finally:
        _progress_shown.reset(before)


def counted(name: str, items: Collection[ItemT]) -> Iterable[ItemT]:
    """Returns the items, and shows how many the caller has taken if there are many."""
    advance = counter(name, len(items)) if len(items) >= _MANY else None
    return items if advance is None else _counted(items, advance)


def counter(name: str, total: int) -> Callable[[int], None] | None:
    """Returns a function that counts finished parts; None if there is nothing to show."""
    show = _progress_shown.get()
    if show is None or total < _MANY:
        return None
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        before, done = done, min(done + count, total)
        if done * _UPDATES // total != before * _UPDATES // total:
            show(name, done, total)

    return advance


def _counted(items: Iterable[ItemT], advance: Callable[[int], None]) -> Iterator[ItemT]:
    for item in items:
        yield item
        advance(1)
