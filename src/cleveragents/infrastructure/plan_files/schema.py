"""The fields of a plan file: the records say what is allowed, and each error gets its line.

msgspec stops at the first error and does not say under which key it is. So the same types are
looked through here, and msgspec converts only what has no problem left, and single values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from types import NoneType
from typing import Any, NamedTuple, get_args, get_origin

import msgspec

from cleveragents.domain.decisions.decision import RECORD_DECISION
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
from cleveragents.domain.plans.subplan import SPAWN_SUBPLAN
from cleveragents.domain.plans.validation import Requirement, ValidationDefinition
from cleveragents.domain.record import JsonValue, Record
from cleveragents.domain.tools.tool import READS_AND_WRITES, ToolSpec
from cleveragents.infrastructure.plan_files.yaml_document import YamlDocument

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
    data = _completed(document)
    # An unknown key explains a missing one, so it goes first.
    problems = sorted(
        _problems(PlanDefinition, data, ()),
        key=lambda found: (found.message is not None, document.line(found.location)),
    )
    for problem in problems:
        if problem.message is None:
            raise unknown_key(document, problem.location)
        raise document.error(problem.location, problem.message, hint=problem.hint)
    return PlanDefinition.model_validate(data)


def _completed(document: YamlDocument) -> JsonValue:
    """Returns the data with what a file leaves out."""
    data = document.data
    if not isinstance(data, dict):
        return data
    complete = {**data, **_each(data, "steps", _step), **_each(data, "arguments", _argument)}
    if isinstance(tools := data.get("tools"), dict):
        complete["tools"] = {name: _tool(document, name, tool) for name, tool in tools.items()}
    return complete


def _each(
    data: Mapping[str, JsonValue], key: str, complete: Callable[[dict[str, JsonValue]], JsonValue]
) -> dict[str, JsonValue]:
    """Completes the mappings in the list or the mapping that `data` has under the key."""

    def completed(item: JsonValue) -> JsonValue:
        return complete(item) if isinstance(item, dict) else item

    match data.get(key):
        case list(items):
            return {key: [completed(item) for item in items]}
        case dict(items):
            return {key: {name: completed(item) for name, item in items.items()}}
        case _:
            return {}


def _argument(argument: dict[str, JsonValue]) -> JsonValue:
    """Accepts `default: 3` and `default: true`, as a file spells them without quotes."""
    default = argument.get("default")
    if isinstance(default, int):
        text = str(default)
        return {**argument, "default": text.lower() if isinstance(default, bool) else text}
    return argument


def _step(given: dict[str, JsonValue]) -> JsonValue:
    """Adds a step's name, and the tool of decisions and subplans."""
    step = {**given}
    if step.get("tool") == SPAWN_SUBPLAN and "subplans" not in step:
        step["subplans"] = step.pop("with", None) or {}
    decision, subplans, name = step.get("decision"), step.get("subplans"), step.get("tool")
    if decision is not None:
        name = decision.get("question") if isinstance(decision, dict) else None
        step.setdefault("tool", RECORD_DECISION)
    elif subplans is not None:
        plans = subplans.get("plans") if isinstance(subplans, dict) else None
        name = "subplans " + ", ".join(plans if isinstance(plans, dict) else ())
        step.setdefault("tool", SPAWN_SUBPLAN)
    step.setdefault("name", str(name))
    if isinstance(decision, dict):
        step["decision"] = {**decision, **_each(decision, "options", _with_steps)}
    if isinstance(subplans := step.get("subplans"), dict):
        step["subplans"] = {**subplans, **_each(subplans, "plans", _with_steps)}
    return step


def _with_steps(data: dict[str, JsonValue]) -> JsonValue:
    return {**data, **_each(data, "steps", _step)}


def _tool(document: YamlDocument, name: str, tool: JsonValue) -> JsonValue:
    if not isinstance(tool, dict):
        return tool
    for key in _NOT_IN_A_FILE[ToolSpec]:
        if key in tool:
            raise unknown_key(document, ("tools", name, key))
    if tool.get("read_only") is True and tool.get("writes") is True:
        raise document.error(("tools", name, "read_only"), READS_AND_WRITES)
    return {"writes": tool.get("read_only") is not True, **tool, "name": name}


class _Problem(NamedTuple):
    """What is wrong at one place of the file."""

    location: Location
    message: str | None
    """None: the key is unknown."""
    hint: str | None = None


def _problems(kind: Any, value: JsonValue, location: Location) -> Iterator[_Problem]:
    """Yields what is wrong with a value that should have a type, and with the values in it."""
    inner = get_args(kind)
    if NoneType in inner:
        if value is not None:
            yield from _problems(inner[0], value, location)
    elif get_origin(kind) is dict or _is_record(kind):
        if not isinstance(value, dict):
            yield _wrong(location, "must be a mapping of keys and values")
        elif _is_record(kind):
            yield from _problems_of_record(kind, value, location)
        else:
            for key, item in value.items():
                yield from _problems(inner[1], item, (*location, key))
    elif get_origin(kind) is list:
        if not isinstance(value, list):
            yield _wrong(location, "must be a list")
        else:
            for index, item in enumerate(value):
                yield from _problems(inner[0], item, (*location, index))
    else:
        try:
            msgspec.convert(value, kind)
        except msgspec.ValidationError:
            yield _wrong(location, *_wrong_value(kind, value))


def _problems_of_record(
    record: type[Record], given: Mapping[str, JsonValue], location: Location
) -> Iterator[_Problem]:
    fields = {field.encode_name: field for field in msgspec.structs.fields(record)}
    for key in given:
        if key not in fields:
            yield _Problem((*location, key), None)
    for key, field in fields.items():
        if key in given:
            yield from _problems(field.type, given[key], (*location, key))
        elif field.required:
            yield _Problem((*location, key), f"{_name_of(location)} needs `{key}`")


def _is_record(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Record)


def _wrong(location: Location, said: str, hint: str | None = None) -> _Problem:
    return _Problem(location, f"{_name_of(location)} {said}", hint)


def _wrong_value(kind: Any, value: JsonValue) -> tuple[str, str | None]:
    """Returns what is wrong with a text or a number, and a hint."""
    plain, *limits = get_args(kind) or (kind,)
    if issubclass(plain, StrEnum):
        return f"cannot be `{value}`", nearest(str(value), plain)
    if plain is str:
        return "must be text", "Put the value in quotes"
    if plain is bool:
        return "must be `true` or `false`", None
    if isinstance(value, bool) or not isinstance(value, (int, float) if plain is float else int):
        return f"must be a {'whole ' if plain is int else ''}number", None
    [limit] = limits
    return (
        f"must be at least {limit.ge:g}"
        if not value >= limit.ge
        else f"must be at most {limit.le:g}"
    ), None


def unknown_key(
    document: YamlDocument, location: Location, known: Sequence[str] | None = None
) -> PlanFileError:
    """Returns the error for a key that the mapping around it does not have."""
    key = str(location[-1])
    name, record = _described(location[:-1])
    if known is None:
        fields = record.__struct_encode_fields__
        known = [field for field in fields if field not in _NOT_IN_A_FILE.get(record, ())]
    return document.error(location, f"{name} has no key `{key}`", hint=nearest(key, known))


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
        if key in _SECTIONS and key in record.__struct_encode_fields__:
            record = _SECTIONS[key]
        elif key in _COLLECTIONS and key in record.__struct_encode_fields__ and parts:
            noun, record = _COLLECTIONS[key]
            entry = parts.pop(0)
            name = f"{noun} {entry + 1}" if isinstance(entry, int) else f"the {noun} `{entry}`"
        elif parts and isinstance(parts[0], int):
            name = f"item {int(parts.pop(0)) + 1} of `{key}`"
    return name, record
