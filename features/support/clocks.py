"""Clocks that a scenario sets: what waits for time to pass does not depend on the machine."""

from __future__ import annotations

import math
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


class StoppedClock:
    """Stands still until something has happened, and then an hour passes at each look.

    It is looked at once more before the first hour passes, so that who waits takes notice of
    what has come until then. It stands in the place of the module `time`.
    """

    def __init__(self, until: Callable[[], bool], hours: float = math.inf) -> None:
        self._until = until
        self._hours = hours
        self._has_come = False
        self._now = 0.0

    def monotonic(self) -> float:
        if self._has_come and self._hours > 0:
            self._hours -= 1
            self._now += 3600
        self._has_come = self._has_come or self._until()
        return self._now


def has_content(file: Path) -> bool:
    """Says whether a file has been written: a shell makes it first and fills it then."""
    return file.exists() and file.stat().st_size > 0


def wait_until(
    happened: Callable[[], bool], meanwhile: subprocess.Popen[Any] | None = None
) -> None:
    """Waits as long as it takes, unless the process that is to do it ends without."""
    while not happened():
        if meanwhile is not None and meanwhile.poll() is not None:
            assert happened(), f"the process ended with status {meanwhile.returncode}"
        time.sleep(0.01)
