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
from typing import IO

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
    variables = tool_environment(call.model_copy(update={"call_id": call_id}), environment)
    output = BoundedOutput()
    reader, writer = os.pipe()
    with open(reader, "rb", buffering=0) as pipe:
        os.set_blocking(reader, False)
        with open(writer, "wb") as program_end:
            process = _start(call, program, variables, program_end)
        started = start_of(process.pid)
        try:
            end = _collect(program, process, pipe, output, interruption)
        finally:
            # Also if Ctrl-C or a signal handler raised: nothing may continue to write.
            left = end_call(process.pid, started, call_id)
            process.wait()
        _read(pipe, output)
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
    )


def _start(
    call: ToolInvocation, program: Program, environment: Mapping[str, str], output: IO[bytes]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            program.command,
            cwd=program.directory,
            env=environment,
            stdin=program.stdin,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise ExecutionError(f"`{call.spec.name}` cannot start: {error}") from error


def _collect(
    program: Program,
    process: subprocess.Popen[bytes],
    pipe: FileIO,
    output: BoundedOutput,
    interruption: Interruption,
) -> _End:
    """Reads until the process exits, even if another process holds its output open."""
    is_ready, deadline = False, time.monotonic() + _START_SECONDS
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while process.poll() is None:
            if not is_ready and program.is_ready():
                is_ready, deadline = True, time.monotonic() + program.timeout
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return _End.TOO_LATE
            if interruption.requested():
                return _End.INTERRUPTED
            seconds = min(remaining, _POLL_SECONDS)
            if not selector.get_map():
                _wait(process, seconds)
            elif selector.select(seconds) and _read(pipe, output) == b"":
                selector.unregister(pipe)  # It closed its output and continues.
    return _End.BY_ITSELF


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def _read(pipe: FileIO, output: BoundedOutput) -> bytes | None:
    """Reads once. Returns nothing at the end of the output, and None if more may come."""
    data = pipe.read(_CHUNK_BYTES)
    output.feed(data or b"")
    return data
