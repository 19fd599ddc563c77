"""Runs Python code in a process of its own, so that its time limit can be enforced.

Neither a regular expression nor a foreign function can be stopped from outside in the
process that runs it. The child is forked, because the function may be any callable; it
makes itself a session, lets go of everything it inherited, and sends its result through
a pipe. The session is ended when the result is there or the time is up.
"""

from __future__ import annotations

import ctypes
import fcntl
import gc
import json
import os
import secrets
import selectors
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from cleveragents.application.ports import Interruption
from cleveragents.domain.errors import (
    CleverAgentsError,
    ExecutionError,
    InterruptedByUserError,
)
from cleveragents.domain.tool import ToolInvocation, ToolResult
from cleveragents.infrastructure.tools.process.leftover_processes import end_call, start_of
from cleveragents.infrastructure.tools.process.output import BoundedOutput
from cleveragents.infrastructure.tools.process.shell import tool_environment
from cleveragents.tools import ToolFunction

# As much as a pipe can hold: one last read takes all that ended processes left in it.
_CHUNK_BYTES = 1024 * 1024
_LAST_LINES = 5
_POLL_SECONDS = 0.05
_FIRST_DESCRIPTOR = 3
_LAST_DESCRIPTOR = 1 << 20
_PR_SET_PDEATHSIG = 1
_TAKEN = ("tool", "output", "message", "hint")


@dataclass(frozen=True)
class _Pipe:
    reader: int
    writer: int

    @classmethod
    def open(cls) -> _Pipe:
        """Keeps clear of the numbers of the standard streams, which may be free."""
        ends = os.pipe()
        try:
            copies = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _FIRST_DESCRIPTOR) for end in ends]
        finally:
            for end in ends:
                os.close(end)
        return cls(*copies)


def run_in_child(
    function: ToolFunction,
    call: ToolInvocation,
    environment: Mapping[str, str],
    interruption: Interruption,
) -> ToolResult:
    """Calls the function in the sandbox's directory, for no longer than the tool's timeout.

    What it prints is kept for the message of a failure, and dropped otherwise.

    Raises:
        ExecutionError: the function raised, gave back something else, ended its process or
            took too long.
        InterruptedByUserError: the user wants to stop; the process was ended.
    """
    call_id = call.call_id or secrets.token_hex(8)
    call = call.model_copy(update={"call_id": call_id})
    answer, said = _Pipe.open(), _Pipe.open()
    parent, child = os.getpid(), os.fork()
    if child == 0:
        _die_with(parent)
        _be_child(function, call, environment, answer.writer, said.writer)
    started = start_of(child)
    os.close(answer.writer)
    os.close(said.writer)
    received, printed = bytearray(), BoundedOutput()
    sinks: dict[int, Callable[[bytes], None]] = {
        answer.reader: received.extend,
        said.reader: printed.feed,
    }
    try:
        in_time = _collect(child, sinks, time.monotonic() + call.spec.timeout, interruption)
    finally:
        # Also when Ctrl-C or a signal handler raised: nothing may go on writing.
        end_call(child, started, call_id)
        _, status = os.waitpid(child, 0)
        for reader in sinks:
            os.close(reader)
    if interruption.requested() and not received:
        raise InterruptedByUserError(
            f"`{call.spec.name}` was interrupted and ended", tool=call.spec.name
        )
    if not in_time:
        raise _failure(call, f"took longer than {call.spec.timeout} seconds and was ended", printed)
    return _result(call, bytes(received), status, printed)


def _collect(
    child: int,
    sinks: Mapping[int, Callable[[bytes], None]],
    deadline: float,
    interruption: Interruption,
) -> bool:
    """Reads until the child has ended, whoever else holds its pipes open.

    Returns:
        Whether it ended before the deadline and before the user wanted to stop.
    """
    with selectors.DefaultSelector() as selector:
        for reader in sinks:
            os.set_blocking(reader, False)
            selector.register(reader, selectors.EVENT_READ)
        while (remaining := deadline - time.monotonic()) > 0:
            has_ended = _has_ended(child)
            for key, _ in selector.select(0 if has_ended else min(remaining, _POLL_SECONDS)):
                data = os.read(key.fd, _CHUNK_BYTES)
                sinks[key.fd](data)
                if not data:
                    selector.unregister(key.fd)
            if has_ended:
                return True
            if interruption.requested():
                break
    return False


def _has_ended(child: int) -> bool:
    """Looks without taking the status away."""
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _result(
    call: ToolInvocation, received: bytes, status: int, printed: BoundedOutput
) -> ToolResult:
    try:
        answer: dict[str, Any] = json.loads(received)
    except ValueError as error:
        how = os.waitstatus_to_exitcode(status)
        raise _failure(call, f"ended without a result, with status {how}", printed) from error
    if "error" in answer:
        raise ExecutionError(
            answer["error"],
            hint=answer["hint"],
            tool=call.spec.name,
            output=printed.result().output,
            **answer["details"],
        )
    return ToolResult.model_validate(answer)


def _failure(call: ToolInvocation, what: str, printed: BoundedOutput) -> ExecutionError:
    text = printed.result().output
    last = [line for line in text.splitlines() if line.strip()][-_LAST_LINES:]
    return ExecutionError(
        "\n".join([f"`{call.spec.name}` {what}" + (":" if last else ""), *last]),
        tool=call.spec.name,
        output=text,
    )


def _be_child(
    function: ToolFunction,
    call: ToolInvocation,
    environment: Mapping[str, str],
    answer: int,
    said: int,
) -> NoReturn:
    """Never returns: what the parent would do at its end is not this process's to do."""
    status = 1
    try:
        _be_alone(answer, said)
        os.chdir(call.directory)
        os.environ.clear()
        os.environ.update(tool_environment(call, environment))
        message = json.dumps(_answer(function, call)).encode()
        while message:
            message = message[os.write(answer, message) :]
        status = 0
    except BaseException:
        # There is nobody above to tell.
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _be_alone(answer: int, said: int) -> None:
    """Lets go of the parent's session, signal handlers, streams, locks and connections."""
    os.setsid()
    # Objects of the parent must not be finalised here: their descriptors are closed below,
    # and the numbers may belong to something else by then.
    gc.freeze()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.closerange(_FIRST_DESCRIPTOR, answer)
    os.closerange(answer + 1, _LAST_DESCRIPTOR)
    sys.stdout = os.fdopen(1, "w", buffering=1, errors="replace", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="replace", closefd=False)


def _die_with(parent: int) -> None:
    """The environment that tells the next run whose this is cannot be changed without exec.

    What the function starts has it; the process itself ends when we are killed. The
    signal follows the thread that forked, and that one waits until this process has ended.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # It has ended already.
            os._exit(1)  # pragma: no cover


def _answer(function: ToolFunction, call: ToolInvocation) -> dict[str, Any]:
    try:
        result = function(call)
    except CleverAgentsError as error:
        details = {key: value for key, value in error.details.items() if key not in _TAKEN}
        return {"error": error.message, "hint": error.hint, "details": _plain(details)}
    except Exception as error:
        traceback.print_exc()
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return {"error": f"`{call.spec.name}` failed: {what}", "hint": None, "details": {}}
    if isinstance(result, str):
        result = ToolResult(output=result)
    if not isinstance(result, ToolResult):  # pyright: ignore[reportUnnecessaryIsInstance] # foreign
        what = f"`{call.spec.name}` gave back {type(result).__name__}, not text"
        return {"error": what, "hint": None, "details": {}}
    output = BoundedOutput()
    output.feed(result.output.encode(errors="replace"))
    bounded = output.result()
    truncated = bounded.truncated or result.truncated
    return {"output": bounded.output, "truncated": truncated}


def _plain(details: dict[str, object]) -> dict[str, Any]:
    return json.loads(json.dumps(details, default=str))
