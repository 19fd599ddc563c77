"""Finds and ends the processes that a tool started.

A tool runs in its own session, and its environment names the plan and the call. A process
that the tool left behind is found by its session, by its environment (a daemon starts
another session but keeps the environment), or as a descendant of a process found so. Only
a process with another session, an empty environment and an ended parent is not found.

Two features of the kernel are not used for shell commands. A parent-death signal
(`PR_SET_PDEATHSIG`) reaches the tool's shell but not what the shell started, and it would
have to be set between fork and exec, which is not safe in a process with threads.
Adopting orphans (`PR_SET_CHILD_SUBREAPER`) is a property of the whole process: as a
library we would change what happens to our host's own grandchildren, and it does nothing
if this process is killed.
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
_KILL_SECONDS = 30.0
"""Processes that fork faster than a busy machine lets us look are killed in the end."""
_EMPTY_LOOKS = 4
_POLL_SECONDS = 0.01
_PROC = Path("/proc")
_STAT_BYTES = 1024
_KERNEL = 2
"""The parent of the kernel's own threads, which have no environment."""
_LOOKS = 5
_LOOK_AGAIN_SECONDS = 0.002


class Process(NamedTuple):
    """One process. Its number and its start time together are unique."""

    number: int
    parent: int
    session: int
    started: int
    """In ticks since the machine started."""

    def is_same(self, other: Process) -> bool:
        """Whether both are one process, which may have lost its parent meanwhile."""
        return (self.number, self.started) == (other.number, other.started)


Finder = Callable[[], Collection[Process]]


def end_call(leader: int, started: int, call_id: str) -> int:
    """Ends the processes of a tool call: asks them to end first, then kills them.

    Args:
        leader: The process that was started for the call. It leads the session.
        started: When it started, according to `start_of`.
        call_id: The call that the environment of its processes names.

    Returns:
        How many processes there were, including the leader if it was still running.
    """
    mark = f"{CALL_VARIABLE}={call_id}".encode()

    def of_call() -> Collection[Process]:
        if not _PROC.joinpath("self").exists():
            return _group(leader)
        table = _table()
        known = {process for process in table.values() if process.session == leader}
        # An older process cannot belong to the call. So most environments need not be read.
        young = [each for each in table.values() if each.started >= started and each not in known]
        return _with_descendants(known | _marked(young, lambda entries: mark in entries), table)

    return _end(of_call)


def end_plan(plan_id: str) -> int:
    """Ends the tool processes that a killed run left. The caller MUST hold the plan.

    Returns:
        How many processes there were.
    """
    plan, call = f"{PLAN_VARIABLE}={plan_id}".encode(), f"{CALL_VARIABLE}=".encode()

    def is_tool(entries: Collection[bytes]) -> bool:
        # A user may set the plan in their own shell, but not the call.
        return plan in entries and any(entry.startswith(call) for entry in entries)

    def of_plan() -> Collection[Process]:
        table = _table()
        family = _family(table)
        others = [process for process in table.values() if process not in family]
        return _with_descendants(_marked(others, is_tool), table)

    return _end(of_plan)


def find(number: int) -> Process | None:
    """Returns the process that has the number now."""
    return _table().get(number)


def marked_with(mark: bytes, leader: Process | None) -> Collection[Process]:
    """Returns the processes whose environment has an entry, and those that they started.

    This process and those that it was started by are left out, but not a leader.

    Args:
        mark: The entry of the environment.
        leader: A process that counts whatever its environment is, while it runs.
    """
    table = _table()
    family = _family(table)
    found = _marked([process for process in table.values() if process not in family], _having(mark))
    found |= {each for each in table.values() if leader is not None and each.is_same(leader)}
    return _with_descendants(found, table)


def _having(mark: bytes) -> Callable[[Collection[bytes]], bool]:
    return lambda entries: mark in entries


def start_of(number: int) -> int:
    """Returns when the process started, in ticks, or 0 if the system does not say."""
    fields = _fields(number)
    return int(fields[19]) if fields else 0


def _end(find: Finder) -> int:
    found = find()
    if not found:
        return 0
    try:
        _signal(found, signal.SIGTERM)
        _signal(found, signal.SIGCONT)  # A stopped process could not end.
        _wait_for_end(find, None, GRACE_SECONDS)
    finally:
        # Also if a second Ctrl-C interrupts the wait.
        _wait_for_end(find, signal.SIGKILL, _KILL_SECONDS)
    return len(found)


def _wait_for_end(find: Finder, number: signal.Signals | None, seconds: float) -> None:
    """Waits until no process is found. Signals those that are found until then.

    A process can fork and exit while the table is being read, and then neither it nor its
    child is found. So only several empty looks in a row mean that none is left.
    """
    now = time.monotonic()
    quiet, deadline = now + GRACE_SECONDS, now + seconds
    empty_looks = 0
    seen: set[Process] = set()
    # Processes that do not end although they are signaled are given up after the grace time:
    # those of another user, or those that hang in the kernel.
    while empty_looks < _EMPTY_LOOKS and (now := time.monotonic()) < min(quiet, deadline):
        found = find()
        empty_looks = 0 if found else empty_looks + 1
        if not seen.issuperset(found):
            seen.update(found)
            quiet = now + GRACE_SECONDS
        if found and number is not None:
            _signal(found, number)
        time.sleep(_POLL_SECONDS)


def _signal(processes: Iterable[Process], number: signal.Signals) -> None:
    """Signals the oldest first, so that a shell does not report that its children ended."""
    for process in sorted(processes, key=lambda process: (process.started, process.number)):
        with suppress(ProcessLookupError, PermissionError):
            _signal_one(process, number)


def _signal_one(process: Process, number: signal.Signals) -> None:
    """Signals exactly this process, and not a later one with the same number."""
    if process.number < 0:
        os.kill(process.number, number)
        return
    with _handle(process.number) as send:
        # The handle existed before this check, so both refer to the same process.
        if start_of(process.number) == process.started:
            send(number)


@contextmanager
def _handle(number: int) -> Generator[Callable[[int], None]]:
    """Yields a function that signals the process that has the number now."""
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
    """Returns the running processes by number."""
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
    """Reads state, parent and so on. They follow the name, which may contain anything."""
    try:
        return _read(number, "stat", _STAT_BYTES).rpartition(b")")[2].split()
    except OSError:
        return []


def _read(number: int, name: str, size: int) -> bytes:
    """Reads a file of a process. Faster than `open`, which asks for the size first."""
    descriptor = os.open(f"{_PROC}/{number}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, size)
    finally:
        os.close(descriptor)


def _marked(
    processes: Iterable[Process], fits: Callable[[Collection[bytes]], bool]
) -> set[Process]:
    """Returns the processes whose environment fits.

    While a process starts another program, its environment is empty for a moment. So an
    empty environment is read again.
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
    """Returns the environment of a process when it started, or None if it is unreadable."""
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
    """Returns this process, its ancestors and its descendants."""
    ours = table.get(os.getpid())
    if ours is None:
        return set()
    found = _with_descendants({ours}, table)
    while (ours := table.get(ours.parent)) is not None:
        found.add(ours)
    return found


def _group(leader: int) -> list[Process]:
    """Returns the process group as one entry: without /proc (macOS) nothing else is known."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, 0)
        return [Process(-leader, 0, leader, 0)]
    return []
