"""On what a comparison ran: enough to judge the numbers by, and nothing that names the place."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sqlite3
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.compare.results import Machine
from cleveragents import __version__

_VERSION = re.compile(r"\d+(?:\.\d+)+")


def this_machine(place: Path) -> Machine:
    """Returns the facts; `place` is where the trees are."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return Machine(
        {
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
            "processors": f"{os.cpu_count()}, {platform.machine()}",
            "memory": f"{memory / 2**30:.0f} GB",
            "system": f"{platform.system()} {platform.release()}",
            "file system": _file_system(place),
            "CleverAgents": __version__,
            "Python": platform.python_version(),
            "SQLite": sqlite3.sqlite_version,
            "git": _version("git"),
            "rsync": _version("rsync"),
        }
    )


def _version(program: str) -> str:
    if shutil.which(program) is None:
        return "not installed"
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    found = _VERSION.search(done.stdout)
    return found[0] if found else "unknown"


def _file_system(place: Path) -> str:
    """Returns the type of the mount that `place` is on."""
    found = {
        Path(point.encode().decode("unicode_escape")): kind
        for _, point, kind, *_ in map(str.split, _mounts())
    }
    return next((found[each] for each in (place, *place.parents) if each in found), "unknown")


def _mounts() -> list[str]:
    listing = Path("/proc/self/mounts")
    return listing.read_text(encoding="utf-8").splitlines() if listing.exists() else []
