"""What the new interpreter of `python_function` executes: call one function, then exit.

This module and what it imports must stay quick to import: every search starts with it.
"""

from __future__ import annotations

import ctypes
import json
import os
import pkgutil
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from io import TextIOWrapper
from typing import Any, NoReturn

from cleveragents.domain.errors import CleverAgentsError

_PR_SET_PDEATHSIG = 1
# Blank, so that the answer after it is still JSON. From here on the tool's time counts.
_READY = b"\n"
# The parent process sets these itself.
_RESERVED_DETAILS = ("tool", "output", "stderr", "message", "hint")


def main(request: Mapping[str, Any]) -> NoReturn:
    """Calls the function and exits at once, whatever threads the function left running."""
    status = 1
    try:
        _end_with(request["parent"])
        exchange = _take_standard_input()
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(line_buffering=True, errors="replace")
        os.chdir(request["directory"])
        function = pkgutil.resolve_name(request["function"])
        os.write(exchange, _READY)
        message = json.dumps(_answer(function, request)).encode()
        while message:
            message = message[os.write(exchange, message) :]
        status = 0
    except BaseException:
        # Nobody above could handle it. The parent process shows what is printed here.
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _end_with(parent: int) -> None:
    """Makes the kernel kill this process if the program that started it is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # It ended before the kernel was asked.
            os._exit(1)  # pragma: no cover


def _take_standard_input() -> int:
    """Returns the file of request and answer. The function gets an empty standard input."""
    exchange = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 # for as long as the process runs
    return exchange


def _answer(
    function: Callable[[Any], dict[str, Any]], request: Mapping[str, Any]
) -> dict[str, Any]:
    try:
        return function(request["argument"])
    except CleverAgentsError as error:
        details = {
            key: value for key, value in error.details.items() if key not in _RESERVED_DETAILS
        }
        plain = json.loads(json.dumps(details, default=str))
        return {"error": error.message, "hint": error.hint, "details": plain}
    except Exception as error:
        traceback.print_exc()
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return {"error": f"`{request['tool']}` failed: {what}", "hint": None, "details": {}}
