"""The tool that records a decision. The tool runner stores the record with the outcome."""

from __future__ import annotations

from cleveragents.domain.decisions.decision import RECORD_DECISION, RECORDED_BY_ACTORS
from cleveragents.domain.tools.tool import (
    ParameterType,
    ToolInvocation,
    ToolParameter,
    ToolResult,
    ToolSpec,
)

_NOT_BLANK = r"(?s).*\S.*"

RECORD = ToolSpec(
    name=RECORD_DECISION,
    description="Record a decision, with a checkpoint of every resource",
    parameters={
        "question": ToolParameter(
            type=ParameterType.STRING, description="What had to be decided", pattern=_NOT_BLANK
        ),
        "chosen": ToolParameter(
            type=ParameterType.STRING, description="What was decided", pattern=_NOT_BLANK
        ),
        "alternatives": ToolParameter(
            type=ParameterType.LIST, description="What was considered", required=False
        ),
        "rationale": ToolParameter(
            type=ParameterType.STRING, description="Why it was decided so", required=False
        ),
        "reasoning": ToolParameter(
            type=ParameterType.STRING,
            description="How whoever decided arrived there, step by step",
            required=False,
        ),
        "confidence": ToolParameter(
            type=ParameterType.NUMBER,
            description="How certain the decision is, from 0 to 1",
            required=False,
            minimum=0,
            maximum=1,
        ),
        "influenced_by": ToolParameter(
            type=ParameterType.LIST,
            description="Names of the earlier decisions it depends on",
            required=False,
        ),
        "type": ToolParameter(
            type=ParameterType.STRING,
            description="One of " + ", ".join(f"`{kind}`" for kind in RECORDED_BY_ACTORS),
            required=False,
            pattern="|".join(RECORDED_BY_ACTORS),
        ),
    },
    writes=True,
    write_scope="plan",
    idempotent=True,
)


def record_decision(call: ToolInvocation) -> ToolResult:
    """Returns the chosen option, so that a later step can use it."""
    return ToolResult(output=str(call.input["chosen"]))
