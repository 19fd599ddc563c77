from __future__ import annotations

import re

from behave import given, then, when
from behave.runner import Context
from features.steps.correction_steps import standing
from features.support.golden import typed
from features.support.plans import plans
from features.support.terminals import at_terminal

_KEYS = {"Ctrl-C": "\x03", "y": "y\n", "n": "n\n"}
_CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@given('"{command}" was run')
def was_run(context: Context, command: str) -> None:
    done = context.world.process_agents(*typed(plans(context).filled(command)))
    assert done.exit_code == 0, done


@given("the project has a directory `{place}` of {count:d} files")
def directory_of_files(context: Context, place: str, count: int) -> None:
    directory = context.world.project / place
    directory.mkdir()
    for number in range(count):
        (directory / str(number)).touch()


@when('the user types "{command}" at a terminal')
def at_a_terminal(context: Context, command: str) -> None:
    file = str(plans(context).file)
    filled = plans(context).filled(command) if "PLAN" in command else command
    at_terminal(context.world, *typed(filled.replace("FILE", file)))


@when('the user types "{command}" at a terminal, and {key} when asked')
def answer(context: Context, command: str, key: str) -> None:
    arguments = typed(plans(context).filled(command))
    at_terminal(context.world, *arguments, typed=[("[y/N]", _KEYS[key])])


@then('a bar of "{name}" reached {count:d} of {total:d}')
def bar_reached(context: Context, name: str, count: int, total: int) -> None:
    drawn = context.world.last.stdout
    assert f"{name} [{'#' * (30 * count // total):<30}] {count} of {total}" in drawn, drawn[-3000:]


@then("no bar was drawn")
def no_bar(context: Context) -> None:
    last = context.world.last
    assert last.exit_code == 0, last
    assert " [#" not in last.stdout + last.stderr, last


@then("what was restored is green, and what was removed is red")
def colored(context: Context) -> None:
    drawn = context.world.last.stdout
    assert "\x1b[32mrestored\x1b[0m" in drawn and "\x1b[31mremoved\x1b[0m" in drawn, drawn


@then('the screen says "{text}"')
def screen_says(context: Context, text: str) -> None:
    screen = " ".join(_CONTROL.sub("", context.world.last.stdout).split())
    assert text in screen, screen[-3000:]


@then("no line of the screen has more than {columns:d} columns")
def not_wider(context: Context, columns: int) -> None:
    lines = _CONTROL.sub("", context.world.last.stdout).splitlines()
    wide = [line for line in lines if len(line.rpartition("\r")[2]) > columns]
    assert not wide, "\n".join(wide)


@given("the user's file {name} is not committed")
def not_committed(context: Context, name: str) -> None:
    (context.world.project / name).write_text("mine\n")


@when("the user explains the decision at a terminal, and what was known")
def explain(context: Context) -> None:
    at_terminal(context.world, "plan", "explain", standing(context), "--show-context")


@given("an empty directory is in the place of its sandbox")
def empty_directory(context: Context) -> None:
    (sandbox,) = (context.world.home / "sandboxes").glob("*/assets")
    sandbox.rename(sandbox.with_name("moved"))
    sandbox.mkdir()
