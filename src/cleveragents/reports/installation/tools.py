"""Tools: what they declare, and their inputs."""

from __future__ import annotations

from collections.abc import Sequence

from cleveragents.domain.tools.tool import KnownTool, ToolParameter, ToolSpec
from cleveragents.reports.described import Description, Field, shown
from cleveragents.reports.report import Fields, Report

_TOOL = Description[KnownTool](
    Field("name", "Name", lambda it: it.spec.name),
    Field("description", "Does", lambda it: it.spec.description),
    Field(None, "Kind", lambda it: _kind(it.spec)),
    Field("writes", None, lambda it: it.spec.writes),
    Field("read_only", None, lambda it: it.spec.read_only),
    Field("write_scope", None, lambda it: it.spec.write_scope),
    Field("checkpointable", None, lambda it: it.spec.checkpointable),
    Field("checkpoint_scope", None, lambda it: it.spec.checkpoint_scope),
    Field("side_effects", None, lambda it: it.spec.side_effects),
    Field("idempotent", None, lambda it: it.spec.idempotent),
    Field("unsafe", None, lambda it: it.spec.unsafe),
    Field("timeout", None, lambda it: it.spec.timeout),
    Field("source", "Source", lambda it: it.source),
)

_INPUT = Description[tuple[str, ToolParameter]](
    Field(None, "Name", lambda it: it[0]),
    Field(None, "Type", lambda it: it[1].type),
    Field(None, "Required", lambda it: it[1].required),
    Field(None, "Meaning", lambda it: it[1].description),
)


def tool_list(tools: Sequence[KnownTool], problems: Sequence[str]) -> Report:
    return Report(
        {"tools": _TOOL.list(tools)},
        (_TOOL.table("Tools", tools, ("Name", "Kind", "Source", "Does")),),
        warnings=tuple(problems),
    )


def tool_details(tool: KnownTool) -> Report:
    data, parameters = _TOOL.data(tool), tool.spec.parameters
    fields = Fields("Tool", tuple((name, shown(value)) for name, value in data.items()))
    inputs = _INPUT.table(
        "Inputs",
        parameters.items(),
        ("Name", "Type", "Required", "Meaning"),
        empty="The tool has no inputs.",
    )
    dumped = {name: parameter.model_dump(mode="json") for name, parameter in parameters.items()}
    return Report({**data, "parameters": dumped}, (fields, inputs))


def _kind(spec: ToolSpec) -> str:
    """Summarizes what a user must know before using the tool."""
    words = ["writes" if spec.writes else "reads" if spec.read_only else "acts"]
    words += ["unsafe"] if spec.unsafe else []
    return ", ".join([*words, *spec.side_effects])
