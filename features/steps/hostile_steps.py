from __future__ import annotations

from behave import given, then, when
from behave.runner import Context
from features.support.faults.hostile_programs import traps
from features.support.sandboxes.sandbox_bench import bench


@given("a project in which the user has set the trap `{command}`")
def trap_in_project(context: Context, command: str) -> None:
    traps(context).in_project(command)


@given("a project of a user whose configuration says `{line}`")
def trap_in_configuration(context: Context, line: str) -> None:
    traps(context).set_configuration(line)


@given("a project of a user whose environment has `{variable}`")
def trap_in_environment(context: Context, variable: str) -> None:
    traps(context).set_variable(variable)


@given("a sandbox whose agent has set the trap `{command}`")
def trap_in_sandbox(context: Context, command: str) -> None:
    traps(context).in_sandbox(command)


@when("a plan works on it, is compared and goes back")
def plan_works(context: Context) -> None:
    bench(context).patience = 20
    bench(context).attempt(lambda: traps(context).exercise("FIRST"))


@when("its plan goes on, and then another plan works on the project")
def plans_work(context: Context) -> None:
    bench(context).patience = 20
    bench(context).attempt(lambda: traps(context).exercise("FIRST"))
    bench(context).attempt(lambda: traps(context).exercise("SECOND"))


@then("everything worked, and no trap was sprung")
def nothing_sprung(context: Context) -> None:
    error = bench(context).error
    assert error is None, error
    traps(context).expect_none_sprung()
