"""Checks the steps of a plan, including those of options and subplans."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from cleveragents.domain.decisions.decision import RECORDED_BY_ACTORS
from cleveragents.domain.names import IDENTIFIER, nearest
from cleveragents.domain.plans.plan_file import (
    DecisionDefinition,
    Location,
    ResourceDefinition,
    RollbackPolicy,
    StepDefinition,
    SubplanDefinition,
    SubplansDefinition,
    decision_step,
    subplans_step,
)
from cleveragents.domain.plans.subplan import CircularDependency, SubplanMode
from cleveragents.domain.plans.template import is_template
from cleveragents.domain.record import JsonValue
from cleveragents.domain.sandboxes.resource import ResourceType
from cleveragents.domain.tools.tool import CheckpointScope, ParameterType, ToolSpec, validate_input
from cleveragents.infrastructure.plan_files.checks import check_name, check_plain
from cleveragents.infrastructure.plan_files.schema import unknown_key
from cleveragents.infrastructure.plan_files.yaml_document import YamlDocument


class StepChecks:
    """The checks for the steps of one plan or subplan."""

    def __init__(
        self,
        document: YamlDocument,
        resources: Mapping[str, ResourceDefinition],
        tools: Mapping[str, ToolSpec],
        policy: RollbackPolicy,
    ) -> None:
        self._document = document
        self._resources = resources
        self._tools = tools
        self._policy = policy
        self._decisions: list[str] = []

    def checked(
        self, steps: Sequence[StepDefinition], location: Location, saved: set[str]
    ) -> list[StepDefinition]:
        """Returns the steps with everything filled in that follows from the rest of the plan.

        Args:
            steps: At least one.
            location: The mapping that has the key `steps`.
            saved: The outputs that earlier steps save; those of these steps are added.

        Raises:
            PlanFileError: a step names something that does not exist, or breaks a rule.
        """
        if not steps:
            raise self._document.error((*location, "steps"), "`steps` is empty")
        return [
            self._step(step, (*location, "steps", index), saved) for index, step in enumerate(steps)
        ]

    def _step(self, step: StepDefinition, location: Location, saved: set[str]) -> StepDefinition:
        if step.decision is not None:
            return self._decision(step, step.decision, location, saved)
        if step.subplans is not None:
            return self._subplans(step, step.subplans, location, saved)
        spec = self._tool(step, location)
        check_plain(self._document, (*location, "name"), step.name)
        if step.save_as is not None:
            self._check_output(step.save_as, (*location, "save_as"), saved)
        self._check_input(step.input, spec, location)
        return replace(step, resource=self._resource(step, spec, location))

    def _tool(self, step: StepDefinition, location: Location) -> ToolSpec:
        where = (*location, "tool")
        self._require(step.tool, self._tools, where, "there is no tool")
        spec = self._tools[step.tool]
        if spec.unsafe and not self._policy.allow_unsafe_tools:
            raise self._document.error(
                where,
                f"`{spec.name}` is an unsafe tool",
                hint="Set `policy.allow_unsafe_tools: true` if the plan may use it",
            )
        return spec

    def _check_output(self, name: str, location: Location, saved: set[str]) -> None:
        if IDENTIFIER.fullmatch(name) is None:
            raise self._document.error(
                location, f"`{name}` is not a valid `save_as`", hint="Example: `version`"
            )
        if name in saved:
            raise self._document.error(location, f"an earlier step already saves `{name}`")
        saved.add(name)

    def _check_input(
        self, given: Mapping[str, JsonValue], spec: ToolSpec, location: Location
    ) -> None:
        """Checks `with`; a value with placeholders is checked once they are filled in."""
        for problem in validate_input(spec, given):
            parameter = spec.parameters.get(problem.name)
            if parameter is not None and _is_open(given.get(problem.name), parameter.type):
                continue
            where = (*location, "with", problem.name) if problem.name in given else location
            raise self._document.error(where, problem.message, hint=problem.hint)

    def _resource(self, step: StepDefinition, spec: ToolSpec, location: Location) -> str | None:
        if step.resource is not None:
            self._require(
                step.resource, self._resources, (*location, "resource"), "the plan has no resource"
            )
        if spec.checkpoint_scope == CheckpointScope.TRANSACTION:
            return self._database(step.resource, spec, location)
        return step.resource

    def _database(self, name: str | None, spec: ToolSpec, location: Location) -> str:
        """Returns the database the tool runs on: the named one, or the only one."""
        databases = [
            each for each, one in self._resources.items() if one.type is ResourceType.SQLITE
        ]
        if name is None and len(databases) == 1:
            return databases[0]
        if name is not None and name in databases:
            return name
        named = "" if name is None else f", and `{name}` is not one"
        raise self._document.error(
            location if name is None else (*location, "resource"),
            f"`{spec.name}` runs on a `sqlite` resource{named}",
            hint=nearest(name or "", databases),
        )

    def _decision(
        self,
        step: StepDefinition,
        decision: DecisionDefinition,
        location: Location,
        saved: set[str],
    ) -> StepDefinition:
        here = (*location, "decision")
        self._allow(("name", "decision"), location)
        check_plain(self._document, (*here, "question"), decision.question)
        check_plain(self._document, (*location, "name"), step.name)
        self._check_decision(decision, here)
        self._decisions.append(step.name)
        ends: list[set[str]] = []
        options = dict(decision.options)
        for name, option in options.items():
            check_name(self._document, (*here, "options", name), name, "an option")
            ends.append(set(saved))
            if option.steps:
                steps = self.checked(option.steps, (*here, "options", name), ends[-1])
                options[name] = replace(option, steps=steps)
        saved.update(*ends)
        return decision_step(step.name, replace(decision, options=options))

    def _check_decision(self, decision: DecisionDefinition, location: Location) -> None:
        if not decision.options:
            raise self._document.error((*location, "options"), "a decision needs an option")
        # An option that an argument names is checked once the argument is known.
        if not is_template(decision.chosen):
            where = (*location, "chosen")
            self._require(decision.chosen, decision.options, where, "there is no option")
        where, problem = (*location, "type"), "a plan cannot record a decision of type"
        self._require(decision.type, RECORDED_BY_ACTORS, where, problem)
        for name in decision.influenced_by:
            where, problem = (*location, "influenced_by"), "there is no earlier decision"
            self._require(name, self._decisions, where, problem)

    def _subplans(
        self,
        step: StepDefinition,
        subplans: SubplansDefinition,
        location: Location,
        saved: set[str],
    ) -> StepDefinition:
        here = (*location, "subplans")
        by_tool = "with" in self._document.keys(location)
        self._allow(("name", "tool", "with") if by_tool else ("name", "subplans"), location)
        if not subplans.plans:
            raise self._document.error((*here, "plans"), "`plans` needs at least one subplan")
        check_plain(self._document, (*location, "name"), step.name)
        plans = {
            name: self._subplan(name, plan, subplans.mode, (*here, "plans", name), saved)
            for name, plan in subplans.plans.items()
        }
        checked = replace(subplans, plans=plans)
        self._check_order(checked, (*here, "plans"))
        return subplans_step(step.name, checked)

    def _subplan(
        self,
        name: str,
        plan: SubplanDefinition,
        mode: SubplanMode,
        location: Location,
        saved: set[str],
    ) -> SubplanDefinition:
        check_name(self._document, location, name, "a subplan")
        for resource in plan.resources:
            self._require(
                resource, self._resources, (*location, "resources"), "the plan has no resource"
            )
        if plan.depends_on and mode is not SubplanMode.DEPENDENCY_ORDERED:
            raise self._document.error(
                (*location, "depends_on"),
                f"`depends_on` has no effect in the mode `{mode}`",
                hint=f"Set `mode: {SubplanMode.DEPENDENCY_ORDERED}`",
            )
        resources = {
            key: value
            for key, value in self._resources.items()
            if not plan.resources or key in plan.resources
        }
        checks = StepChecks(self._document, resources, self._tools, self._policy)
        return replace(
            plan,
            resources=list(resources) if plan.resources else [],
            steps=checks.checked(plan.steps, location, set(saved)),
        )

    def _check_order(self, subplans: SubplansDefinition, location: Location) -> None:
        for name, plan in subplans.plans.items():
            for other in plan.depends_on:
                where = (*location, name, "depends_on")
                self._require(other, subplans.plans, where, "there is no subplan")
        try:
            _ = subplans.waves
        except CircularDependency as error:
            names = " and ".join(f"`{name}`" for name in error.names)
            raise self._document.error(
                (*location, error.names[0], "depends_on"),
                f"{names} depend on each other"
                if len(error.names) > 1
                else f"{names} depends on itself",
            ) from error

    def _require(self, name: str, known: Collection[str], location: Location, problem: str) -> None:
        """Raises PlanFileError, with the nearest known name, unless the name is known."""
        if name not in known:
            raise self._document.error(location, f"{problem} `{name}`", hint=nearest(name, known))

    def _allow(self, known: Sequence[str], location: Location) -> None:
        """Refuses keys that are valid for another kind of step."""
        for key in self._document.keys(location):
            if key not in known:
                raise unknown_key(self._document, (*location, key), known)


def _is_open(value: JsonValue, kind: ParameterType) -> bool:
    """Returns whether the value has its type and contains a placeholder."""
    if kind is ParameterType.STRING:
        return isinstance(value, str) and is_template(value)
    if kind is ParameterType.LIST and isinstance(value, list):
        texts = [item for item in value if isinstance(item, str)]
        return texts == value and any(is_template(text) for text in texts)
    return False
