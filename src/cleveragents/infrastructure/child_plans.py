"""Runs child plans, each in its own process: it can use its own core and be killed alone.

A child process gets a pipe to which nobody writes. It stops when this process closes the pipe,
which the system also does when this process is killed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO

from cleveragents.application.ports.plans import ChildPlans, ChildRun
from cleveragents.domain.errors import ExecutionError
from cleveragents.infrastructure.home import VARIABLE

_POLL_SECONDS = 0.02
_SAID_BYTES = 4_000


class ProcessPlans(ChildPlans):
    """Starts one process for each child plan."""

    def __init__(self, command: Sequence[str], home: Path, environment: Mapping[str, str]) -> None:
        """Args: `command` is the command line, to which the plan and options are added."""
        self._command = command
        self._environment = {**environment, VARIABLE: str(home)}

    def start(self, plan_id: str, *, repeat_effects: bool) -> ChildRun:
        command = [*self._command, plan_id]
        if repeat_effects:
            command.append("--repeat-effects")
        with ExitStack() as files:
            warnings, said = (files.enter_context(tempfile.TemporaryFile()) for _ in range(2))
            process = self._start(command, warnings, said)
            return _Process(plan_id, process, warnings, said, files.pop_all())

    def _start(
        self, command: list[str], warnings: IO[bytes], said: IO[bytes]
    ) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=warnings,
                stderr=said,
                env=self._environment,
                # Ctrl-C then reaches only this process, which stops its children in order.
                start_new_session=True,
            )
        except OSError as error:
            raise ExecutionError(f"The process of a subplan cannot be started: {error}") from error

    def wait(self, runs: Collection[ChildRun], seconds: float) -> Sequence[ChildRun]:
        deadline = time.monotonic() + seconds
        while True:
            ended = [run for run in runs if run.has_ended]
            if ended or time.monotonic() >= deadline:
                return ended
            time.sleep(_POLL_SECONDS)


class _Process(ChildRun):
    def __init__(
        self,
        plan_id: str,
        process: subprocess.Popen[bytes],
        warnings: IO[bytes],
        said: IO[bytes],
        files: ExitStack,
    ) -> None:
        """Args: `files` closes `warnings` and `said`."""
        self._files = files
        self._plan_id = plan_id
        self._process = process
        self._warnings = warnings
        self._said = said

    @property
    def plan_id(self) -> str:
        return self._plan_id

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def stop(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()

    def kill(self) -> None:
        self.stop()
        if self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def close(self) -> None:
        self.stop()
        self._files.close()

    def warnings(self) -> Sequence[str]:
        self._warnings.seek(0)
        # A killed process may have written only part of its last line.
        *lines, _ = self._warnings.read().split(b"\n")
        return [str(json.loads(line)) for line in lines]

    def said(self) -> str:
        self._said.seek(0)
        text = self._said.read()[-_SAID_BYTES:].decode(errors="replace").strip()
        status = self._process.returncode
        return text or f"its process ended with status {status}"
