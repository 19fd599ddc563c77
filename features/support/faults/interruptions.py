"""Signals to this very process, and what a listener makes of them."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from features.support.tools import Workbench

from cleveragents.domain.errors import InterruptedByUserError
from cleveragents.infrastructure.system import SignalInterruption

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Decision(Exception):
    """What work raises that stops because it was asked to."""


class Work:
    """Work that listens, and how it ended."""

    def __init__(self) -> None:
        self.interruption = SignalInterruption()
        self.handlers = [signal.getsignal(number) for number in SIGNALS]
        self.knew = False
        self.end = "nothing"

    def listen(self, number: signal.Signals) -> None:
        """Receives a signal, and acts on it if it is noticed."""
        with self._ending(), self.interruption.listening():
            os.kill(os.getpid(), number)
            self.knew = self.interruption.requested()
            if self.knew:
                raise Decision

    def listen_while(self, happens: str) -> None:
        with self._ending():
            match happens:
                case "two requests come":
                    self._requests(2)
                case "a request comes that nobody acts on":
                    self._requests(1)
                case "a request comes and then an error":
                    with self.interruption.listening():
                        self._request()
                        raise LookupError
                case "a request comes in an inner part, and is acted on":
                    with self.interruption.listening():
                        self._requests(1)
                        assert self.interruption.requested()
                        raise Decision
                case "other work was asked to stop before":
                    self._after_other_work()
                case _:
                    raise AssertionError(happens)

    def _requests(self, count: int) -> None:
        with self.interruption.listening():
            for _ in range(count):
                self._request()

    def _after_other_work(self) -> None:
        try:
            self._requests(1)
        except KeyboardInterrupt:
            self._requests(0)
        assert not self.interruption.requested()

    def in_thread(self) -> None:
        inside: list[object] = []

        def listen() -> None:
            with self.interruption.listening():
                inside.extend(signal.getsignal(number) for number in SIGNALS)

        thread = threading.Thread(target=listen)
        thread.start()
        thread.join()
        assert inside == self.handlers

    def run(self, bench: Workbench, command: str) -> None:
        with self._ending(), self.interruption.listening():
            bench.interruption = self.interruption
            bench.run("shell", {"command": command})

    def run_plan_tool(self, bench: Workbench, command: str) -> None:
        with self._ending(), self.interruption.listening():
            bench.interruption = self.interruption
            bench.run_plan_tool(command, {})

    @staticmethod
    def _request() -> None:
        os.kill(os.getpid(), signal.SIGINT)

    @contextmanager
    def _ending(self) -> Iterator[None]:
        try:
            yield
        except KeyboardInterrupt:
            self.end = "an interruption"
        except LookupError:
            self.end = "the error"
        except Decision:
            self.end = "its own decision"
        except InterruptedByUserError as error:
            assert (error.code, error.exit_code) == ("interrupted", 130)
            self.end = error.message


@contextmanager
def ignored(number: signal.Signals) -> Iterator[None]:
    old = signal.signal(number, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(number, old)
