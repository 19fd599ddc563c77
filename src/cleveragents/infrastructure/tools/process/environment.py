"""Decides which environment variables the program of a tool gets."""

from __future__ import annotations

from collections.abc import Mapping

from cleveragents.domain.tools.tool import ToolInvocation, resource_variable
from cleveragents.infrastructure.tools.process.leftover_processes import (
    CALL_VARIABLE,
    PLAN_VARIABLE,
)


def tool_environment(call: ToolInvocation, environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the user's environment with the paths of the sandboxes and the marks of the call.

    Git's variables are removed: they could point git at another repository. The marks
    name the plan and the call, and `leftover_processes` finds a tool's processes by them.
    """
    kept = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
    kept |= {resource_variable(name): path for name, path in call.resources.items()}
    marks = {PLAN_VARIABLE: call.plan_id, CALL_VARIABLE: call.call_id}
    return kept | {name: value for name, value in marks.items() if value is not None}
