"""The tool of a step with subplans. The plan executor runs it, not a process of a tool."""

from __future__ import annotations

from cleveragents.domain.plans.subplan import SPAWN_SUBPLAN
from cleveragents.domain.tools.tool import ParameterType, ToolParameter, ToolSpec

SPAWN = ToolSpec(
    name=SPAWN_SUBPLAN,
    description="Have other plans do a part of the work, each in sandboxes of its own, and merge "
    "what they made; a step with `subplans` is a call of it",
    parameters={
        "plans": ToolParameter(type=ParameterType.LIST, description="The subplans, by name"),
        "mode": ToolParameter(
            type=ParameterType.STRING,
            description="`sequential`, `parallel` or `dependency_ordered`",
            required=False,
        ),
    },
    writes=True,
    write_scope="plan",
)
