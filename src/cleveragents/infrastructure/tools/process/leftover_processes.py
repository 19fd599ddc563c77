"""Finds and ends the processes that a tool started.

A tool runs in a session of its own, and its environment names the plan and the call.
What it leaves behind is found by either: a process that made itself another session (a
daemon) keeps the environment it was started with, and what is found is found with all
its descendants. Only a process that got rid of all three (another session, an empty
environment, a parent that has ended) is not.

Two things that the kernel offers are not used. A parent-death signal
(`PR_SET_PDEATHSIG`) reaches the tool's shell and not what that started, follows the
thread that made the process rather than the program, and would have to be set between
fork and exec, which is not safe in a process with threads. Being the reaper of orphans
(`PR_SET_CHILD_SUBREAPER`) is a property of a whole process: as a library we would change
what becomes of our host's own grandchildren, and it does nothing when we are killed.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

PLAN_VARIABLE = "CLEVERAGENTS_PLAN_ID"
CALL_VARIABLE = "CLEVERAGENTS_CALL_ID"

GRACE_SECONDS = 2.0
_POLL_SECONDS = 0.01
_PROC = Path("/proc")
_STAT_BYTES = 1024
_KERNEL = 2
"""The parent of the kernel's own threads, which have no environment."""
_LOOKS = 5
_LOOK_AGAIN_SECONDS = 0.002


class Process(NamedTuple):
    """One line of proc(5); number and start together mean one process for ever."""

    number: int
    parent: int
    session: int
    started: int
    """In ticks since the machine started."""


Finder = Callable[[], Collection[Process]]


def end_call(leader: int, started: int, call_id: str) -> int:
    """Ends what is left of a tool call: asked to first, then killed.

    Args:
        leader: The process that was started for it, and whose session it is.
        started: When that was, as `start_of` tells.
        call_id: What the environment of its processes names.

    Returns:
        How many there were, the leader included if it still ran.
    """
    mark = f"{CALL_VARIABLE}={call_id}".encode()

    def of_call() -> Collection[Process]:
        if not _PROC.joinpath("self").exists():
            return _group(leader)
        table = _table()
        known = {process for process in table.values() if process.session == leader}
        # Nothing that is older can be the call's; that spares reading most environments.
        young = [each for each in table.values() if each.started >= started and each not in known]
        return _with_descendants(known | _marked(young, lambda entries: mark in entries), table)

    return _end(of_call)


def end_plan(plan_id: str) -> int:
    """Ends what a killed run left of its tools; whoever calls this MUST hold the plan.

    Returns:
        How many there were.
    """
    plan, call = f"{PLAN_VARIABLE}={plan_id}".encode(), f"{CALL_VARIABLE}=".encode()

    def is_tool(entries: Collection[bytes]) -> bool:
        # A user may well name a plan in the environment of their own shell; the call they do not.
        return plan in entries and any(entry.startswith(call) for entry in entries)

    def of_plan() -> Collection[Process]:
        table = _table()
        family = _family(table)
        others = [process for process in table.values() if process not in family]
        return _with_descendants(_marked(others, is_tool), table)

    return _end(of_plan)


def start_of(number: int) -> int:
    """Returns when the process started, in ticks; 0 where the system does not tell."""
    fields = _fields(number)
    return int(fields[19]) if fields else 0


def _end(find: Finder) -> int:
    found = find()
    if not found:
        return 0
    try:
        _signal(found, signal.SIGTERM)
        _signal(found, signal.SIGCONT)  # One that is stopped could not end.
        _wait_for_end(find, None)
    finally:
        # Also when a second Ctrl-C ends the waiting.
        _wait_for_end(find, signal.SIGKILL)
    return len(found)


def _wait_for_end(find: Finder, number: signal.Signals | None) -> None:
    """Waits until nothing is found, and signals what is until then."""
    deadline = time.monotonic() + GRACE_SECONDS
    # Twice, because a process can fork and end while the table is being read.
    while (found := find() or find()) and time.monotonic() < deadline:
        if number is not None:
            _signal(found, number)
        time.sleep(_POLL_SECONDS)


def _signal(processes: Iterable[Process], number: signal.Signals) -> None:
    """Signals the oldest first, so that a shell does not report the end of what it started."""
    for process in sorted(processes, key=lambda process: (process.started, process.number)):
        with suppress(ProcessLookupError, PermissionError):
            _signal_one(process, number)


def _signal_one(process: Process, number: signal.Signals) -> None:
    """Signals this very process, and not a later one that got its number."""
    if process.number < 0:
        os.kill(process.number, number)
        return
    with _handle(process.number) as send:
        # The handle was there before this look, so it means the process that is looked at.
        if start_of(process.number) == process.started:
            send(number)


@contextmanager
def _handle(number: int) -> Generator[Callable[[int], None]]:
    """Gives what signals the process that has the number now."""
    try:
        descriptor = os.pidfd_open(number)
    except ProcessLookupError:
        raise
    except OSError:  # No descriptor left, or a kernel before Linux 5.3.
        yield partial(os.kill, number)
        return
    try:
        yield partial(signal.pidfd_send_signal, descriptor)
    finally:
        os.close(descriptor)


def _table() -> dict[int, Process]:
    """Returns the processes there are by their numbers, without those that have ended."""
    if not _PROC.joinpath("self").exists():
        return {}
    numbers = [int(name) for name in os.listdir(_PROC) if name.isdecimal()]
    read = [(number, _fields(number)) for number in numbers]
    return {
        number: Process(number, int(fields[1]), int(fields[3]), int(fields[19]))
        for number, fields in read
        if fields and fields[0] not in (b"Z", b"X")
    }


def _fields(number: int) -> list[bytes]:
    """Reads state, parent and so on, which follow the name, which may hold anything."""
    try:
        return _read(number, "stat", _STAT_BYTES).rpartition(b")")[2].split()
    except OSError:
        return []


def _read(number: int, name: str, size: int) -> bytes:
    """Reads a file of a process without what `open` does for files that have a size."""
    descriptor = os.open(f"{_PROC}/{number}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, size)
    finally:
        os.close(descriptor)


def _marked(
    processes: Iterable[Process], fits: Callable[[Collection[bytes]], bool]
) -> set[Process]:
    """Returns those whose environment fits.

    While a process changes its program its environment is empty for a moment, so one
    that is empty is looked at again.
    """
    found: set[Process] = set()
    waiting = [process for process in processes if process.parent != _KERNEL]
    for look in range(_LOOKS):
        if look:
            time.sleep(_LOOK_AGAIN_SECONDS)
        environments = {process: _environment(process.number) for process in waiting}
        found |= {process for process, entries in environments.items() if fits(entries or ())}
        waiting = [process for process, entries in environments.items() if entries == set()]
        if not waiting:
            break
    return found


def _environment(number: int) -> set[bytes] | None:
    """Returns the environment a process was started with; None if it may not be read."""
    try:
        content = Path(f"{_PROC}/{number}/environ").read_bytes()
    except OSError:
        return None
    return set(content.split(b"\0")) - {b""}


def _with_descendants(roots: set[Process], table: Mapping[int, Process]) -> set[Process]:
    if not roots:
        return roots
    children: dict[int, list[Process]] = {}
    for process in table.values():
        children.setdefault(process.parent, []).append(process)
    found, waiting = set(roots), list(roots)
    while waiting:
        parent = waiting.pop()
        new = [child for child in children.get(parent.number, []) if child not in found]
        found.update(new)
        waiting += new
    return found


def _family(table: Mapping[int, Process]) -> set[Process]:
    """Returns this process with its ancestors and all that it started itself."""
    ours = table.get(os.getpid())
    if ours is None:
        return set()
    found = _with_descendants({ours}, table)
    while (ours := table.get(ours.parent)) is not None:
        found.add(ours)
    return found


def _group(leader: int) -> list[Process]:
    """Without /proc (macOS) only the group can be asked, and it answers as one."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, 0)
        return [Process(-leader, 0, leader, 0)]
    return []
