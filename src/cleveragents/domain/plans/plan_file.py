"""The records of a plan file: its schema, with the names that the file uses.

YAML, line numbers and the checks of a file are in
`cleveragents.infrastructure.plan_files`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec.structs import replace

from cleveragents.domain.decisions.decision import RECORD_DECISION, DecisionType
from cleveragents.domain.errors import UsageError
from cleveragents.domain.names import nearest
from cleveragents.domain.plans.subplan import SPAWN_SUBPLAN, SubplanMode, waves
from cleveragents.domain.plans.template import names_in, template_values, value_of
from cleveragents.domain.plans.validation import Requirement, ValidationDefinition
from cleveragents.domain.record import JsonValue, Record
from cleveragents.domain.sandboxes.merge import MergeStrategy
from cleveragents.domain.sandboxes.resource import (
    STRATEGIES,
    ResourceType,
    SandboxStrategy,
    default_strategy,
)
from cleveragents.domain.sandboxes.sandbox import SharedPlace
from cleveragents.domain.tools.tool import ParameterType, TimeoutSeconds, ToolSpec

Retries = Annotated[int, msgspec.Meta(ge=0, le=100)]


class OnFailure(StrEnum):
    """What happens to the sandbox when a step fails."""

    ROLLBACK_STEP = "rollback-step"
    ROLLBACK_PLAN = "rollback-plan"
    KEEP = "keep"


class RollbackPolicy(Record):
    """The rules of the plan for failures and checkpoints."""

    on_failure: OnFailure = OnFailure.ROLLBACK_STEP
    require_checkpoints: bool = True
    """A tool does not write unless a checkpoint can be made first."""
    require_sandbox: bool = True
    """No resource may have the strategy `none`."""
    max_retries_per_step: Retries = 0
    """How often a failed step is retried, each time from the state before it."""
    allow_unsafe_tools: bool = False
    """The plan may use tools that are declared `unsafe`."""


_APPENDED = "appended"


class ResourceDefinition(Record):
    """Something that the plan may change."""

    type: ResourceType
    path: str
    strategy: SandboxStrategy | None = None
    """None means the default of the type."""
    shared: SharedPlace | None = None
    """Where it is, if the sandbox of another resource holds it. No plan file says this."""

    def chosen_strategy(self, preferred: SandboxStrategy | None = None) -> SandboxStrategy:
        """Returns the strategy: its own, or else the preferred one if its type allows it."""
        if self.strategy is not None:
            return self.strategy
        if preferred is not None and preferred in STRATEGIES[self.type]:
            return preferred
        return default_strategy(self.type)


class ArgumentDefinition(Record):
    """A value that the user gives with `--arg`."""

    type: ParameterType = ParameterType.STRING
    default: str | None = None
    """If there is none, the user has to give a value."""
    description: str = ""


class OptionDefinition(Record):
    """One option of a decision, and the steps that it runs."""

    description: str = ""
    steps: list[StepDefinition] = []


class DecisionDefinition(Record):
    """A decision; the steps of the chosen option run after it."""

    question: str
    chosen: str
    """The name of an option; it may contain placeholders for the plan's arguments."""
    rationale: str = ""
    reasoning: str = ""
    """How whoever decided arrived there; only `plan explain --show-reasoning` shows it."""
    confidence: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    type: DecisionType = DecisionType.IMPLEMENTATION_CHOICE
    influenced_by: list[str] = []
    """Earlier decisions that it depends on: correcting one of them supersedes this one."""
    options: dict[str, OptionDefinition]


class SubplanDefinition(Record):
    """A plan that another plan starts: its own steps, in its own sandboxes."""

    description: str = ""
    resources: list[str] = []
    """The resources of its parent that it works on; an empty list means all."""
    depends_on: list[str] = []
    """The subplans whose result it starts from."""
    steps: list[StepDefinition]


class SubplansDefinition(Record):
    """The subplans of one step, and how they run."""

    mode: SubplanMode = SubplanMode.SEQUENTIAL
    max_parallel: Annotated[int, msgspec.Meta(ge=1, le=50)] = 5
    """How many run at the same time; the others wait."""
    merge_strategy: MergeStrategy = MergeStrategy.GIT_THREE_WAY
    fail_fast: bool = False
    """After a failure no more subplans start, and the result of running ones is not used."""
    timeout_per_subplan_seconds: TimeoutSeconds | None = None
    retry_failed: bool = True
    max_retries: Retries = 2
    plans: dict[str, SubplanDefinition]

    @property
    def waves(self) -> list[list[str]]:
        """The names of the subplans, in the waves they run in."""
        return waves(self.mode, {name: plan.depends_on for name, plan in self.plans.items()})


class StepDefinition(Record):
    """One step of the plan: a tool and its input.

    A decision is a call of `record-decision`; subplans are a call of `spawn-subplan`.
    """

    name: str
    tool: str
    input: dict[str, JsonValue] = msgspec.field(default_factory=dict[str, JsonValue], name="with")
    resource: str | None = None
    save_as: str | None = None
    decision: DecisionDefinition | None = None
    subplans: SubplansDefinition | None = None

    @property
    def is_appended(self) -> bool:
        """Whether a correction added it; no plan file can, as the input of subplans is derived."""
        return self.subplans is not None and self.input.get(_APPENDED) is True


class PlanDefinition(Record):
    """A whole plan file."""

    name: str
    description: str = ""
    arguments: dict[str, ArgumentDefinition] = {}
    resources: dict[str, ResourceDefinition] = {}
    tools: dict[str, ToolSpec] = {}
    policy: RollbackPolicy = RollbackPolicy()
    validations: list[ValidationDefinition] = []
    """Commands that check the result before it is applied, in this order."""
    definition_of_done: list[Requirement] = []
    """What the result must have to be applied."""
    invariants: list[Requirement] = []
    """What must stay true whatever the plan does; each is recorded as a decision."""
    steps: list[StepDefinition]


Location = tuple[str | int, ...]
"""A position in the file: keys and list indices from the top."""


class TemplateProblem(Record):
    """A placeholder that no value can replace."""

    location: Location
    message: str
    hint: str | None


def default_resources() -> dict[str, ResourceDefinition]:
    """Returns the resources of a plan that names none: the project itself."""
    return {"project": ResourceDefinition(type=ResourceType.GIT_CHECKOUT, path=".")}


def work_places(
    resources: Mapping[str, ResourceDefinition], sandboxes: Mapping[str, str]
) -> dict[str, str]:
    """Returns the path of each resource in its sandbox, by name, in the order of the plan.

    Args:
        resources: The resources of the plan.
        sandboxes: The paths of its sandboxes, by the name of the resource that each is made for.
    """
    places: dict[str, str] = {}
    for name, resource in resources.items():
        shared = resource.shared
        path = sandboxes.get(shared.sandbox if shared else name)
        if path is not None:
            places[name] = f"{path}/{shared.place}" if shared and shared.place else path
    return places


def every_step(steps: Sequence[StepDefinition]) -> Iterator[StepDefinition]:
    """Yields the steps, and those of all options of their decisions, chosen or not.

    The steps of subplans are not included.
    """
    for step in steps:
        yield step
        if step.decision is not None:
            for option in step.decision.options.values():
                yield from every_step(option.steps)


def every_subplan(steps: Sequence[StepDefinition]) -> Iterator[SubplanDefinition]:
    """Yields the direct subplans of some steps, without the subplans of those."""
    for step in every_step(steps):
        if step.subplans is not None:
            yield from step.subplans.plans.values()


def every_step_below(steps: Sequence[StepDefinition]) -> Iterator[StepDefinition]:
    """Yields the steps as `every_step` does, and those of all subplans at any depth."""
    yield from every_step(steps)
    for plan in every_subplan(steps):
        yield from every_step_below(plan.steps)


def depth(steps: Sequence[StepDefinition]) -> int:
    """Returns the nesting depth of plans: 1 without subplans."""
    return 1 + max((depth(plan.steps) for plan in every_subplan(steps)), default=0)


def check_templates(
    definition: PlanDefinition, argument_names: Collection[str]
) -> list[TemplateProblem]:
    """Returns every placeholder in the steps that has no value when the step runs.

    A step can use the arguments, the resources and the saved outputs of earlier steps; after a
    decision, only outputs that each of its options saves. The steps of a subplan can use the
    same as the step that starts it.
    """
    arguments = dict.fromkeys(argument_names, "")
    problems: list[TemplateProblem] = []

    def check(
        steps: Sequence[StepDefinition],
        saved: set[str],
        place: Location,
        resources: Collection[str],
    ) -> set[str]:
        """Returns the names of the outputs that are saved after these steps."""
        paths = dict.fromkeys(resources, "")
        for index, step in enumerate(steps):
            here = (*place, "steps", index)
            known = template_values(arguments, paths, dict.fromkeys(saved, ""))
            if step.subplans is not None:
                for name, plan in step.subplans.plans.items():
                    inside = (*here, "subplans", "plans", name)
                    check(plan.steps, saved, inside, plan.resources or resources)
                continue
            if step.decision is None:
                problems.extend(_unfillable(step.input, known, (*here, "with")))
                saved = saved | ({step.save_as} if step.save_as else set())
                continue
            asked = (*here, "decision", "chosen")
            problems.extend(_unfillable(step.decision.chosen, arguments, asked))
            ends = [
                check(option.steps, saved, (*here, "decision", "options", name), resources)
                for name, option in step.decision.options.items()
            ]
            saved = set[str].intersection(*ends)
        return saved

    check(definition.steps, set(), (), definition.resources)
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
    """Returns the value of every argument of the plan: the given one, or its default.

    Raises:
        UsageError: a name is unknown, or a value is missing or has the wrong type.
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


def decision_step(name: str, decision: DecisionDefinition) -> StepDefinition:
    """Returns the step that records a decision; `chosen` is added when it runs."""
    given: dict[str, JsonValue] = {
        "question": decision.question,
        "alternatives": list(decision.options),
        "rationale": decision.rationale,
    }
    if decision.reasoning:
        given["reasoning"] = decision.reasoning
    if decision.confidence is not None:
        given["confidence"] = decision.confidence
    if decision.influenced_by:
        given["influenced_by"] = list(decision.influenced_by)
    return StepDefinition(name=name, tool=RECORD_DECISION, input=given, decision=decision)


def subplans_step(name: str, subplans: SubplansDefinition) -> StepDefinition:
    """Returns the step that starts subplans."""
    given: dict[str, JsonValue] = {"plans": list(subplans.plans), "mode": subplans.mode.value}
    return StepDefinition(name=name, tool=SPAWN_SUBPLAN, input=given, subplans=subplans)


def appended_step(name: str, subplan: SubplanDefinition) -> StepDefinition:
    """Returns the step that a correction adds at the end of a plan: one subplan."""
    step = subplans_step(name, SubplansDefinition(plans={name: subplan}))
    return replace(step, input={**step.input, _APPENDED: True})


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
    """Returns whether the text is a value of that type."""
    if kind is ParameterType.INTEGER:
        return value.isascii() and value.removeprefix("-").isdecimal()
    return kind is ParameterType.STRING or value in ("true", "false")
