"""Running tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from cleveragents.domain.tools.tool import ToolInvocation, ToolResult, ToolSpec


class ToolBackend(Protocol):
    """Runs tools inside a sandbox."""

    def specs(self) -> Mapping[str, ToolSpec]:
        """Returns the tools there are, by name."""
        ...

    def run(self, call: ToolInvocation) -> ToolResult:
        """Runs the tool; when this returns or raises, nothing of it MUST run on.

        The caller MUST have checked the input with `validate_input`.

        Raises ExecutionError when the tool fails, times out or reaches outside its
        sandbox, and InterruptedByUserError when the user wants to stop.
        """
        ...

    def end_leftovers(self, plan_id: str) -> int:
        """Ends what a killed run of the plan left of its tools, and returns how many processes.

        The caller MUST hold the plan. MUST NOT touch anything else.
        """
        ...
