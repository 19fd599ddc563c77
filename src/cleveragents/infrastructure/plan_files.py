"""Reads plan files: `docs/reference/plan-file.md` describes what they may say.

What the full format knows and this version cannot run is refused by name, never
ignored: a plan that loads is a plan that means what it says.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias, cast

from pydantic import JsonValue

from cleveragents.application.ports import PlanFiles
from cleveragents.domain.names import IDENTIFIER, NAME, PLAN_NAME, nearest
from cleveragents.domain.plan_file import (
    ArgumentDefinition,
    PlanDefinition,
    ResourceDefinition,
    RollbackPolicy,
    StepDefinition,
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
from cleveragents.domain.template import is_template
from cleveragents.domain.tool import (
    CheckpointScope,
    ParameterType,
    ToolSpec,
    resource_variable,
    validate_input,
)
from cleveragents.infrastructure.plan_file_section import Section
from cleveragents.infrastructure.plan_file_tools import read_tool
from cleveragents.infrastructure.tools.backend import BUILTIN_NAMES
from cleveragents.infrastructure.yaml_document import YamlDocument, read_document

_PLAN_KEYS = ("name", "description", "arguments", "resources", "tools", "policy", "steps")
_STEP_KEYS = ("name", "tool", "with", "resource", "save_as")
_LATER_STEPS = {"decision": "`decision` steps", "subplans": "`subplans` steps"}
_LATER_TOOLS = ("record-decision", "spawn-subplan")
Tools: TypeAlias = dict[str, ToolSpec]
_ARGUMENT_TYPES = (ParameterType.STRING, ParameterType.INTEGER, ParameterType.BOOLEAN)


class YamlPlanFiles(PlanFiles):
    """Plan files in YAML, checked whole before anything of them runs."""

    def __init__(self, tools: Mapping[str, ToolSpec]) -> None:
        self._tools = tools

    def load(self, path: Path) -> PlanDefinition:
        document = read_document(path)
        plan = Section(document, (), document.data, "a plan")
        plan.allow(_PLAN_KEYS, {"validations": "`validations`"})
        plan.need("name", "steps")
        policy = _policy(plan)
        resources = dict(_resources(plan, policy)) or default_resources()
        tools = dict(self._own_tools(plan))
        definition = PlanDefinition(
            name=plan.named("name", PLAN_NAME, "local/add-greeting"),
            description=plan.text("description"),
            arguments=dict(_arguments(plan)),
            resources=resources,
            tools=tools,
            policy=policy,
            # Not merged into one: a package's tool is imported when a step names it.
            steps=list(_steps(plan, resources, ChainMap(tools, cast("Tools", self._tools)))),
        )
        _refuse_unknown_names(document, definition)
        return definition

    def _own_tools(self, plan: Section) -> Iterator[tuple[str, ToolSpec]]:
        for name, section in plan.entries("tools", "the tool"):
            if name in BUILTIN_NAMES or name in _LATER_TOOLS:
                section.fail(f"`{name}` is the name of a built-in tool", hint="Choose another name")
            _check_name(section, name, "a tool")
            yield name, read_tool(name, section)


def _refuse_unknown_names(document: YamlDocument, definition: PlanDefinition) -> None:
    for problem in check_templates(definition, definition.arguments):
        raise document.error(problem.location, problem.message, hint=problem.hint)


def _check_name(section: Section, name: str, what: str) -> None:
    if NAME.fullmatch(name) is None:
        section.fail(f"`{name}` cannot be the name of {what}", hint="Write it like `my-name`")


def _arguments(plan: Section) -> Iterator[tuple[str, ArgumentDefinition]]:
    for name, section in plan.entries("arguments", "the argument"):
        _check_name(section, name, "an argument")
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
        _check_name(section, name, "a resource")
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
    section.allow(("on_failure", "require_checkpoints", "require_sandbox", "max_retries_per_step"))
    if section.number("max_retries_per_step", 0, least=0, most=100):
        section.not_yet("retries (`max_retries_per_step`)", "max_retries_per_step")
    return RollbackPolicy(
        on_failure=section.choice("on_failure", default.on_failure),
        require_checkpoints=section.flag(
            "require_checkpoints", default=default.require_checkpoints
        ),
        require_sandbox=section.flag("require_sandbox", default=default.require_sandbox),
    )


def _steps(
    plan: Section, resources: Mapping[str, ResourceDefinition], tools: Mapping[str, ToolSpec]
) -> Iterator[StepDefinition]:
    saved: set[str] = set()
    for section in plan.items("steps", "step"):
        section.allow(_STEP_KEYS, _LATER_STEPS)
        section.need("tool")
        spec = _tool(section, tools)
        save_as = None
        if "save_as" in section:
            save_as = section.named("save_as", IDENTIFIER, "version")
            if save_as in saved:
                section.fail(f"`{save_as}` is saved by an earlier step already", "save_as")
            saved.add(save_as)
        yield StepDefinition.model_validate(
            {
                "name": section.plain_text("name", spec.name),
                "tool": spec.name,
                "with": _input(section, spec),
                "resource": _resource(section, resources, spec),
                "save_as": save_as,
            }
        )


def _tool(section: Section, tools: Mapping[str, ToolSpec]) -> ToolSpec:
    name = section.text("tool")
    if name in _LATER_TOOLS:
        section.not_yet(f"`{name}` steps", "tool")
    if name not in tools:
        section.fail(f"there is no tool `{name}`", "tool", hint=nearest(name, tools))
    return tools[name]


def _resource(
    section: Section, resources: Mapping[str, ResourceDefinition], spec: ToolSpec
) -> str | None:
    name = section.optional_text("resource")
    if name is not None and name not in resources:
        section.fail(
            f"the plan has no resource `{name}`", "resource", hint=nearest(name, resources)
        )
    if spec.checkpoint_scope == CheckpointScope.TRANSACTION:
        return _database(section, resources, spec, name)
    return name


def _database(
    section: Section,
    resources: Mapping[str, ResourceDefinition],
    spec: ToolSpec,
    name: str | None,
) -> str:
    """Returns the database the tool runs on: the one that is named, or the only one."""
    databases = [each for each, one in resources.items() if one.type is ResourceType.SQLITE]
    if name is None and len(databases) == 1:
        return databases[0]
    if name is None or name not in databases:
        named = "" if name is None else f", and `{name}` is none"
        section.fail(
            f"`{spec.name}` runs on a `sqlite` resource{named}",
            None if name is None else "resource",
            hint=nearest(name or "", databases),
        )
    return name


def _input(section: Section, spec: ToolSpec) -> dict[str, JsonValue]:
    """Reads `with`; text that holds placeholders is judged once they are filled."""
    given = section.inside("with").data if "with" in section else {}
    for problem in validate_input(spec, given):
        parameter = spec.parameters.get(problem.name)
        if parameter is not None and _is_open(given.get(problem.name), parameter.type):
            continue
        inputs = section.inside("with") if problem.name in given else section
        inputs.fail(problem.message, problem.name, hint=problem.hint)
    return given


def _is_open(value: JsonValue, kind: ParameterType) -> bool:
    """Says whether the value is of its type and holds a placeholder."""
    if kind is ParameterType.STRING:
        return isinstance(value, str) and is_template(value)
    if kind is ParameterType.LIST and isinstance(value, list):
        texts = [item for item in value if isinstance(item, str)]
        return texts == value and any(is_template(text) for text in texts)
    return False
