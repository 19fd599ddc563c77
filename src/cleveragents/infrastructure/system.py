"""The clock, ids, and this process's identity."""

from __future__ import annotations

import os
import secrets
import socket
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from ulid import StrictMonotonicPolicy, ULIDGenerator

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.system import Clock, FaultPoints, IdSource
from cleveragents.domain.plans.lease import Holder

_PROC = Path("/proc")
_UNKNOWN = "unknown"


class SystemClock(Clock):
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


class MonotonicUlids(IdSource):
    """ULIDs that increase, also within one millisecond."""

    def __init__(self) -> None:
        self._generator = ULIDGenerator(policy=StrictMonotonicPolicy())

    def new(self) -> str:
        return str(self._generator.generate())


class NoFaults(FaultPoints):
    """The fault points of production: nothing happens."""

    def reach(self, point: FaultPoint) -> None:
        return None


def process_start(process_id: int) -> str | None:
    """Returns when the process started, or None if it has ended.

    The system reuses process ids; id and start together name one process only.
    """
    if not _PROC.joinpath("self").exists():
        return _start_without_proc(process_id)
    try:
        status = _PROC.joinpath(str(process_id), "stat").read_bytes()
    except OSError:
        return None
    # The name of the program, in parentheses, may itself contain spaces and parentheses.
    fields = status.rpartition(b")")[2].split()
    # A killed process stays in the table (Z) until its parent reads its exit status.
    return None if fields[0] in (b"Z", b"X") else fields[19].decode()


def _start_without_proc(process_id: int) -> str | None:
    """Without /proc (macOS) all one can ask is whether the process exists."""
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass  # It exists, and belongs to another user.
    return _UNKNOWN


def this_process() -> Holder:
    """Returns the holder that leases of this process name."""
    return Holder(
        owner_id=secrets.token_hex(8),
        host=socket.gethostname(),
        process_id=os.getpid(),
        process_started=process_start(os.getpid()) or _UNKNOWN,
        command=" ".join([Path(sys.argv[0]).name, *sys.argv[1:4]])[:120],
    )


def is_running(holder: Holder, host: str) -> bool | None:
    """Returns whether the holder's process still runs; None when it is on another host."""
    if holder.host != host:
        return None
    return process_start(holder.process_id) == holder.process_started
