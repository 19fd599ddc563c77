from __future__ import annotations

from unittest.mock import patch

from behave import given, then
from behave.runner import Context
from features.support import apply_mishaps
from features.support import plan_mishaps as mishaps
from features.support.applies import Acting, applies
from features.support.operation_sweep import Throwing
from features.support.plans import plans

from cleveragents.application.fault_points import FaultPoint
from cleveragents.container import Container


@given("a plan that wrote a.log, and then had git ignore it")
def wrote_then_ignored(context: Context) -> None:
    applies(context).prepare("true", "true")
    log = {"step": "log", "does": "writes a.log"}
    plans(context).define([log, {"step": "ignore", "does": "runs `echo a.log > .gitignore`"}])
    plans(context).run()


@given("the user runs `{command}` when the apply is at {point}")
def user_acts(context: Context, command: str, point: str) -> None:
    mishaps.install(context, applies(context).do_at(FaultPoint(point), command))


@given("the user applies another plan of the project when the apply is at {point}")
def other_apply(context: Context, point: str) -> None:
    first = plans(context).plan_id
    plans(context).define([{"step": "work", "does": "writes other.txt"}])
    plans(context).run()
    arguments = ("plan", "apply", plans(context).plan_id, "--yes")
    plans(context).chosen = first
    acting = Acting(FaultPoint(point), lambda: plans(context).prepare(*arguments))
    mishaps.install(context, patch.object(Container, "_faults", acting))


@given("the apply will fail at {point}")
def will_fail(context: Context, point: str) -> None:
    throwing = Throwing(FaultPoint(point), 1)
    mishaps.install(context, patch.object(Container, "_faults", throwing))


@given("for the apply {trouble}")
def trouble(context: Context, trouble: str) -> None:
    mishaps.install(context, apply_mishaps.TROUBLES[trouble]())


@then("the project is as the user left it")
def as_user_left_it(context: Context) -> None:
    expected, found = applies(context).left, applies(context).seen()
    assert expected == found, (expected, found)


@then("the error names the commands {commands}")
def names_commands(context: Context, commands: str) -> None:
    found = context.world.last.json["error"]["details"]["recovery_options"]
    assert found == plans(context).filled(commands).split("; "), found


@given("the project's directory is called `{name}`")
def called(context: Context, name: str) -> None:
    context.plans = plans(context)
    place = context.world.directory / name.replace("\\n", "\n")
    context.world.project.rename(place)
    context.world.project = place


@given("a plan that ran `{work}` was started in the directory {directory}")
def started_inside(context: Context, work: str, directory: str) -> None:
    applies(context).prepare("true", work)
    file = str(plans(context).file)
    plans(context).prepare("plan", "run", file, "--project", directory)


@given("the project's git directory is elsewhere")
def separate_git_directory(context: Context) -> None:
    applies(context).shell("git init -q --separate-git-dir ../elsewhere.git")
