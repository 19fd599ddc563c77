"""Finds and ends the processes that a tool started.

A tool runs in a session of its own. What it leaves in that session is found by asking
the kernel; a process that made itself yet another session (a daemon) is not.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

GRACE_SECONDS = 2.0
_POLL_SECONDS = 0.01
_PROC = Path("/proc")


def end_session(session: int) -> int:
    """Ends every process of the session: asked to first, then killed.

    Returns:
        How many there were.
    """
    found = session_members(session)
    try:
        _signal(found, signal.SIGTERM)
        _wait_for_end(session, GRACE_SECONDS if found else 0)
    finally:
        # Also when a second Ctrl-C ends the waiting.
        if found:
            _signal(session_members(session), signal.SIGKILL)
            _wait_for_end(session, GRACE_SECONDS)
    return len(found)


def _wait_for_end(session: int, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and session_members(session):
        time.sleep(_POLL_SECONDS)


def session_members(session: int) -> list[int]:
    """Returns the process ids of the session, without those that have ended already."""
    if not _PROC.joinpath("self").exists():
        return _group_members(session)
    return [
        int(entry.name)
        for entry in _PROC.iterdir()
        if entry.name.isdecimal() and _lives_in(entry / "stat", session)
    ]


def _lives_in(stat_file: Path, session: int) -> bool:
    """Reads one line of proc(5): state and session follow the name, which may hold anything."""
    try:
        fields = stat_file.read_bytes().rpartition(b")")[2].split()
    except OSError:
        return False
    return fields[0] not in (b"Z", b"X") and int(fields[3]) == session


def _group_members(group: int) -> list[int]:
    """Without /proc (macOS) only the group can be asked, and it answers as one."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, 0)
        return [-group]
    return []


def _signal(processes: list[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)
