"""SIGINT and SIGTERM as a wish that is asked for, so that work ends where it is safe."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager

from cleveragents.application.ports.system import Interruption
from cleveragents.infrastructure.descriptors import readable

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class SignalInterruption(Interruption):
    """What the signals of this process say.

    A signal that was ignored before (`nohup`, a job in the background of a script)
    stays ignored.
    """

    def __init__(self) -> None:
        self._blocks = 0
        self._requested = False

    @contextmanager
    def listening(self) -> Generator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in _SIGNALS}
        # None is a handler that is not Python's, which could not be put back.
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
            # Looked at last: from here on a signal means again what it meant before.
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
    """The same, and the end of a pipe: whoever started this process is gone or wants it to end."""

    def __init__(self, pipe: int) -> None:
        """Args: `pipe` is a descriptor to which nobody ever writes."""
        super().__init__()
        self._pipe = pipe

    def requested(self) -> bool:
        return super().requested() or bool(readable([self._pipe], 0))
