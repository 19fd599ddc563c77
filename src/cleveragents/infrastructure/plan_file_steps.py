"""The steps of a plan file: tools with their input, and decisions with steps of their own."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from cleveragents.domain.decision import RECORDED_BY_ACTORS, DecisionType
from cleveragents.domain.merge import MergeStrategy
from cleveragents.domain.names import IDENTIFIER, nearest
from cleveragents.domain.plan_file import (
    DecisionDefinition,
    OptionDefinition,
    ResourceDefinition,
    RollbackPolicy,
    StepDefinition,
    SubplanDefinition,
    SubplansDefinition,
    decision_step,
    subplans_step,
)
from cleveragents.domain.resource import ResourceType
from cleveragents.domain.subplan import SPAWN_SUBPLAN, CircularDependency, SubplanMode, waves
from cleveragents.domain.template import is_template
from cleveragents.domain.tool import (
    MAX_TIMEOUT_SECONDS,
    CheckpointScope,
    ParameterType,
    ToolSpec,
    validate_input,
)
from cleveragents.infrastructure.plan_file_section import Section, check_name

_STEP_KEYS = ("name", "tool", "with", "resource", "save_as")
_SUBPLAN_KEYS = tuple(SubplanDefinition.model_fields)
_MAX_PARALLEL = 50
_MAX_RETRIES = 100


class Steps:
    """Reads lists of steps; those of an option are read like those of the plan."""

    def __init__(
        self,
        resources: Mapping[str, ResourceDefinition],
        tools: Mapping[str, ToolSpec],
        policy: RollbackPolicy,
    ) -> None:
        self._resources = resources
        self._tools = tools
        self._policy = policy
        self._decisions: list[str] = []

    def read(self, section: Section, saved: set[str]) -> list[StepDefinition]:
        """Args: `saved` has what earlier steps save, and gets what these save."""
        return [self._step(item, saved) for item in section.items("steps", "step")]

    def _step(self, section: Section, saved: set[str]) -> StepDefinition:
        if "decision" in section:
            return self._decision(section, saved)
        if "subplans" in section or section.get("tool") == SPAWN_SUBPLAN:
            return self._subplans(section, saved)
        section.allow(_STEP_KEYS)
        section.need("tool")
        spec = _tool(section, self._tools)
        if spec.unsafe and not self._policy.allow_unsafe_tools:
            section.fail(
                f"`{spec.name}` is an unsafe tool",
                "tool",
                hint="Set `policy.allow_unsafe_tools: true` if the plan may use it",
            )
        save_as = None
        if "save_as" in section:
            save_as = section.named("save_as", IDENTIFIER, "version")
            if save_as in saved:
                section.fail(f"`{save_as}` is saved by an earlier step already", "save_as")
            saved.add(save_as)
        return StepDefinition.model_validate(
            {
                "name": section.plain_text("name", spec.name),
                "tool": spec.name,
                "with": _input(section, spec),
                "resource": _resource(section, self._resources, spec),
                "save_as": save_as,
            }
        )

    def _decision(self, step: Section, saved: set[str]) -> StepDefinition:
        step.allow(("name", "decision"))
        section = step.inside("decision", "a decision")
        section.allow(tuple(DecisionDefinition.model_fields))
        section.need("question", "chosen", "options")
        question = section.plain_text("question")
        name = step.plain_text("name", question)
        influenced_by = self._influences(section)
        self._decisions.append(name)
        ends: list[set[str]] = []
        options: dict[str, OptionDefinition] = {}
        for key, option in section.entries("options", "the option"):
            check_name(option, key, "an option")
            option.allow(("description", "steps"))
            ends.append(set(saved))
            steps = self.read(option, ends[-1]) if option.get("steps") else []
            options[key] = OptionDefinition(description=option.text("description"), steps=steps)
        if not options:
            section.fail("a decision needs at least one option", "options")
        saved.update(*ends)
        decision = DecisionDefinition(
            question=question,
            chosen=_chosen(section, options),
            rationale=section.text("rationale"),
            confidence=section.fraction("confidence"),
            type=_decision_type(section),
            influenced_by=influenced_by,
            options=options,
        )
        return decision_step(name, decision)

    def _subplans(self, step: Section, saved: set[str]) -> StepDefinition:
        """Reads `subplans`, or the same as what the tool `spawn-subplan` is called with."""
        key = "subplans" if "subplans" in step else "with"
        step.allow(("name", "subplans") if key == "subplans" else ("name", "tool", "with"))
        step.need(key)
        section = step.inside(key, f"`{key}`")
        section.allow(tuple(SubplansDefinition.model_fields))
        section.need("plans")
        mode = section.choice("mode", SubplanMode.SEQUENTIAL)
        plans = {
            name: self._subplan(plan, name, mode, saved)
            for name, plan in section.entries("plans", "the subplan")
        }
        if not plans:
            section.fail("`plans` needs at least one subplan", "plans")
        _refuse_circles(section.inside("plans"), mode, plans)
        subplans = SubplansDefinition(
            mode=mode,
            max_parallel=section.number("max_parallel", 5, least=1, most=_MAX_PARALLEL),
            merge_strategy=section.choice("merge_strategy", MergeStrategy.GIT_THREE_WAY),
            fail_fast=section.flag("fail_fast", default=False),
            timeout_per_subplan_seconds=_timeout(section),
            retry_failed=section.flag("retry_failed", default=True),
            max_retries=section.number("max_retries", 2, least=0, most=_MAX_RETRIES),
            plans=plans,
        )
        return subplans_step(step.plain_text("name", f"subplans {', '.join(plans)}"), subplans)

    def _subplan(
        self, section: Section, name: str, mode: SubplanMode, saved: set[str]
    ) -> SubplanDefinition:
        check_name(section, name, "a subplan")
        section.allow(_SUBPLAN_KEYS)
        section.need("steps")
        wanted = section.texts("resources")
        for resource in wanted:
            if resource not in self._resources:
                section.fail(
                    f"the plan has no resource `{resource}`",
                    "resources",
                    hint=nearest(resource, self._resources),
                )
        resources = {
            key: value for key, value in self._resources.items() if not wanted or key in wanted
        }
        depends_on = section.texts("depends_on")
        if depends_on and mode is not SubplanMode.DEPENDENCY_ORDERED:
            section.fail(
                f"`depends_on` means nothing in the mode `{mode}`",
                "depends_on",
                hint=f"Set `mode: {SubplanMode.DEPENDENCY_ORDERED}`",
            )
        return SubplanDefinition(
            description=section.text("description"),
            resources=list(resources) if wanted else [],
            depends_on=depends_on,
            steps=Steps(resources, self._tools, self._policy).read(section, set(saved)),
        )

    def _influences(self, section: Section) -> list[str]:
        names = section.texts("influenced_by")
        for name in names:
            if name not in self._decisions:
                section.fail(
                    f"there is no earlier decision `{name}`",
                    "influenced_by",
                    hint=nearest(name, self._decisions),
                )
        return names


def _refuse_circles(
    section: Section, mode: SubplanMode, plans: Mapping[str, SubplanDefinition]
) -> None:
    for name, plan in plans.items():
        for other in plan.depends_on:
            if other not in plans:
                section.inside(name).fail(
                    f"there is no subplan `{other}`", "depends_on", hint=nearest(other, plans)
                )
    try:
        waves(mode, {name: plan.depends_on for name, plan in plans.items()})
    except CircularDependency as error:
        names = " and ".join(f"`{name}`" for name in error.names)
        section.inside(error.names[0]).fail(
            f"{names} wait for each other" if len(error.names) > 1 else f"{names} waits for itself",
            "depends_on",
        )


def _timeout(section: Section) -> int | None:
    key = "timeout_per_subplan_seconds"
    if section.get(key) is None:
        return None
    return section.number(key, 1, least=1, most=MAX_TIMEOUT_SECONDS)


def _chosen(section: Section, options: Mapping[str, OptionDefinition]) -> str:
    """Reads which option is taken; one that an argument names is judged once it is filled in."""
    chosen = section.text("chosen")
    if not is_template(chosen) and chosen not in options:
        section.fail(f"there is no option `{chosen}`", "chosen", hint=nearest(chosen, options))
    return chosen


def _decision_type(section: Section) -> DecisionType:
    chosen = section.choice("type", DecisionType.IMPLEMENTATION_CHOICE)
    if chosen not in RECORDED_BY_ACTORS:
        section.fail(
            f"a plan cannot record a decision of type `{chosen}`",
            "type",
            hint=nearest(chosen, RECORDED_BY_ACTORS),
        )
    return chosen


def _tool(section: Section, tools: Mapping[str, ToolSpec]) -> ToolSpec:
    name = section.text("tool")
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
