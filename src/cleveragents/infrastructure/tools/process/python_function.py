"""Runs a Python function in a new interpreter, so that its time limit can be enforced.

No other thread can stop a regular expression or a function of a package. A process can
be stopped. A new interpreter is started instead of forking this one: this process has
threads, and a fork would copy the locks they hold without the threads that release them.
The price is that the function must be one that another process can import.

The request goes to the new process in an unnamed file, its standard input. The process
appends its answer to the same file.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

from cleveragents.application.ports.system import Interruption
from cleveragents.domain.errors import ExecutionError
from cleveragents.domain.tools.tool import ToolInvocation, ToolResult
from cleveragents.infrastructure.tools.process.run import (
    FinishedProgram,
    Program,
    failure_of,
    run_program,
)

# It starts outside the sandbox and with `-P`: a file of the sandbox must not be imported.
_START_DIRECTORY = "/"
_START = """
import json, sys
request = json.load(sys.stdin)
sys.path[:] = request["import_path"]
from cleveragents.infrastructure.tools.process.function_main import main
main(request)
"""


def run_function(
    function: Callable[[Mapping[str, Any]], dict[str, Any]],
    argument: Mapping[str, Any],
    call: ToolInvocation,
    environment: Mapping[str, str],
    interruption: Interruption,
) -> ToolResult:
    """Calls a function in the sandbox's directory, for no longer than the tool's timeout.

    What it prints becomes a part of the message if it fails, and is dropped otherwise.

    Args:
        function: one that a new process can import. It returns the fields of a ToolResult.
        argument: anything that JSON can hold.
        call: the tool call it is run for.
        environment: what the tool inherits.
        interruption: tells whether the user wants to stop.

    Raises:
        ExecutionError: the function raised, ended its process or took too long.
        InterruptedByUserError: the user wants to stop; the process was stopped.
    """
    request = {
        "import_path": [os.path.abspath(entry) for entry in sys.path],
        "parent": os.getpid(),
        "directory": call.directory,
        "tool": call.spec.name,
        "function": reference_to(function),
        "argument": argument,
    }
    with tempfile.TemporaryFile() as exchange:
        exchange.write(json.dumps(request).encode())
        end_of_request = exchange.tell()
        exchange.seek(0)
        program = Program(
            [sys.executable, "-P", "-c", _START],
            _START_DIRECTORY,
            call.spec.timeout,
            exchange,
            # The first thing the process appends says that it calls the function now.
            is_ready=lambda: os.fstat(exchange.fileno()).st_size > end_of_request,
        )
        finished = run_program(call, program, environment, interruption)
        exchange.seek(end_of_request)
        return _result(call, exchange.read(), finished)


def reference_to(function: Callable[..., object]) -> str | None:
    """Returns `module:name` of a function, or None if another process could not import it.

    The name of a tool with this function counts: the decorator `tool` replaces
    the one by the other.
    """
    module, name = str(function.__module__), str(getattr(function, "__qualname__", ""))
    found = reduce(lambda at, part: getattr(at, part, None), name.split("."), sys.modules[module])
    if module == "__main__" or function not in (found, getattr(found, "run", None)):
        return None
    return f"{module}:{name}"


def _result(call: ToolInvocation, received: bytes, finished: FinishedProgram) -> ToolResult:
    try:
        answer: dict[str, Any] = json.loads(received)
    except ValueError as error:
        problem = f"ended without a result, with status {finished.status}"
        raise failure_of(call, problem, finished.output) from error
    if "error" in answer:
        raise ExecutionError(
            answer["error"],
            hint=answer["hint"],
            tool=call.spec.name,
            output=finished.output.text(),
            stderr=finished.output.stderr(),
            **answer["details"],
        )
    return ToolResult.model_validate(answer)
