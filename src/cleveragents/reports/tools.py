"""Tools: what they declare, and what they are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from cleveragents.domain.tool import KnownTool, ToolParameter, ToolSpec
from cleveragents.reports.report import Fields, Report, Table


def tool_list(tools: Sequence[KnownTool], problems: Sequence[str]) -> Report:
    rows = tuple(
        (tool.spec.name, _kind(tool.spec), tool.source, tool.spec.description) for tool in tools
    )
    return Report(
        {"tools": [_data(tool) for tool in tools]},
        (Table("Tools", ("Name", "Kind", "Source", "Does"), rows),),
        warnings=tuple(problems),
    )


def tool_details(tool: KnownTool) -> Report:
    spec = tool.spec
    data = _data(tool)
    fields = Fields("Tool", tuple((name, _text(value)) for name, value in data.items()))
    rows = tuple(
        (name, parameter.type.value, _need(parameter), parameter.description)
        for name, parameter in spec.parameters.items()
    )
    inputs = Table("Inputs", ("Name", "Type", "Needed", "Meaning"), rows, empty="It has none.")
    parameters = {
        name: parameter.model_dump(mode="json") for name, parameter in spec.parameters.items()
    }
    return Report({**data, "parameters": parameters}, (fields, inputs))


def _data(tool: KnownTool) -> dict[str, object]:
    spec = tool.spec
    return {
        "name": spec.name,
        "description": spec.description,
        "writes": spec.writes,
        "read_only": spec.read_only,
        "write_scope": spec.write_scope,
        "checkpointable": spec.checkpointable,
        "checkpoint_scope": spec.checkpoint_scope,
        "side_effects": spec.side_effects,
        "idempotent": spec.idempotent,
        "unsafe": spec.unsafe,
        "timeout": spec.timeout,
        "source": tool.source,
    }


def _kind(spec: ToolSpec) -> str:
    """Says in a few words what has to be known before it is used."""
    words = ["writes" if spec.writes else "reads" if spec.read_only else "acts"]
    words += ["unsafe"] if spec.unsafe else []
    return ", ".join([*words, *spec.side_effects])


def _need(parameter: ToolParameter) -> str:
    return "yes" if parameter.required else "no"


def _text(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(cast("list[str]", value))
        case _:
            return str(value)
