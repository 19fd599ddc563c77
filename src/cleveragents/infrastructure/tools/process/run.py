"""Starts one program for a tool call, collects its output, and ends all its processes."""

from __future__ import annotations

import os
import secrets
import selectors
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from io import FileIO
from typing import IO, Self

from msgspec.structs import replace

from cleveragents.application.ports.system import Interruption
from cleveragents.domain.errors import ExecutionError, InterruptedByUserError
from cleveragents.domain.tools.tool import ToolInvocation
from cleveragents.infrastructure.tools.process.environment import tool_environment
from cleveragents.infrastructure.tools.process.leftover_processes import end_call, start_of
from cleveragents.infrastructure.tools.process.output import BoundedOutput

_POLL_SECONDS = 0.05
_START_SECONDS = 60.0
# As much as a pipe can hold: one last read takes all that ended processes left in it.
_CHUNK_BYTES = 1024 * 1024
_LAST_LINES = 5
_LINE_CHARACTERS = 500


@dataclass(frozen=True)
class Program:
    """What to start, where, and how long it may run."""

    command: Sequence[str]
    directory: str
    timeout: float
    stdin: IO[bytes] | int = subprocess.DEVNULL
    is_ready: Callable[[], bool] = lambda: True
    """Tells whether the program has done what is ours and begins with what is the tool's.

    The time limit counts from there: a busy machine must not take it away from the tool.
    """
    on_output: Callable[[bytes, bool], None] = lambda _data, _stderr: None
    """Is told what the program prints, and whether to standard error."""


@dataclass(frozen=True)
class FinishedProgram:
    """How a program ended that was neither too slow nor interrupted."""

    status: int
    output: BoundedOutput
    background_processes: int
    """How many processes it left running. They have been ended."""


class _End(Enum):
    """Why the program is not waited for any longer."""

    BY_ITSELF = auto()
    TOO_LATE = auto()
    INTERRUPTED = auto()


def run_program(
    call: ToolInvocation,
    program: Program,
    environment: Mapping[str, str],
    interruption: Interruption,
) -> FinishedProgram:
    """Runs the program until it exits, whatever its status is.

    Raises:
        ExecutionError: it cannot start, or it took too long and was stopped.
        InterruptedByUserError: the user wants to stop; the program was stopped.
    """
    call_id = call.call_id or secrets.token_hex(8)
    variables = tool_environment(replace(call, call_id=call_id), environment)
    output = BoundedOutput()
    with _Pipes(program, output) as pipes:
        process = _start(call, program, variables, pipes)
        started = start_of(process.pid)
        try:
            pipes.close_writers()
            end = _collect(program, process, pipes, interruption)
        finally:
            # Also if Ctrl-C or a signal handler raised: nothing may continue to write.
            left = end_call(process.pid, started, call_id)
            process.wait()
        pipes.read_rest()
    if end is _End.INTERRUPTED:
        raise InterruptedByUserError(
            f"`{call.spec.name}` was interrupted and stopped", tool=call.spec.name
        )
    if end is _End.TOO_LATE:
        problem = f"took longer than {program.timeout:g} seconds and was stopped"
        raise failure_of(call, problem, output)
    return FinishedProgram(process.returncode, output, left)


def failure_of(
    call: ToolInvocation, problem: str, output: BoundedOutput, status: int | None = None
) -> ExecutionError:
    """Returns an error that ends with the last lines of what the program printed."""
    text = output.text()
    last = [line for line in text.splitlines() if line.strip()][-_LAST_LINES:]
    shortened = [
        line if len(line) <= _LINE_CHARACTERS else f"{line[:_LINE_CHARACTERS]}…" for line in last
    ]
    return ExecutionError(
        "\n".join([f"`{call.spec.name}` {problem}" + (":" if last else ""), *shortened]),
        tool=call.spec.name,
        status=status,
        output=text,
        stderr=output.stderr(),
    )


def _start(
    call: ToolInvocation, program: Program, environment: Mapping[str, str], pipes: _Pipes
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            program.command,
            cwd=program.directory,
            env=environment,
            stdin=program.stdin,
            stdout=pipes.stdout,
            stderr=pipes.stderr,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise ExecutionError(f"`{call.spec.name}` cannot start: {error}") from error


def _collect(
    program: Program,
    process: subprocess.Popen[bytes],
    pipes: _Pipes,
    interruption: Interruption,
) -> _End:
    """Reads until the process exits, even if another process holds its output open."""
    is_ready, deadline = False, time.monotonic() + _START_SECONDS
    while process.poll() is None:
        if not is_ready and program.is_ready():
            is_ready, deadline = True, time.monotonic() + program.timeout
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            return _End.TOO_LATE
        if interruption.requested():
            return _End.INTERRUPTED
        seconds = min(remaining, _POLL_SECONDS)
        if not pipes.read(seconds):
            _wait(process, seconds)
    return _End.BY_ITSELF


class _Pipes:
    """Standard output and standard error of a program, read as one output.

    Each stream keeps its order. Between them, the order is that of reading: what is written
    to both at the same moment cannot be told apart.
    """

    def __init__(self, program: Program, output: BoundedOutput) -> None:
        self._program = program
        self._output = output
        self._selector = selectors.DefaultSelector()
        self._readers: list[FileIO] = []
        self._writers: list[int] = []

    def __enter__(self) -> Self:
        for stderr in (False, True):
            reader, writer = os.pipe()
            os.set_blocking(reader, False)
            self._readers.append(open(reader, "rb", buffering=0))
            self._writers.append(writer)
            self._selector.register(self._readers[-1], selectors.EVENT_READ, stderr)
        return self

    def __exit__(self, *_: object) -> None:
        self.close_writers()
        self._selector.close()
        for reader in self._readers:
            reader.close()

    @property
    def stdout(self) -> int:
        return self._writers[0]

    @property
    def stderr(self) -> int:
        return self._writers[1]

    def close_writers(self) -> None:
        """Closes our copies of the program's ends, so that reading can come to an end."""
        while self._writers:
            os.close(self._writers.pop())

    def read(self, seconds: float) -> bool:
        """Reads what comes within that time; False if the program has closed both streams."""
        if not self._selector.get_map():
            return False
        ready = {bool(key.data) for key, _ in self._selector.select(seconds)}
        for stderr in sorted(ready):
            reader = self._readers[stderr]
            if self._read_once(reader, stderr=stderr) == b"":
                self._selector.unregister(reader)  # It closed this stream and continues.
        return True

    def read_rest(self) -> None:
        """Reads what ended processes have left in the pipes."""
        for stderr, reader in zip((False, True), self._readers, strict=True):
            self._read_once(reader, stderr=stderr)

    def _read_once(self, reader: FileIO, *, stderr: bool) -> bytes | None:
        """Returns nothing at the end of the stream, and None if more may come."""
        data = reader.read(_CHUNK_BYTES)
        if data:
            self._output.feed(data, stderr=stderr)
            self._program.on_output(data, stderr)
        return data


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
