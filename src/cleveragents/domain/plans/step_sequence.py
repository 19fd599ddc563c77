"""The steps a plan runs: those of its file, and after each decision those of the chosen option."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cleveragents.domain.errors import UsageError
from cleveragents.domain.names import nearest
from cleveragents.domain.plans.plan_file import PlanDefinition, StepDefinition, every_subplan
from cleveragents.domain.plans.template import render


class PlannedStep(NamedTuple):
    """One step that the plan runs, and its position in the plan file."""

    step: StepDefinition
    step_path: str
    """`2` for the third step of the file, `2/database/0` for the first step of its option
    `database`. Stored with decisions, so the form must not change."""
    decision_path: str | None
    """The path of the decision whose option contains the step; None at the top level."""
    chosen: str | None
    """The chosen option, if the step is a decision."""


def step_sequence(
    definition: PlanDefinition, choices: Mapping[str, str]
) -> tuple[PlannedStep, ...]:
    """Returns the steps in the order they run; a decision is followed by its chosen option.

    Changing the choice of one decision changes only what follows it, so the index of an
    earlier step stays valid.
    """
    found: list[PlannedStep] = []

    def add(steps: Sequence[StepDefinition], prefix: str, decision_path: str | None) -> None:
        for index, step in enumerate(steps):
            path = f"{prefix}{index}"
            chosen = choices[path] if step.decision else None
            found.append(PlannedStep(step, path, decision_path, chosen))
            if step.decision and chosen is not None:
                add(step.decision.options[chosen].steps, f"{path}/{chosen}/", path)

    add(definition.steps, "", None)
    return tuple(found)


def resolve_choices(definition: PlanDefinition, arguments: Mapping[str, str]) -> dict[str, str]:
    """Returns the chosen option of every decision of the plan, by the path of its step.

    Subplans make their own decisions when they are created; here they are only checked.

    Raises:
        UsageError: an argument chooses an option that does not exist.
    """
    for plan in every_subplan(definition.steps):
        resolve_choices(definition.model_copy(update={"steps": plan.steps}), arguments)
    choices: dict[str, str] = {}

    def choose(steps: Sequence[StepDefinition], prefix: str) -> None:
        for index, step in enumerate(steps):
            if step.decision is None:
                continue
            path = f"{prefix}{index}"
            chosen = render(step.decision.chosen, arguments)
            if chosen not in step.decision.options:
                raise UsageError(
                    f"The decision `{step.name}` has no option `{chosen}`",
                    hint=nearest(chosen, step.decision.options),
                )
            choices[path] = chosen
            for name, option in step.decision.options.items():
                choose(option.steps, f"{path}/{name}/")

    choose(definition.steps, "")
    return choices
