from __future__ import annotations

from behave import given, then, when
from behave.runner import Context
from features.support.faults.hostile_programs import hostile_programs
from features.support.sandboxes.sandbox_bench import bench


@given("a project in which the user has configured: {program}")
def program_in_project(context: Context, program: str) -> None:
    hostile_programs(context).in_project(program)


@given("a project of a user whose configuration says `{line}`")
def program_in_configuration(context: Context, line: str) -> None:
    hostile_programs(context).set_configuration(line)


@given("a project of a user whose environment has `{variable}`")
def program_in_environment(context: Context, variable: str) -> None:
    hostile_programs(context).set_variable(variable)


@given("a sandbox whose agent has configured: {program}")
def program_in_sandbox(context: Context, program: str) -> None:
    hostile_programs(context).in_sandbox(program)


@when("a plan works on it, is compared and goes back")
def plan_works(context: Context) -> None:
    bench(context).patience = 20
    bench(context).attempt(lambda: hostile_programs(context).exercise("FIRST"))


@when("its plan continues, and then another plan works on the project")
def plans_work(context: Context) -> None:
    bench(context).patience = 20
    bench(context).attempt(lambda: hostile_programs(context).exercise("FIRST"))
    bench(context).attempt(lambda: hostile_programs(context).exercise("SECOND"))


@then("everything worked, and no configured program ran")
def nothing_ran(context: Context) -> None:
    error = bench(context).error
    assert error is None, error
    hostile_programs(context).expect_none_ran()
