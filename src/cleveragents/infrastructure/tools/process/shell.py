"""Runs shell commands: those of the tool `shell`, and those that a plan file declares."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from contextlib import suppress

from cleveragents.application.ports.system import EventSink, Interruption
from cleveragents.domain.plans.template import render
from cleveragents.domain.tools.tool import (
    DEFAULT_TIMEOUT_SECONDS,
    MAX_TIMEOUT_SECONDS,
    ParameterType,
    ToolInvocation,
    ToolParameter,
    ToolResult,
    ToolSpec,
)
from cleveragents.infrastructure.tools.process.output import LiveOutput
from cleveragents.infrastructure.tools.process.run import Program, failure_of, run_program

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
            description=f"Seconds until the command is stopped; default {DEFAULT_TIMEOUT_SECONDS}",
            required=False,
            minimum=1,
            maximum=MAX_TIMEOUT_SECONDS,
        ),
    },
    writes=True,
    write_scope="sandbox",
)


def run_shell(
    call: ToolInvocation,
    environment: Mapping[str, str],
    interruption: Interruption,
    events: EventSink,
) -> ToolResult:
    """Runs the built-in `shell` tool.

    Raises:
        ExecutionError: the command cannot start, fails or takes too long.
        InterruptedByUserError: the user wants to stop; the command was stopped.
    """
    timeout = float(str(call.input.get("timeout", call.spec.timeout)))
    return _run(call, str(call.input["command"]), timeout, environment, interruption, events)


def run_plan_tool(
    call: ToolInvocation,
    command: str,
    environment: Mapping[str, str],
    interruption: Interruption,
    events: EventSink,
) -> ToolResult:
    """Runs a tool that a plan file declares, with its inputs inserted into its command.

    Each input becomes an environment variable in double quotes. So it is always one word,
    and the shell never interprets what is in it.

    Raises:
        ExecutionError: as `run_shell` does.
        InterruptedByUserError: as `run_shell` does.
    """
    inputs = {_INPUT_VARIABLE + name: str(value) for name, value in call.input.items()}
    words = {name: f'"${{{_INPUT_VARIABLE}{name}}}"' for name in call.input}
    rendered = render(command, words)
    variables = {**environment, **inputs}
    return _run(call, rendered, call.spec.timeout, variables, interruption, events)


def _run(
    call: ToolInvocation,
    command: str,
    timeout: float,
    environment: Mapping[str, str],
    interruption: Interruption,
    events: EventSink,
) -> ToolResult:
    program = Program(
        ["/bin/sh", "-c", command],
        call.directory,
        timeout,
        on_output=LiveOutput(call.plan_id, events),
    )
    finished = run_program(call, program, environment, interruption)
    if finished.status != 0:
        raise failure_of(call, _describe(finished.status), finished.output, finished.status)
    if left := finished.background_processes:
        finished.output.add_note(f"stopped {left} background process{'es' if left > 1 else ''}")
    return finished.output.result()


def _describe(status: int) -> str:
    if status > 0:
        return f"failed with status {status}"
    name = str(-status)
    with suppress(ValueError):
        name = signal.Signals(-status).name
    return f"was killed by signal {name}"
