"""The clock, ids, events, interruption, and the fault points of tests."""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

from cleveragents.application.events import Event
from cleveragents.application.fault_points import FaultPoint


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """Returns the time in UTC."""
        ...

    def monotonic(self) -> float:
        """Returns seconds since some moment, to measure spans. MUST NOT go backwards."""
        ...


class IdSource(Protocol):
    """Makes ULIDs that sort in the order they were made within this process."""

    def new(self) -> str: ...


class FaultPoints(Protocol):
    """Told where a process is between durable steps. MUST do nothing in production."""

    def reach(self, point: FaultPoint) -> None: ...


class EventSink(Protocol):
    """Is told what happens. MUST NOT raise: what it is told of has happened already."""

    def emit(self, event: Event) -> None: ...


class Interruption(Protocol):
    """Tells whether the user wants to stop: Ctrl-C, or a request to end."""

    def listening(self) -> AbstractContextManager[None]:
        """Makes the first request something to ask for, while the block runs; may be nested.

        A second request raises KeyboardInterrupt at once. A request that nobody has
        acted on when the outermost block ends without an error raises it then. In any
        thread but the main one this does nothing: only there the system tells.
        """
        ...

    def requested(self) -> bool:
        """Returns whether to stop at the next point where that is safe."""
        ...
