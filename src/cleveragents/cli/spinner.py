"""A sign of life on a terminal while a step runs."""

from __future__ import annotations

import threading
import time
from typing import TextIO

from cleveragents.cli import terminal

_FRAMES = "|/-\\"
_SECONDS_PER_FRAME = 0.1
_CLEAR_LINE = "\r\x1b[K"


class Spinner:
    """Shows how long the current step has been running, in a line that is removed afterward."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begins to count, or begins again."""
        self.stop()
        self._stopped.clear()
        self._thread = threading.Thread(target=self._turn, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Removes the line; nothing is drawn once this returns."""
        if self._thread is None:
            return
        self._stopped.set()
        self._thread.join()
        self._thread = None

    def _turn(self) -> None:
        started, number = time.monotonic(), 0
        while not self._stopped.wait(_SECONDS_PER_FRAME):
            elapsed = int(time.monotonic() - started)
            frame = _FRAMES[number % len(_FRAMES)]
            terminal.write(self._stream, f"{_CLEAR_LINE}{frame} {elapsed} s")
            number += 1
        if number:
            terminal.write(self._stream, _CLEAR_LINE)
