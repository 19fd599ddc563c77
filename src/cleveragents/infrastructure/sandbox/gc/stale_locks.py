"""Which locks of git are stale: those that no living process can have made.

Git removes its locks when it ends; one that was killed leaves them, and they would block what
they lock forever. Whoever made a lock began before it did, and works in the home directory or
names it. So a lock is stale if no such git is alive that began before it. Where the system does
not tell, only age says something.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

_PROCESSES = Path("/proc")
_SLACK = 1.0
"""Seconds by which the times of processes and files may differ."""


def is_abandoned(lock: Path, home: Path) -> bool:
    """Says whether no living git can have made the lock, which is in a home directory."""
    try:
        ticks = os.sysconf("SC_CLK_TCK")
        booted = time.time() - float((_PROCESSES / "uptime").read_text().split()[0])
        made = lock.lstat().st_mtime
    except OSError:
        return False
    for place in _PROCESSES.glob("[0-9]*"):
        with suppress(OSError):  # It has ended, or belongs to a user who cannot write here.
            stat = (place / "stat").read_text(errors="replace")
            name, _, rest = stat.partition("(")[2].rpartition(")")
            begun = booted + int(rest.split()[19]) / ticks
            if name.startswith("git") and begun <= made + _SLACK and _concerns(place, home):
                return False
    return True


def _concerns(process: Path, home: Path) -> bool:
    named = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
    here = os.fsencode(home)
    return here in named or os.fsencode((process / "cwd").readlink()).startswith(here)
