"""What a plan file says, once read: names are those of the file.

Reading YAML, line numbers and nearest names are in
`cleveragents.infrastructure.plan_files`; what is here is already valid.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum

from pydantic import Field, JsonValue

from cleveragents.domain.errors import UsageError
from cleveragents.domain.names import nearest
from cleveragents.domain.record import Record
from cleveragents.domain.resource import ResourceType, SandboxStrategy, default_strategy
from cleveragents.domain.template import names_in, value_of
from cleveragents.domain.tool import ParameterType, ToolSpec


class OnFailure(StrEnum):
    """What happens to the sandbox when a step fails."""

    ROLLBACK_STEP = "rollback-step"
    ROLLBACK_PLAN = "rollback-plan"
    KEEP = "keep"


class RollbackPolicy(Record):
    """The plan's own rules about failure and checkpoints."""

    on_failure: OnFailure = OnFailure.ROLLBACK_STEP
    require_checkpoints: bool = True
    """A write that cannot be checkpointed is not done."""
    require_sandbox: bool = True
    """No resource may have the strategy `none`."""


class ResourceDefinition(Record):
    """Something the plan may change."""

    type: ResourceType
    path: str
    strategy: SandboxStrategy | None = None
    """None stands for what the type gets unasked."""

    @property
    def chosen_strategy(self) -> SandboxStrategy:
        return self.strategy or default_strategy(self.type)


class ArgumentDefinition(Record):
    """A value the user gives with `--arg`."""

    type: ParameterType = ParameterType.STRING
    default: str | None = None
    """Without one the user has to give a value."""
    description: str = ""


class StepDefinition(Record):
    """One entry of the plan: a tool and its input."""

    name: str
    tool: str
    input: dict[str, JsonValue] = Field(alias="with")
    resource: str | None = None
    save_as: str | None = None

    model_config = {"frozen": True, "extra": "forbid", "populate_by_name": True}


class PlanDefinition(Record):
    """A whole plan file."""

    name: str
    description: str = ""
    arguments: dict[str, ArgumentDefinition] = {}
    resources: dict[str, ResourceDefinition]
    tools: dict[str, ToolSpec] = {}
    policy: RollbackPolicy = RollbackPolicy()
    steps: list[StepDefinition]


Location = tuple[str | int, ...]
"""Where in the file: keys and list indices from the top."""


class TemplateProblem(Record):
    """A placeholder that could not be filled."""

    location: Location
    message: str
    hint: str | None


def default_resources() -> dict[str, ResourceDefinition]:
    """Returns what a plan without `resources` works on: the project itself."""
    return {"project": ResourceDefinition(type=ResourceType.GIT_CHECKOUT, path=".")}


def template_values(
    arguments: Mapping[str, str], resources: Mapping[str, str], outputs: Mapping[str, str]
) -> dict[str, str]:
    """Returns what every placeholder of a step stands for.

    Args:
        arguments: as `resolve_arguments` returns them.
        resources: the path of every sandbox, by resource name.
        outputs: what earlier steps saved, by its `save_as` name.
    """
    return {
        **arguments,
        **{f"resources.{name}.path": path for name, path in resources.items()},
        **{f"outputs.{name}": output for name, output in outputs.items()},
    }


def check_templates(
    definition: PlanDefinition, argument_names: Collection[str]
) -> list[TemplateProblem]:
    """Finds every placeholder in the steps that names nothing the step could know.

    A step knows the arguments, the resources, and what earlier steps save.
    """
    arguments = dict.fromkeys(argument_names, "")
    resources = dict.fromkeys(definition.resources, "")
    outputs: dict[str, str] = {}
    problems: list[TemplateProblem] = []
    for index, step in enumerate(definition.steps):
        known = template_values(arguments, resources, outputs)
        problems += _unfillable(step.input, known, ("steps", index, "with"))
        if step.save_as is not None:
            outputs[step.save_as] = ""
    return problems


def _unfillable(
    value: JsonValue, known: Mapping[str, str], location: Location
) -> Iterator[TemplateProblem]:
    if isinstance(value, str):
        try:
            for name in names_in(value):
                value_of(name, known)
        except UsageError as error:
            yield TemplateProblem(location=location, message=error.message, hint=error.hint)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unfillable(item, known, (*location, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _unfillable(item, known, (*location, key))


def resolve_arguments(definition: PlanDefinition, given: Mapping[str, str]) -> dict[str, str]:
    """Returns the value of every argument of the plan: as given, or else its default.

    Raises:
        UsageError: a name is unknown, a value is missing or not of its type.
    """
    for name in given:
        if name not in definition.arguments:
            raise UsageError(
                f"The plan `{definition.name}` has no argument `{name}`",
                hint=nearest(name, definition.arguments),
            )
    return {
        name: _argument_value(name, argument, given.get(name, argument.default))
        for name, argument in definition.arguments.items()
    }


def _argument_value(name: str, argument: ArgumentDefinition, value: str | None) -> str:
    if value is None:
        about = f" ({argument.description})" if argument.description else ""
        raise UsageError(
            f"The plan needs a value for its argument `{name}`{about}",
            hint=f"Add `--arg {name}=VALUE`",
        )
    if not is_of_type(value, argument.type):
        raise UsageError(f"The argument `{name}` must be of type {argument.type}, not `{value}`")
    return value


def is_of_type(value: str, kind: ParameterType) -> bool:
    """Says whether the text is how a value of that type is written."""
    if kind is ParameterType.INTEGER:
        return value.isascii() and value.removeprefix("-").isdecimal()
    return kind is ParameterType.STRING or value in ("true", "false")
