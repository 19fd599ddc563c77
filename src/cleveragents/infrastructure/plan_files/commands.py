"""Checks the shell commands of a plan: its own tools, its validations and what these check."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from cleveragents.domain.errors import UsageError
from cleveragents.domain.names import IDENTIFIER, nearest
from cleveragents.domain.plans.plan_file import Location, PlanDefinition
from cleveragents.domain.plans.template import names_in, render
from cleveragents.domain.plans.validation import Requirement, ValidationMode
from cleveragents.domain.tools.tool import CheckpointScope, ParameterType, ToolParameter, ToolSpec
from cleveragents.infrastructure.plan_files.checks import check_name, check_plain
from cleveragents.infrastructure.plan_files.yaml_document import YamlDocument
from cleveragents.infrastructure.tools.registry import BUILTIN_NAMES

_MARK = "\0"
_QUOTED = re.compile(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*\"""", re.DOTALL)


def own_tools(document: YamlDocument, tools: Mapping[str, ToolSpec]) -> dict[str, ToolSpec]:
    """Returns the tools that the plan defines, with the placeholders of `run` as parameters.

    Raises:
        PlanFileError: a name, a command or a declaration is wrong.
    """
    return {name: _own_tool(document, name, tool) for name, tool in tools.items()}


def _own_tool(document: YamlDocument, name: str, tool: ToolSpec) -> ToolSpec:
    location = ("tools", name)
    if name in BUILTIN_NAMES:
        raise document.error(
            location, f"`{name}` is the name of a built-in tool", hint="Choose another name"
        )
    check_name(document, location, name, "a tool")
    if tool.run is None:
        raise document.error(location, f"the tool `{name}` needs `run`")
    if tool.checkpoint_scope not in list(CheckpointScope):
        raise document.error(
            (*location, "checkpoint_scope"),
            f"`checkpoint_scope` cannot be `{tool.checkpoint_scope}`",
            hint=nearest(tool.checkpoint_scope, CheckpointScope),
        )
    if not all(effect.strip() for effect in tool.side_effects):
        raise document.error((*location, "side_effects"), "a text of `side_effects` is empty")
    inputs = _inputs(document, (*location, "run"), tool.run, "a tool")
    parameter = ToolParameter(type=ParameterType.STRING, description="")
    return replace(tool, parameters=dict.fromkeys(inputs, parameter))


def check_validations(document: YamlDocument, plan: PlanDefinition) -> None:
    """Raises PlanFileError for the first problem in the validations and what they check."""
    _refuse_empty(document, "validations", plan.validations)
    names: set[str] = set()
    for index, validation in enumerate(plan.validations):
        location, name = ("validations", index), validation.name
        check_plain(document, (*location, "name"), name)
        check_name(document, (*location, "name"), name, "a validation")
        if name in names:
            raise document.error(
                (*location, "name"), f"an earlier validation is already called `{name}`"
            )
        names.add(name)
        for placeholder in _inputs(document, (*location, "run"), validation.run, "a validation"):
            if placeholder not in plan.arguments:
                raise document.error(
                    (*location, "run"),
                    f"the plan has no argument `{placeholder}`",
                    hint=nearest(placeholder, plan.arguments),
                )
    _check_requirements(document, "definition_of_done", plan.definition_of_done, plan)
    _check_requirements(document, "invariants", plan.invariants, plan)


def _check_requirements(
    document: YamlDocument, key: str, requirements: Sequence[Requirement], plan: PlanDefinition
) -> None:
    _refuse_empty(document, key, requirements)
    required = [item.name for item in plan.validations if item.mode is ValidationMode.REQUIRED]
    for index, requirement in enumerate(requirements):
        check_plain(document, (key, index, "text"), requirement.text)
        if requirement.validation not in (None, *required):
            raise document.error(
                (key, index, "validation"),
                f"there is no required validation `{requirement.validation}`",
                hint=nearest(requirement.validation or "", required),
            )


def _refuse_empty(document: YamlDocument, key: str, items: Sequence[object]) -> None:
    if isinstance(document.data, dict) and key in document.data and not items:
        raise document.error((key,), f"`{key}` is empty")


def _inputs(document: YamlDocument, location: Location, command: str, what: str) -> list[str]:
    """Returns the names of the command's placeholders."""
    if not command.strip():
        raise document.error(location, "`run` is empty")
    try:
        names = names_in(command)
    except UsageError as error:
        raise document.error(location, error.message, hint=error.hint) from error
    for name in names:
        if IDENTIFIER.fullmatch(name) is None:
            raise document.error(
                location,
                f"`{name}` is not a valid input of {what}",
                hint="Use letters, digits and `_`; sandboxes are `$CLEVERAGENTS_RESOURCE_<NAME>`",
            )
    marked = render(command, dict.fromkeys(names, _MARK))
    if any(_MARK in quoted for quoted in _QUOTED.findall(marked)):
        raise document.error(
            location,
            "a placeholder of `run` is inside quotes",
            hint="Remove the quotes: each value is passed as one word",
        )
    return names
