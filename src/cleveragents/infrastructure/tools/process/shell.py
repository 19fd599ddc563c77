"""Runs shell commands: bounded in time and output, and nothing of them stays behind."""

from __future__ import annotations

import os
import secrets
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from enum import Enum, auto
from io import FileIO
from typing import IO

from cleveragents.application.ports import Interruption
from cleveragents.domain.errors import ExecutionError, InterruptedByUserError
from cleveragents.domain.template import render
from cleveragents.domain.tool import (
    DEFAULT_TIMEOUT_SECONDS,
    MAX_TIMEOUT_SECONDS,
    ParameterType,
    ToolInvocation,
    ToolParameter,
    ToolResult,
    ToolSpec,
    resource_variable,
)
from cleveragents.infrastructure.tools.process.leftover_processes import (
    CALL_VARIABLE,
    PLAN_VARIABLE,
    end_call,
    start_of,
)
from cleveragents.infrastructure.tools.process.output import BoundedOutput

_POLL_SECONDS = 0.05
# As much as a pipe can hold: one last read takes all that ended processes left in it.
_CHUNK_BYTES = 1024 * 1024
_LAST_LINES = 5
_LINE_CHARACTERS = 500
_INPUT_VARIABLE = "CLEVERAGENTS_INPUT_"

SHELL = ToolSpec(
    name="shell",
    description="Run a command with `/bin/sh` in the sandbox's directory",
    parameters={
        "command": ToolParameter(
            type=ParameterType.STRING,
            description="Placeholders are inserted as they are: quote them where needed",
            pattern=r"[^\0]*[^\0\s][^\0]*",
        ),
        "timeout": ToolParameter(
            type=ParameterType.INTEGER,
            description=f"Seconds until it is ended; default {DEFAULT_TIMEOUT_SECONDS}",
            required=False,
            minimum=1,
            maximum=MAX_TIMEOUT_SECONDS,
        ),
    },
    writes=True,
    write_scope="sandbox",
)


class _End(Enum):
    """Why a command is not waited for any more."""

    BY_ITSELF = auto()
    TOO_LATE = auto()
    INTERRUPTED = auto()


def run_shell(
    call: ToolInvocation, environment: Mapping[str, str], interruption: Interruption
) -> ToolResult:
    """Runs the built-in `shell` tool.

    Raises:
        ExecutionError: the command cannot start, fails or takes too long.
        InterruptedByUserError: the user wants to stop; the command was ended.
    """
    timeout = float(str(call.input.get("timeout", call.spec.timeout)))
    return _run(call, str(call.input["command"]), timeout, environment, interruption)


def run_plan_tool(
    call: ToolInvocation, command: str, environment: Mapping[str, str], interruption: Interruption
) -> ToolResult:
    """Runs a tool that a plan defines, its inputs put where its command names them.

    An input reaches the command as a variable in double quotes, so it is always one
    word and never read as shell, whatever is in it.

    Raises:
        ExecutionError: as `run_shell` does.
        InterruptedByUserError: as `run_shell` does.
    """
    inputs = {_INPUT_VARIABLE + name: str(value) for name, value in call.input.items()}
    words = {name: f'"${{{_INPUT_VARIABLE}{name}}}"' for name in call.input}
    rendered = render(command, words)
    return _run(call, rendered, call.spec.timeout, {**environment, **inputs}, interruption)


def tool_environment(call: ToolInvocation, environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the user's environment without git's variables, which would lead git elsewhere.

    It says whose the tool is, by which its processes are found later.
    """
    kept = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
    kept |= {resource_variable(name): path for name, path in call.resources.items()}
    marks = {PLAN_VARIABLE: call.plan_id, CALL_VARIABLE: call.call_id}
    return kept | {name: value for name, value in marks.items() if value is not None}


def _run(
    call: ToolInvocation,
    command: str,
    timeout: float,
    environment: Mapping[str, str],
    interruption: Interruption,
) -> ToolResult:
    call_id = call.call_id or secrets.token_hex(8)
    theirs = tool_environment(call.model_copy(update={"call_id": call_id}), environment)
    output = BoundedOutput()
    reader, writer = os.pipe()
    with open(reader, "rb", buffering=0) as pipe:
        os.set_blocking(reader, False)
        with open(writer, "wb") as their_end:
            process = _start(call, command, theirs, their_end)
        started = start_of(process.pid)
        try:
            end = _collect(process, pipe, output, time.monotonic() + timeout, interruption)
        finally:
            # Also when Ctrl-C or a signal handler raised: nothing may go on writing.
            left = end_call(process.pid, started, call_id)
            process.wait()
        _read(pipe, output)
    if end is _End.INTERRUPTED:
        raise InterruptedByUserError(
            f"`{call.spec.name}` was interrupted and ended", tool=call.spec.name
        )
    if end is _End.TOO_LATE:
        raise _failure(call, f"took longer than {timeout:g} seconds and was ended", output)
    if process.returncode != 0:
        raise _failure(call, _said(process.returncode), output, process.returncode)
    if left:
        output.add_note(f"ended {left} background process{'es' if left > 1 else ''}")
    return output.result()


def _start(
    call: ToolInvocation, command: str, environment: Mapping[str, str], output: IO[bytes]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            ["/bin/sh", "-c", command],
            cwd=call.directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise ExecutionError(f"`{call.spec.name}` cannot start: {error}") from error


def _collect(
    process: subprocess.Popen[bytes],
    pipe: FileIO,
    output: BoundedOutput,
    deadline: float,
    interruption: Interruption,
) -> _End:
    """Reads until the process has ended, whoever else holds its output open."""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while process.poll() is None:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return _End.TOO_LATE
            if interruption.requested():
                return _End.INTERRUPTED
            seconds = min(remaining, _POLL_SECONDS)
            if not selector.get_map():
                _wait(process, seconds)
            elif selector.select(seconds) and _read(pipe, output) == b"":
                selector.unregister(pipe)  # It closed its output and goes on.
    return _End.BY_ITSELF


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def _read(pipe: FileIO, output: BoundedOutput) -> bytes | None:
    """Takes one piece of what is there: nothing at the end, None when more may come."""
    data = pipe.read(_CHUNK_BYTES)
    output.feed(data or b"")
    return data


def _said(status: int) -> str:
    if status > 0:
        return f"failed with status {status}"
    name = str(-status)
    with suppress(ValueError):
        name = signal.Signals(-status).name
    return f"was ended by signal {name}"


def _failure(
    call: ToolInvocation, what: str, output: BoundedOutput, status: int | None = None
) -> ExecutionError:
    text = output.result().output
    last = [
        line if len(line) <= _LINE_CHARACTERS else f"{line[:_LINE_CHARACTERS]}…"
        for line in [line for line in text.splitlines() if line.strip()][-_LAST_LINES:]
    ]
    return ExecutionError(
        "\n".join([f"`{call.spec.name}` {what}" + (":" if last else ""), *last]),
        tool=call.spec.name,
        status=status,
        output=text,
    )
