"""Commands that a plan file defines, with placeholders: tools, and validations."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from cleveragents.domain.errors import UsageError
from cleveragents.domain.names import IDENTIFIER, nearest
from cleveragents.domain.template import names_in, render
from cleveragents.domain.tool import (
    DEFAULT_TIMEOUT_SECONDS,
    MAX_TIMEOUT_SECONDS,
    CheckpointScope,
    ParameterType,
    ToolParameter,
    ToolSpec,
)
from cleveragents.domain.validation import ValidationDefinition, ValidationMode
from cleveragents.infrastructure.plan_file_section import Section, check_name

_KEYS = (
    "run",
    "description",
    "writes",
    "read_only",
    "write_scope",
    "checkpointable",
    "checkpoint_scope",
    "side_effects",
    "idempotent",
    "unsafe",
    "timeout",
)
_MARK = "\0"
_QUOTED = re.compile(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*\"""", re.DOTALL)


def read_tool(name: str, section: Section) -> ToolSpec:
    """Reads one tool. It writes unless it says that it only reads.

    Raises:
        PlanFileError: a declaration is wrong.
    """
    section.allow(_KEYS)
    section.need("run")
    read_only = section.flag("read_only", default=False)
    writes = section.flag("writes", default=not read_only)
    if read_only and writes:
        section.fail("a tool cannot be both `read_only` and `writes`", "writes")
    return ToolSpec(
        name=name,
        description=section.text("description"),
        parameters=_parameters(section, "a tool"),
        writes=writes,
        read_only=read_only,
        write_scope=section.optional_text("write_scope"),
        checkpointable=section.flag("checkpointable", default=writes),
        checkpoint_scope=section.choice("checkpoint_scope", CheckpointScope.SANDBOX).value,
        side_effects=section.texts("side_effects"),
        idempotent=section.flag("idempotent", default=False),
        unsafe=section.flag("unsafe", default=False),
        timeout=section.number(
            "timeout", DEFAULT_TIMEOUT_SECONDS, least=1, most=MAX_TIMEOUT_SECONDS
        ),
        run=section.text("run"),
    )


def read_validations(plan: Section, arguments: Collection[str]) -> Iterator[ValidationDefinition]:
    """Reads what judges the plan's result, none when the key is absent.

    Raises:
        PlanFileError: a declaration is wrong.
    """
    names: set[str] = set()
    for section in plan.items("validations", "validation") if "validations" in plan else ():
        section.allow(tuple(ValidationDefinition.model_fields))
        section.need("name", "run")
        name = section.plain_text("name")
        check_name(section, name, "a validation", "name")
        if name in names:
            section.fail(f"`{name}` is the name of an earlier validation", "name")
        names.add(name)
        for placeholder in _parameters(section, "a validation"):
            if placeholder not in arguments:
                section.fail(
                    f"the plan has no argument `{placeholder}`",
                    "run",
                    hint=nearest(placeholder, arguments),
                )
        yield ValidationDefinition(
            name=name,
            run=section.text("run"),
            mode=section.choice("mode", ValidationMode.REQUIRED),
            timeout=section.number(
                "timeout", DEFAULT_TIMEOUT_SECONDS, least=1, most=MAX_TIMEOUT_SECONDS
            ),
        )


def _parameters(section: Section, what: str) -> dict[str, ToolParameter]:
    command = section.text("run")
    if not command.strip():
        section.fail("`run` is empty", "run")
    try:
        names = names_in(command)
    except UsageError as error:
        section.fail(error.message, "run", hint=error.hint)
    for name in names:
        if IDENTIFIER.fullmatch(name) is None:
            section.fail(
                f"`{name}` cannot be an input of {what}",
                "run",
                hint="Use letters, digits and `_`; sandboxes are `$CLEVERAGENTS_RESOURCE_<NAME>`",
            )
    marked = render(command, dict.fromkeys(names, _MARK))
    if any(_MARK in quoted for quoted in _QUOTED.findall(marked)):
        section.fail(
            "a placeholder of `run` stands inside quotes",
            "run",
            hint="Leave the quotes away: a value always arrives as one word",
        )
    return {name: ToolParameter(type=ParameterType.STRING, description="") for name in names}
