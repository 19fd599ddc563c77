"""Checks the name, the arguments and the resources of a plan."""

from __future__ import annotations

from collections.abc import Mapping

from cleveragents.domain.names import NAME, PLAN_NAME, nearest
from cleveragents.domain.plans.plan_file import (
    ArgumentDefinition,
    Location,
    PlanDefinition,
    ResourceDefinition,
    RollbackPolicy,
    is_of_type,
)
from cleveragents.domain.plans.template import is_template
from cleveragents.domain.sandboxes.resource import STRATEGIES, SandboxStrategy
from cleveragents.domain.tools.tool import ParameterType, resource_variable
from cleveragents.infrastructure.plan_files.schema import unknown_key
from cleveragents.infrastructure.plan_files.yaml_document import YamlDocument

_ARGUMENT_TYPES = (ParameterType.STRING, ParameterType.INTEGER, ParameterType.BOOLEAN)


def check_plan(document: YamlDocument, plan: PlanDefinition) -> None:
    """Raises PlanFileError for the first problem outside of commands and steps."""
    if PLAN_NAME.fullmatch(plan.name) is None:
        raise document.error(
            ("name",), f"`{plan.name}` is not a valid `name`", hint="Example: `local/add-greeting`"
        )
    for name, argument in plan.arguments.items():
        check_name(document, ("arguments", name), name, "an argument")
        _check_argument(document, name, argument)
    _check_variables(document, plan.resources)
    for name, resource in plan.resources.items():
        check_name(document, ("resources", name), name, "a resource")
        check_plain(document, ("resources", name, "path"), resource.path)
        if resource.shared is not None:
            raise unknown_key(document, ("resources", name, "shared"))
        _check_strategy(document, ("resources", name, "strategy"), resource, plan.policy)


def check_name(document: YamlDocument, location: Location, name: str, what: str) -> None:
    """Raises PlanFileError unless the name can be written in placeholders and options."""
    if NAME.fullmatch(name) is None:
        raise document.error(
            location, f"`{name}` is not a valid name for {what}", hint="Example: `my-name`"
        )


def check_plain(document: YamlDocument, location: Location, text: str) -> None:
    """Raises PlanFileError for an empty text, and for a placeholder, which nothing would fill."""
    key = location[-1]
    if not text.strip():
        raise document.error(location, f"`{key}` is empty")
    if is_template(text):
        raise document.error(
            location,
            f"`{key}` cannot contain `{{{{ … }}}}`",
            hint="Placeholders work in the `with` of a step and the `run` of a tool",
        )


def _check_argument(document: YamlDocument, name: str, argument: ArgumentDefinition) -> None:
    kind = argument.type
    if kind not in _ARGUMENT_TYPES:
        raise document.error(
            ("arguments", name, "type"),
            f"`type` cannot be `{kind}`",
            hint=nearest(kind, _ARGUMENT_TYPES),
        )
    if argument.default is not None and not is_of_type(argument.default, kind):
        raise document.error(
            ("arguments", name, "default"), f"the default of `{name}` must be of type {kind}"
        )


def _check_variables(document: YamlDocument, resources: Mapping[str, ResourceDefinition]) -> None:
    """Refuses two resources whose sandboxes tools would find in the same variable."""
    variables: dict[str, str] = {}
    for name in resources:
        variable = resource_variable(name)
        other = variables.setdefault(variable, name)
        if other != name:
            raise document.error(
                ("resources", name),
                f"`{name}` and `{other}` would both use the variable `{variable}`",
                hint="Rename one of them",
            )


def _check_strategy(
    document: YamlDocument, location: Location, resource: ResourceDefinition, policy: RollbackPolicy
) -> None:
    strategy, possible = resource.chosen_strategy(), STRATEGIES[resource.type]
    if strategy not in possible:
        raise document.error(
            location,
            f"a `{resource.type}` resource cannot have the strategy `{strategy}`",
            hint=f"Use {' or '.join(f'`{each}`' for each in possible)}",
        )
    if strategy is SandboxStrategy.NONE and policy.require_sandbox:
        raise document.error(
            location,
            "the strategy `none` isolates nothing, but the plan requires sandboxes",
            hint="Remove the strategy, or set `policy.require_sandbox: false`",
        )
