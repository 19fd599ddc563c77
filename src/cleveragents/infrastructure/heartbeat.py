"""A thread that does one thing again and again while there is a reason to."""

from __future__ import annotations

import threading
from collections.abc import Callable

_RETRIES = 10
"""How often a beat that failed is tried again before the next one would be due."""


class Heartbeat:
    """Calls `beat` at regular intervals between `start` and `stop`, from a thread of its own.

    The thread is a daemon: a process that ends does not wait for it. After `stop` it
    is gone, so whatever `beat` uses can be closed then.
    """

    def __init__(self, beat: Callable[[], bool], seconds: float) -> None:
        """Starts nothing yet.

        Args:
            beat: Returns whether it succeeded; if not, it is called again sooner.
            seconds: How long to wait between two beats, and before the first.
        """
        self._beat = beat
        self._seconds = seconds
        self._running: tuple[threading.Thread, threading.Event] | None = None

    def start(self) -> None:
        """Begins to beat; does nothing if it does so already."""
        if self._running is not None:
            return
        ended = threading.Event()
        thread = threading.Thread(target=self._run, args=(ended,), name="heartbeat", daemon=True)
        thread.start()
        self._running = thread, ended

    def stop(self) -> None:
        """Ends the beating, after the beat that is under way; repeatable."""
        if self._running is None:
            return
        thread, ended = self._running
        self._running = None
        ended.set()
        thread.join()

    def _run(self, ended: threading.Event) -> None:
        seconds = self._seconds
        while not ended.wait(seconds):
            seconds = self._seconds if self._beat() else self._seconds / _RETRIES
