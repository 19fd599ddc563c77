"""Processes that a tool or a killed run left behind, and those that only look like it."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from features.support.clocks import wait_until
from features.support.tools import Workbench, is_alive, without_proc

from cleveragents.infrastructure.tools.process import leftover_processes as processes

_RUN = """
import sys
from cleveragents.domain.tools.tool import ToolInvocation
from cleveragents.infrastructure.system import SignalInterruption
from cleveragents.infrastructure.tools.registry import Tools
from cleveragents.testing.events import NoEvents
directory, plan_id, command = sys.argv[1:]
tools = Tools({"PATH": "/usr/bin:/bin"}, SignalInterruption(), NoEvents())
tools.run(ToolInvocation(
    spec=tools.specs()["shell"], input={"command": command}, directory=directory,
    resources={}, plan_id=plan_id,
))
"""
_END = """
import sys
from cleveragents.infrastructure.tools.process.leftover_processes import end_plan
print(end_plan(sys.argv[1]))
"""
_WORK = (
    "setsid sh -c 'echo $$ > daemon.pid.txt; exec sleep 60' & "
    "echo $$ > tool.pid.txt; touch begun; sleep 60; true"
)


class Leftovers:
    """A plan with a name that no other run on this machine has."""

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench
        self.plan_id = bench.sandbox.parent.name
        self.marks = {"CLEVERAGENTS_PLAN_ID": self.plan_id, "CLEVERAGENTS_CALL_ID": "CALL1"}
        self.process: subprocess.Popen[bytes] | None = None
        self.ended = -1

    def kill_run(self) -> None:
        """Kills a program, and nothing else, in the middle of its tool."""
        run = subprocess.Popen(
            [sys.executable, "-c", _RUN, str(self.bench.sandbox), self.plan_id, _WORK]
        )
        self._wait_for(lambda: all(self._has(name) for name in ("tool", "daemon")))
        self._wait_for(lambda: _children(int(self._number("tool"))) == ["sleep"])
        run.kill()
        run.wait()
        assert self.bench.alive()

    def start(self, environment: dict[str, str]) -> subprocess.Popen[bytes]:
        """Starts a process with an environment, in a session of its own."""
        self.process = subprocess.Popen(
            ["sleep", "60"], env={"PATH": os.environ["PATH"], **environment}, start_new_session=True
        )
        return self.process

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def end(self) -> None:
        # Whoever ends them is not their parent, as it is after a kill.
        with patch.object(processes, "_family", lambda _: set()):
            self.ended = self.bench.tools.end_leftovers(self.plan_id)

    def end_hidden(self) -> None:
        """As `end`, where no environment may be read."""

        def forbidden(path: Path) -> bytes:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))

        with patch.object(Path, "read_bytes", forbidden):
            self.end()

    def end_without_table(self) -> None:
        with without_proc():
            self.ended = self.bench.tools.end_leftovers(self.plan_id)

    def end_from_inside(self) -> None:
        """Ends them from a process that the plan's tool started, and whose parents are its too."""
        done = subprocess.run(
            ["/bin/sh", "-c", '"$@"; true', "sh", sys.executable, "-c", _END, self.plan_id],
            env={**os.environ, **self.marks},
            capture_output=True,
            text=True,
            check=True,
        )
        self.ended = int(done.stdout)

    def runs(self) -> bool:
        assert self.process is not None
        return is_alive(str(self.process.pid))

    def end_when(self, happens: str) -> None:
        match happens:
            case "its number means a later process by then":
                self._signal_one_of_another_time()
            case "it has ended by itself by then":
                self._signal_one_that_ended()
            case "the system cannot take hold of processes":
                with patch.object(os, "pidfd_open", side_effect=OSError(errno.ENOSYS, "")):
                    self.end()
            case "its environment is empty for a moment":
                with patch.object(processes, "_environment", self._empty_at_first()):
                    self.end()
            case _:
                raise AssertionError(happens)

    def _signal_one_of_another_time(self) -> None:
        found = self._found()
        processes._signal([found._replace(started=found.started - 1)], signal.SIGKILL)

    def _signal_one_that_ended(self) -> None:
        found = self._found()
        self.stop()
        processes._signal([found], signal.SIGKILL)

    def _found(self) -> processes.Process:
        assert self.process is not None
        return processes._table()[self.process.pid]

    def _empty_at_first(self) -> Callable[[int], Any]:
        real, asked = processes._environment, list[int]()

        def environment(number: int) -> set[bytes] | None:
            asked.append(number)
            return set() if asked.count(number) < 3 else real(number)

        return environment

    def _has(self, name: str) -> bool:
        file = self.bench.file(f"{name}.pid.txt")
        return file.exists() and bool(file.read_text().strip())

    def _number(self, name: str) -> str:
        return self.bench.file(f"{name}.pid.txt").read_text().strip()

    def _wait_for(self, happened: Callable[[], bool]) -> None:
        wait_until(happened)


def _children(number: int) -> list[str]:
    """The programs of a process's children that stayed in its session."""
    table = processes._table().values()
    found = [each for each in table if each.parent == number and each.session == number]
    return [_program(child.number) for child in found]


def _program(number: int) -> str:
    """The name of a process's program, or nothing if the process has just ended."""
    try:
        return Path(f"/proc/{number}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""
