"""The fields of a plan file: pydantic checks them, and each error gets the line it is about."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import JsonValue, ValidationError

from cleveragents.domain.errors import PlanFileError
from cleveragents.domain.names import nearest
from cleveragents.domain.plans.plan_file import (
    ArgumentDefinition,
    DecisionDefinition,
    Location,
    OptionDefinition,
    PlanDefinition,
    ResourceDefinition,
    RollbackPolicy,
    StepDefinition,
    SubplanDefinition,
    SubplansDefinition,
)
from cleveragents.domain.plans.validation import Requirement, ValidationDefinition
from cleveragents.domain.record import Record
from cleveragents.domain.tools.tool import ToolSpec
from cleveragents.infrastructure.plan_files.yaml_document import YamlDocument

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_SECTIONS: Mapping[str, type[Record]] = {
    "policy": RollbackPolicy,
    "decision": DecisionDefinition,
    "subplans": SubplansDefinition,
}
_COLLECTIONS: Mapping[str, tuple[str, type[Record]]] = {
    "arguments": ("argument", ArgumentDefinition),
    "resources": ("resource", ResourceDefinition),
    "tools": ("tool", ToolSpec),
    "validations": ("validation", ValidationDefinition),
    "definition_of_done": ("criterion", Requirement),
    "invariants": ("invariant", Requirement),
    "steps": ("step", StepDefinition),
    "options": ("option", OptionDefinition),
    "plans": ("subplan", SubplanDefinition),
}
_PLAN: type[Record] = PlanDefinition
_NOT_IN_A_FILE: Mapping[type[Record], tuple[str, ...]] = {
    ToolSpec: ("name", "parameters"),
    ResourceDefinition: ("shared",),
}
"""Fields of records that no file has: a tool's follow from its key and `run`, a resource's from
the other resources."""


def validated(document: YamlDocument) -> PlanDefinition:
    """Returns the plan as records; tools have no parameters yet.

    Raises:
        PlanFileError: a key is unknown or missing, or a value has the wrong type.
    """
    try:
        # As JSON, because pydantic's strict mode refuses the text of an enum in Python objects.
        return PlanDefinition.model_validate_json(
            json.dumps(_completed(document)), strict=True, by_alias=True, by_name=False
        )
    except ValidationError as error:
        raise _first_problem(document, error) from error


def _completed(document: YamlDocument) -> JsonValue:
    """Returns the data with the fields of tools that a file leaves out."""
    data = document.data
    tools = data.get("tools") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(tools, dict):
        return data
    return {**data, "tools": {name: _tool(document, name, tool) for name, tool in tools.items()}}


def _tool(document: YamlDocument, name: str, tool: JsonValue) -> JsonValue:
    if not isinstance(tool, dict):
        return tool
    for key in _NOT_IN_A_FILE[ToolSpec]:
        if key in tool:
            raise unknown_key(document, ("tools", name, key))
    return {"writes": tool.get("read_only") is not True, **tool, "name": name}


def _first_problem(document: YamlDocument, error: ValidationError) -> PlanFileError:
    """Returns the problem to report: an unknown key explains a missing one, so it goes first."""
    details = min(
        error.errors(include_url=False),
        key=lambda found: (found["type"] != "extra_forbidden", document.line(found["loc"])),
    )
    location = details["loc"]
    match details["type"]:
        case "extra_forbidden":
            return unknown_key(document, location)
        case "missing":
            problem, hint = f"{_name_of(location[:-1])} needs `{location[-1]}`", None
        case "value_error":
            problem, hint = str(details.get("ctx", {}).get("error")), None
        case _:
            said, hint = _wrong_value(details)
            problem = f"{_name_of(location)} {said}"
    return document.error(location, problem, hint=hint)


def unknown_key(
    document: YamlDocument, location: Location, known: Sequence[str] | None = None
) -> PlanFileError:
    """Returns the error for a key that the mapping around it does not have."""
    key = str(location[-1])
    name, record = _described(location[:-1])
    if known is None:
        fields = [field.alias or name for name, field in record.model_fields.items()]
        known = [field for field in fields if field not in _NOT_IN_A_FILE.get(record, ())]
    return document.error(location, f"{name} has no key `{key}`", hint=nearest(key, known))


def _wrong_value(details: ErrorDetails) -> tuple[str, str | None]:
    """Returns what is wrong with a value, and a hint."""
    context = details.get("ctx", {})
    match details["type"]:
        case "enum":
            choices = re.findall(r"'([^']+)'", context["expected"])
            return f"cannot be `{details['input']}`", nearest(str(details["input"]), choices)
        case "string_type":
            return "must be text", "Put the value in quotes"
        case "bool_type":
            return "must be `true` or `false`", None
        case "int_type":
            return "must be a whole number", None
        case "float_type":
            return "must be a number", None
        case "greater_than_equal":
            return f"must be at least {context['ge']:g}", None
        case "less_than_equal":
            return f"must be at most {context['le']:g}", None
        case "list_type":
            return "must be a list", None
        case _:
            return "must be a mapping of keys and values", None


def _name_of(location: Location) -> str:
    """Returns how a message names a location: `a plan`, `step 2`, `the tool x`, or its key."""
    return _described(location)[0]


def _described(location: Location) -> tuple[str, type[Record]]:
    """Returns the name of a location, and the record of the mapping there or around it."""
    name, record = "a plan", _PLAN
    parts = list(location)
    while parts:
        key = str(parts.pop(0))
        name = f"`{key}`"
        if key in _SECTIONS and key in record.model_fields:
            record = _SECTIONS[key]
        elif key in _COLLECTIONS and key in record.model_fields and parts:
            noun, record = _COLLECTIONS[key]
            entry = parts.pop(0)
            name = f"{noun} {entry + 1}" if isinstance(entry, int) else f"the {noun} `{entry}`"
        elif parts and isinstance(parts[0], int):
            name = f"item {int(parts.pop(0)) + 1} of `{key}`"
    return name, record
