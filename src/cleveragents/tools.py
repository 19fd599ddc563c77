"""Tools of your own, for plans to use like the built-in ones.

A tool is what it declares about itself and a function:

```python
from cleveragents.tools import ParameterType, ToolInvocation, ToolParameter, ToolSpec, tool

TEXT = ToolParameter(type=ParameterType.STRING, description="A file of the sandbox")


@tool(ToolSpec(name="count-lines", read_only=True, parameters={"path": TEXT}, timeout=30))
def count_lines(call: ToolInvocation) -> str:
    with open(call.input["path"]) as file:
        return str(sum(1 for _ in file))
```

A package offers it under the tool's name as an entry point of the group `cleveragents.tools`:

```toml
[project.entry-points."cleveragents.tools"]
count-lines = "acme.tools:count_lines"
```

The function runs in a process of its own, in the sandbox's directory, and is ended when
its `timeout` is over. It gives back text or a `ToolResult`, and fails by raising. It can do
whatever the user can: only what it does in the sandbox can be undone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cleveragents.domain.tools.tool import (
    CheckpointScope,
    ParameterType,
    ToolInvocation,
    ToolParameter,
    ToolResult,
    ToolSpec,
)

__all__ = [
    "CheckpointScope",
    "ParameterType",
    "Tool",
    "ToolFunction",
    "ToolInvocation",
    "ToolParameter",
    "ToolResult",
    "ToolSpec",
    "tool",
]

ToolFunction = Callable[[ToolInvocation], ToolResult | str]


@dataclass(frozen=True)
class Tool:
    """What a tool declares, and the function that does it."""

    spec: ToolSpec
    run: ToolFunction

    def __post_init__(self) -> None:
        """Raises an error if what the tool declares has wrong types."""
        ToolSpec.model_validate(self.spec.model_dump())

    def __call__(self, call: ToolInvocation) -> ToolResult | str:
        """Calls the function as it is: here, and without a time limit."""
        return self.run(call)


def tool(spec: ToolSpec) -> Callable[[ToolFunction], Tool]:
    """Makes a function a tool."""
    return lambda function: Tool(spec, function)
