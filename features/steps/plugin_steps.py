from __future__ import annotations

import json
import os
import sys
from functools import partial
from unittest.mock import patch

from behave import given, then, when
from behave.runner import Context
from features.support.clocks import StoppedClock, has_content
from features.support.plan_files import PlanReading
from features.support.plugins import (
    Packages,
    closure,
    greeter,
    hold_lock,
    refused_registration,
    run_and_kill,
    run_with,
    stop_with,
)
from features.support.tools import bench_of
from features.support.values import row_values

from cleveragents.domain.errors import ConfigurationError, PlanFileError
from cleveragents.domain.tools.tool import ToolInvocation
from cleveragents.infrastructure.plan_files import YamlPlanFiles
from cleveragents.infrastructure.tools.process import run as process_run
from cleveragents.infrastructure.tools.registry import Tools


def packages(context: Context) -> Packages:
    if "packages" not in context:
        context.packages = Packages(context.world.directory)
        context.add_cleanup(context.packages.remove)
    return context.packages


def tools_of(context: Context) -> Tools:
    if "tools" not in context:
        context.tools = Tools(
            bench_of(context).environment, bench_of(context).interruption, bench_of(context).events
        )
    return context.tools


@given("the package {package} offers the tools")
def offers(context: Context, package: str) -> None:
    packages(context).install(package, row_values(context.table))


@given("the package {package} offers the tool {name} as {where}")
def offers_one(context: Context, package: str, name: str, where: str) -> None:
    packages(context).install(package, {name: where})


@given("a program has registered the tool {name}")
def registered(context: Context, name: str) -> None:
    tools_of(context).register(greeter(name))


@when("a program registers the tool {name}")
def register(context: Context, name: str) -> None:
    context.refused = refused_registration(tools_of(context), greeter(name))


@when("a program registers a function that it made itself as the tool {name}")
def register_closure(context: Context, name: str) -> None:
    context.refused = refused_registration(tools_of(context), closure(name))


@given("another thread of the program holds a lock that the tool {name} takes")
def lock_held(context: Context, name: str) -> None:
    tools_of(context).specs()[name]
    context.add_cleanup(hold_lock(sys.modules["acme_tools"].LOCK))


@given("the time of the package's tools is up once they have written pid.txt")
def time_is_up(context: Context) -> None:
    written = partial(has_content, bench_of(context).file("pid.txt"))
    context.world.on_close.enter_context(patch.object(process_run, "time", StoppedClock(written)))


@when("the tool {name} of the package runs with `{given_input}`")
def run_plugin(context: Context, name: str, given_input: str) -> None:
    run_with(tools_of(context), bench_of(context), name, json.loads(given_input))


@when("the tool {name} of the package is looked up")
def look_up(context: Context, name: str) -> None:
    try:
        context.found = tools_of(context).specs()[name]
    except ConfigurationError as error:
        context.refused = error.message


@when("a plan is read that uses {name}")
def read_plan(context: Context, name: str) -> None:
    reading = PlanReading(context.world.directory)
    reading.write(f"name: local/x\nsteps:\n  - {{tool: {name}, with: {{}}}}\n")
    files = YamlPlanFiles(tools_of(context).specs())
    try:
        context.found = files.load(reading.path)
    except (ConfigurationError, PlanFileError) as error:
        context.refused, context.hint = error.message, error.hint


@when("a program calls its tool {name}")
def call_directly(context: Context, name: str) -> None:
    tool = greeter(name)
    call = ToolInvocation(spec=tool.spec, input={}, directory="/", resources={})
    context.answer = tool(call)


@then("it is answered by this process")
def answered(context: Context) -> None:
    assert context.answer == f"hello from process {os.getpid()}", context.answer


@then("it is answered by another process")
def answered_elsewhere(context: Context) -> None:
    output = bench_of(context).output
    assert output.startswith("hello from process "), output
    assert output != f"hello from process {os.getpid()}", output


@then('the plan is refused with the hint "{hint}"')
def plan_hint(context: Context, hint: str) -> None:
    specs = tools_of(context).specs()
    assert len(specs) == len(list(specs)), list(specs)
    assert context.hint == hint, context.hint


@then("the registration is refused because {reason}")
@then("that tool is refused because {reason}")
def refused(context: Context, reason: str) -> None:
    assert context.refused == reason, context.refused


@then("the refusal names the tool {name} and the package {package}")
def refusal_names(context: Context, name: str, package: str) -> None:
    assert f"The tool `{name}` of {package} cannot be used" in context.refused, context.refused


@then("the plan is accepted")
def accepted(context: Context) -> None:
    assert len(context.found.steps) == 1, context.found


@then("no package was imported")
def nothing_imported(context: Context) -> None:
    found = [name for name in sys.modules if name.startswith("acme_")]
    assert found == [], found


@then("the failure keeps what was printed: {text}")
def printed(context: Context, text: str) -> None:
    output = str(bench_of(context).failure.details["output"])
    assert text in output, output


@when("the user stops {name} with `{given_input}`")
def stop_tool(context: Context, name: str, given_input: str) -> None:
    context.interrupted = stop_with(
        tools_of(context), bench_of(context), name, json.loads(given_input)
    )


@when("the program is killed while {name} runs")
def kill_program(context: Context, name: str) -> None:
    run_and_kill(tools_of(context), bench_of(context), name)


@then("the tool was interrupted because {reason}")
def interrupted(context: Context, reason: str) -> None:
    assert context.interrupted == reason, context.interrupted
