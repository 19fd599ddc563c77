"""The options that the decisions of a plan take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from cleveragents.domain.errors import UsageError
from cleveragents.domain.names import nearest
from cleveragents.domain.plans.plan_file import PlanDefinition, StepDefinition, every_subplan
from cleveragents.domain.plans.template import render


def resolve_choices(definition: PlanDefinition, arguments: Mapping[str, str]) -> dict[str, str]:
    """Returns the chosen option of every decision of the plan, by the path of its step.

    Subplans make their own decisions when they are created; here they are only checked.

    Raises:
        UsageError: an argument chooses an option that does not exist.
    """
    for plan in every_subplan(definition.steps):
        resolve_choices(replace(definition, steps=plan.steps), arguments)
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
