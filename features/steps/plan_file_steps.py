from __future__ import annotations

import json

from behave import given, then, when
from behave.runner import Context
from features.support.plan_files import VALID, PlanReading
from features.support.values import row_values, table_rows


def reading(context: Context) -> PlanReading:
    if "reading" not in context:
        context.reading = PlanReading(context.world.directory)
    return context.reading


@given("a plan file")
def plan_file(context: Context) -> None:
    reading(context).write(context.text)


@given("a plan file with the line `{line}`")
def plan_file_with_line(context: Context, line: str) -> None:
    reading(context).write(VALID + line + "\n")


@given("a plan file with the step `{step}`")
def plan_file_with_step(context: Context, step: str) -> None:
    reading(context).write(f"name: local/example\nsteps:\n  - {step}\n")


@given("a plan file with the tool `{tool}`")
def plan_file_with_tool(context: Context, tool: str) -> None:
    reading(context).write(VALID + f"tools:\n  my-tool: {tool}\n")


@given("a plan file with the validation `{validation}`")
def plan_file_with_validation(context: Context, validation: str) -> None:
    reading(context).write(VALID + f"validations:\n  [{validation}]\n")


@given("{what} where the plan file should be")
def no_plan_file(context: Context, what: str) -> None:
    reading(context).make(what)


@given("a plan file whose aliases repeat each other {levels:d} times")
def alias_bomb(context: Context, levels: int) -> None:
    reading(context).make_alias_bomb(levels)


@given("a plan file nested {depth:d} deep")
def deep_plan_file(context: Context, depth: int) -> None:
    reading(context).write("steps: " + "[" * depth + "]" * depth)


@when("the plan file is read")
def read_plan_file(context: Context) -> None:
    reading(context).read()


@when("the user gives the arguments")
def give_arguments(context: Context) -> None:
    reading(context).resolve(row_values(context.table))


@when("the user gives no arguments")
def give_no_arguments(context: Context) -> None:
    reading(context).resolve({})


@then('the plan is called "{name}"')
def plan_name(context: Context, name: str) -> None:
    assert reading(context).plan.name == name, reading(context).plan.name


@then("the plan's steps are")
def plan_steps(context: Context) -> None:
    steps = [
        [step.name, step.tool, step.resource or "", step.save_as or ""]
        for step in reading(context).plan.steps
    ]
    assert steps == table_rows(context.table), steps


@then("the plan's resources are")
def plan_resources(context: Context) -> None:
    found = [[name, item.type, item.path] for name, item in reading(context).plan.resources.items()]
    assert found == table_rows(context.table), found


@then("the plan's policy is")
def plan_policy(context: Context) -> None:
    policy = reading(context).plan.policy
    found = [[policy.on_failure, str(policy.require_checkpoints).lower()]]
    assert found == table_rows(context.table), found


@then("the plan's own tools are")
def plan_tools(context: Context) -> None:
    found = [
        [tool.name, " ".join(tool.parameters), *_said(tool.writes, tool.checkpointable)]
        for tool in reading(context).plan.tools.values()
    ]
    assert found == table_rows(context.table), found


@then("the plan's validations are")
def plan_validations(context: Context) -> None:
    found = [
        [one.name, one.run, one.mode, str(one.timeout), " ".join(one.tool.parameters)]
        for one in reading(context).plan.validations
    ]
    assert found == table_rows(context.table), found


def _said(*flags: bool) -> list[str]:
    return ["yes" if flag else "no" for flag in flags]


@then("the input of step {number:d} is")
def step_input(context: Context, number: int) -> None:
    found = reading(context).plan.steps[number - 1].input
    expected = row_values(context.table)
    assert found == expected, found


@then("the file is refused on line {line:d} because {problem}")
def refused_on_line(context: Context, line: int, problem: str) -> None:
    error = reading(context).refusal
    assert (error.line, error.problem) == (line, problem), (error.line, error.problem)


@then("the file is refused because {problem}")
def refused(context: Context, problem: str) -> None:
    error = reading(context).refusal
    assert (error.line, error.problem) == (None, problem), (error.line, error.problem)


@then('the hint says "{hint}"')
def hint_says(context: Context, hint: str) -> None:
    assert reading(context).complaint.hint == hint, reading(context).complaint.hint


@then("the plan's arguments have the values")
def argument_values(context: Context) -> None:
    assert reading(context).arguments == row_values(context.table), reading(context).arguments


@then("the arguments are refused because {problem}")
def arguments_refused(context: Context, problem: str) -> None:
    error = reading(context).complaint
    assert (error.exit_code, error.message) == (2, problem), error.message


@then("the tool of the plan declares")
def tool_declares(context: Context) -> None:
    (tool,) = reading(context).plan.tools.values()
    expected = {name: json.loads(value) for name, value in row_values(context.table).items()}
    found = {name: getattr(tool, name) for name in expected}
    assert found == expected, found


@then("step {number:d} runs on the resource {name}")
def step_resource(context: Context, number: int, name: str) -> None:
    found = reading(context).plan.steps[number - 1].resource
    assert found == name, found


@then("the plan uses the tool {name}")
def uses_tool(context: Context, name: str) -> None:
    assert [step.tool for step in reading(context).plan.steps] == [name]
