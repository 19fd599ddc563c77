"""The processes of a session: its command, and whatever that started.

They are found by a variable in their environment, or as descendants of such a process or of the
command. Only a process that cleared its environment and lost its parent is not found. Where the
system has no `/proc`, none is.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from cleveragents.domain.plans.session import SessionProcess
from cleveragents.infrastructure.tools.process.leftover_processes import Process, find, marked_with

SESSION_VARIABLE = "CLEVERAGENTS_SESSION"
"""Names the session in the environment of its command."""
_NAME_BYTES = 200


class SessionProcesses:
    """Finds the processes of one session, and waits for their end."""

    def __init__(self, plan_id: str) -> None:
        self._mark = f"{SESSION_VARIABLE}={plan_id}".encode()
        self._command: Process | None = None
        self._handles: dict[Process, int] = {}

    def know_command(self, process_id: int) -> None:
        """Notes which process is the command."""
        self._command = find(process_id)

    def forget_command(self) -> None:
        """Notes that the command has ended."""
        self._command = None

    def running(self) -> Collection[Process]:
        """Returns the processes of the session that run now, without the recorder itself."""
        return marked_with(self._mark, self._command)

    def watch(self, processes: Iterable[Process]) -> None:
        """Has `handles` tell when one of them ends."""
        known = {process.number for process in self._handles}
        for process in processes:
            if process.number not in known:
                with suppress(OSError):  # It has ended, or this system has no handles.
                    self._handles[process] = os.pidfd_open(process.number)

    @property
    def handles(self) -> Collection[int]:
        """Descriptors that can be read once their process has ended."""
        return self._handles.values()

    def let_go(self, handle: int) -> None:
        """Forgets a process that has ended."""
        self._handles = {key: item for key, item in self._handles.items() if item != handle}
        os.close(handle)


def open_for_writing(processes: Iterable[Process], directory: str) -> frozenset[str]:
    """Returns the files below a directory that processes can change without the system telling.

    A process may have such a file mapped, and then writes without a call. Paths are relative.
    """
    top = os.path.realpath(directory) + "/"
    found: set[str] = set()
    for process in processes:
        with suppress(OSError):  # It has ended, or belongs to somebody else.
            found.update(_written_by(Path(f"/proc/{process.number}")))
    return frozenset(path.removeprefix(top) for path in found if path.startswith(top))


def _written_by(process: Path) -> Iterator[str]:
    for entry in os.scandir(process / "fd"):
        with suppress(OSError, ValueError):
            said = (process / "fdinfo" / entry.name).read_text()
            if int(said.partition("flags:")[2].split()[0], 8) & os.O_ACCMODE:
                yield os.readlink(entry.path)
    for line in (process / "maps").read_bytes().splitlines():
        fields = line.split(None, 5)
        if len(fields) > 5 and fields[1][1:2] == b"w" and fields[1].endswith(b"s"):
            yield os.fsdecode(fields[5])


def described(processes: Iterable[Process]) -> tuple[SessionProcess, ...]:
    """Returns the processes as messages name them."""
    return tuple(
        SessionProcess(process_id=item.number, command=_command_of(item.number))
        for item in sorted(processes, key=lambda item: item.number)
    )


def _command_of(number: int) -> str:
    try:
        words = Path(f"/proc/{number}/cmdline").read_bytes()[:_NAME_BYTES].split(b"\0")
    except OSError:
        return ""
    return b" ".join(words).decode(errors="replace").strip()
