from __future__ import annotations

from behave import given, then
from behave.runner import Context
from features.steps.plan_file_steps import reading

from cleveragents.domain.plans.plan_file import SubplansDefinition


def subplans(context: Context, name: str | None = None) -> SubplansDefinition:
    for step in reading(context).plan.steps:
        if name in (None, step.name):
            assert step.subplans is not None
            return step.subplans
    raise AssertionError(f"no step {name}")


@given("a plan file whose subplans run `{mode}` and depend on each other as `{depends}`")
def plan_file_with_subplans(context: Context, mode: str, depends: str) -> None:
    lines = ["name: local/parent", "steps:", "  - subplans:", f"      mode: {mode}", "      plans:"]
    for item in depends.split(","):
        name, _, others = item.strip().partition(":")
        waits = f"depends_on: [{', '.join(others.split())}], " if others else ""
        lines += [f"        {name}:", f"          {{{waits}steps: [{{tool: list-files}}]}}"]
    reading(context).write("\n".join(lines) + "\n")


@then("the step `{name}` has the subplans")
def step_has_subplans(context: Context, name: str) -> None:
    found = subplans(context, name).model_dump(mode="json")
    shown = {**found, "plans": " ".join(found["plans"])}
    wanted = row_values_of(context)
    assert {key: str(shown[key]) for key in wanted} == wanted, shown


def row_values_of(context: Context) -> dict[str, str]:
    row = context.table.rows[0]
    return dict(zip(context.table.headings, row.cells, strict=True))


@then("the subplans run in the waves `{waves}`")
def subplans_run_in_waves(context: Context, waves: str) -> None:
    found = " / ".join(" ".join(wave) for wave in subplans(context).waves)
    assert found == waves, found
