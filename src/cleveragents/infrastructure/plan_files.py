"""Reads plan files: `docs/reference/plan-file.md` describes what they may say.

What is not known is refused, never ignored: a plan that loads is a plan that means what
it says.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias, cast

from cleveragents.application.ports import PlanFiles
from cleveragents.domain.names import PLAN_NAME, nearest
from cleveragents.domain.plan_file import (
    ArgumentDefinition,
    PlanDefinition,
    ResourceDefinition,
    RollbackPolicy,
    check_templates,
    default_resources,
    is_of_type,
)
from cleveragents.domain.resource import (
    STRATEGIES,
    ResourceType,
    SandboxStrategy,
    default_strategy,
)
from cleveragents.domain.tool import ParameterType, ToolSpec, resource_variable
from cleveragents.infrastructure.plan_file_section import Section, check_name
from cleveragents.infrastructure.plan_file_steps import Steps
from cleveragents.infrastructure.plan_file_tools import read_tool, read_validations
from cleveragents.infrastructure.tools.backend import BUILTIN_NAMES
from cleveragents.infrastructure.yaml_document import YamlDocument, read_document

_PLAN_KEYS = (
    *("name", "description", "arguments", "resources"),
    *("tools", "policy", "validations", "steps"),
)
Tools: TypeAlias = dict[str, ToolSpec]
_ARGUMENT_TYPES = (ParameterType.STRING, ParameterType.INTEGER, ParameterType.BOOLEAN)


class YamlPlanFiles(PlanFiles):
    """Plan files in YAML, checked whole before anything of them runs."""

    def __init__(self, tools: Mapping[str, ToolSpec]) -> None:
        self._tools = tools

    def load(self, path: Path) -> PlanDefinition:
        document = read_document(path)
        plan = Section(document, (), document.data, "a plan")
        plan.allow(_PLAN_KEYS)
        plan.need("name", "steps")
        policy = _policy(plan)
        resources = dict(_resources(plan, policy)) or default_resources()
        tools = dict(self._own_tools(plan))
        arguments = dict(_arguments(plan))
        definition = PlanDefinition(
            name=plan.named("name", PLAN_NAME, "local/add-greeting"),
            description=plan.text("description"),
            arguments=arguments,
            resources=resources,
            tools=tools,
            policy=policy,
            validations=list(read_validations(plan, arguments)),
            # Not merged into one: a package's tool is imported when a step names it.
            steps=Steps(resources, ChainMap(tools, cast("Tools", self._tools)), policy).read(
                plan, set()
            ),
        )
        _refuse_unknown_names(document, definition)
        return definition

    def _own_tools(self, plan: Section) -> Iterator[tuple[str, ToolSpec]]:
        for name, section in plan.entries("tools", "the tool"):
            if name in BUILTIN_NAMES:
                section.fail(f"`{name}` is the name of a built-in tool", hint="Choose another name")
            check_name(section, name, "a tool")
            yield name, read_tool(name, section)


def _refuse_unknown_names(document: YamlDocument, definition: PlanDefinition) -> None:
    for problem in check_templates(definition, definition.arguments):
        raise document.error(problem.location, problem.message, hint=problem.hint)


def _arguments(plan: Section) -> Iterator[tuple[str, ArgumentDefinition]]:
    for name, section in plan.entries("arguments", "the argument"):
        check_name(section, name, "an argument")
        section.allow(("type", "default", "description"))
        kind = section.choice("type", ParameterType.STRING)
        if kind not in _ARGUMENT_TYPES:
            section.fail(f"`type` cannot be `{kind}`", "type", hint=nearest(kind, _ARGUMENT_TYPES))
        default = section.get("default")
        if isinstance(default, bool):
            default = str(default).lower()
        elif isinstance(default, int):
            default = str(default)
        if default is not None and not (isinstance(default, str) and is_of_type(default, kind)):
            section.fail(f"the default of `{name}` must be of type {kind}", "default")
        yield (
            name,
            ArgumentDefinition(type=kind, default=default, description=section.text("description")),
        )


def _resources(plan: Section, policy: RollbackPolicy) -> Iterator[tuple[str, ResourceDefinition]]:
    variables: dict[str, str] = {}
    for name, section in plan.entries("resources", "the resource"):
        check_name(section, name, "a resource")
        other = variables.setdefault(resource_variable(name), name)
        if other != name:
            section.fail(
                f"`{name}` and `{other}` would both be `{resource_variable(name)}` for tools",
                hint="Rename one of them",
            )
        section.allow(("type", "path", "strategy"))
        section.need("type", "path")
        kind = section.choice("type", ResourceType.GIT_CHECKOUT)
        yield (
            name,
            ResourceDefinition(
                type=kind,
                path=section.plain_text("path"),
                strategy=_strategy(section, kind, policy),
            ),
        )


def _strategy(section: Section, kind: ResourceType, policy: RollbackPolicy) -> SandboxStrategy:
    strategy = section.choice("strategy", default_strategy(kind))
    if strategy not in STRATEGIES[kind]:
        possible = " or ".join(f"`{each}`" for each in STRATEGIES[kind])
        section.fail(
            f"a `{kind}` resource cannot have the strategy `{strategy}`",
            "strategy",
            hint=f"Use {possible}",
        )
    if strategy is SandboxStrategy.NONE and policy.require_sandbox:
        section.fail(
            "the strategy `none` isolates nothing, and the plan requires sandboxes",
            "strategy",
            hint="Leave the strategy out, or set `policy.require_sandbox: false`",
        )
    return strategy


def _policy(plan: Section) -> RollbackPolicy:
    default = RollbackPolicy()
    if "policy" not in plan:
        return default
    section = plan.inside("policy")
    section.allow(tuple(RollbackPolicy.model_fields))
    return RollbackPolicy(
        on_failure=section.choice("on_failure", default.on_failure),
        require_checkpoints=section.flag(
            "require_checkpoints", default=default.require_checkpoints
        ),
        require_sandbox=section.flag("require_sandbox", default=default.require_sandbox),
        max_retries_per_step=section.number("max_retries_per_step", 0, least=0, most=100),
        allow_unsafe_tools=section.flag("allow_unsafe_tools", default=False),
    )
