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


def _process_start() -> str:
    """Returns when this process started, in ticks since the machine did."""
    try:
        status = Path("/proc/self/stat").read_bytes()
    except OSError:
        return "unknown"
    # The name of the program, in parentheses, may itself contain spaces and parentheses.
    return status.rpartition(b")")[2].split()[19].decode()


def this_process() -> Holder:
    """Returns the holder that leases of this process name."""
    return Holder(
        owner_id=secrets.token_hex(8),
        host=socket.gethostname(),
        process_id=os.getpid(),
        process_started=_process_start(),
        command=" ".join([Path(sys.argv[0]).name, *sys.argv[1:4]])[:120],
    )
