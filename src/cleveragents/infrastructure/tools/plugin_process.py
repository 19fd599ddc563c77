"""Runs a tool that is not built in. This code executes in the process of the tool."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from typing import Any

from cleveragents.domain.errors import ExecutionError
from cleveragents.domain.tools.tool import ToolInvocation, ToolResult
from cleveragents.infrastructure.tools.process.output import BoundedOutput
from cleveragents.tools import Tool


def run_plugin(argument: Mapping[str, Any]) -> dict[str, Any]:
    """Imports the tool, calls it, and bounds what it returns.

    Raises:
        ExecutionError: it returned something other than text or a ToolResult.
        Exception: whatever the tool's function raised.
    """
    call = ToolInvocation.model_validate(argument["call"])
    found: Tool | Callable[[ToolInvocation], object] = pkgutil.resolve_name(argument["tool"])
    result = found.run(call) if isinstance(found, Tool) else found(call)
    if isinstance(result, str):
        result = ToolResult(output=result)
    if not isinstance(result, ToolResult):
        raise ExecutionError(f"`{call.spec.name}` returned {type(result).__name__}, not text")
    output = BoundedOutput()
    output.feed(result.output.encode(errors="replace"))
    return {"output": output.text(), "truncated": output.is_truncated or result.truncated}
