from __future__ import annotations

from behave import then, when
from behave.runner import Context
from features.steps.plan_file_steps import reading
from msgspec.structs import replace

from cleveragents.domain.plans.choices import resolve_choices
from cleveragents.testing import sample_records


@when("a plan that took the option {first} takes the option {second} instead")
def choose_again(context: Context, first: str, second: str) -> None:
    file = reading(context)
    file.read()
    assert file.definition is not None, file.error
    choices = resolve_choices(file.definition, {})
    assert list(choices.values()) == [first]
    plan = replace(sample_records.plan(), definition=file.definition, choices=choices)
    assert plan.step_sequence is plan.step_sequence
    context.plan = replace(plan, choices=dict.fromkeys(choices, second))


@then("its steps are {steps}")
def has_steps(context: Context, steps: str) -> None:
    found = [f"{item.step_path} {item.step.name}" for item in context.plan.step_sequence]
    assert found == steps.split(", "), found
