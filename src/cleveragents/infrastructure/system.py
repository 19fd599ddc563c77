"""The clock, ids, this process's identity, and the signals that ask it to stop.

Python would raise KeyboardInterrupt between any two instructions, for example between a restore
and its record. So the first signal only sets a flag, which the work reads between its durable
steps. A second signal means that the user does not want to wait: it raises at once, and the
next command finishes what was left, as after a kill.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.system import Clock, FaultPoints, IdSource, Interruption
from cleveragents.domain.plans.lease import Holder
from cleveragents.infrastructure.descriptors import readable

_UNKNOWN = "unknown"

_ULID_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


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
