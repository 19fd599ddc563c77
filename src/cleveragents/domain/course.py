"""The course a plan takes: its steps, and after each decision those of the chosen option."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cleveragents.domain.errors import UsageError
from cleveragents.domain.names import nearest
from cleveragents.domain.plan_file import PlanDefinition, StepDefinition, every_subplan
from cleveragents.domain.record import Record
from cleveragents.domain.template import render


def resolve_choices(definition: PlanDefinition, arguments: Mapping[str, str]) -> dict[str, str]:
    """Returns the option that every decision of the plan takes, by the place of its step.

    The decisions of subplans are their own; they are only seen to be possible.

    Raises:
        UsageError: an argument chooses an option that is not there.
    """
    for plan in every_subplan(definition.steps):
        resolve_choices(definition.model_copy(update={"steps": plan.steps}), arguments)
    choices: dict[str, str] = {}

    def choose(steps: Sequence[StepDefinition], place: str) -> None:
        for index, step in enumerate(steps):
            if step.decision is None:
                continue
            here = f"{place}{index}"
            chosen = render(step.decision.chosen, arguments)
            if chosen not in step.decision.options:
                raise UsageError(
                    f"The decision `{step.name}` has no option `{chosen}`",
                    hint=nearest(chosen, step.decision.options),
                )
            choices[here] = chosen
            for name, option in step.decision.options.items():
                choose(option.steps, f"{here}/{name}/")

    choose(definition.steps, "")
    return choices


class CourseStep(Record):
    """One step of the course a plan takes."""

    step: StepDefinition
    place: str
    """Where it stands in the plan file: `2`, or `2/database/0` inside an option of step 2."""
    within: str | None
    """The place of the decision whose option it belongs to; None at the top."""
    chosen: str | None
    """For a decision, the option that is taken."""


def course(definition: PlanDefinition, choices: Mapping[str, str]) -> list[CourseStep]:
    """Returns the steps that run, in order: after a decision those of its chosen option.

    The part of a course before a decision is the same whatever that decision chooses, so
    an index into it stays true when a later decision is changed.
    """
    taken: list[CourseStep] = []

    def follow(steps: Sequence[StepDefinition], place: str, within: str | None) -> None:
        for index, step in enumerate(steps):
            here = f"{place}{index}"
            chosen = choices[here] if step.decision else None
            taken.append(CourseStep(step=step, place=here, within=within, chosen=chosen))
            if step.decision and chosen is not None:
                follow(step.decision.options[chosen].steps, f"{here}/{chosen}/", here)

    follow(definition.steps, "", None)
    return taken
