"""The input `path`, which most file tools declare."""

from __future__ import annotations

from cleveragents.domain.tools.tool import ParameterType, ToolParameter

PATH = ToolParameter(
    type=ParameterType.STRING,
    description="Relative to the sandbox; it may not lead out of it",
    pattern=r"[^\0]+",
)
