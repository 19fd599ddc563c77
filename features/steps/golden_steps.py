from __future__ import annotations

import difflib

from behave import then, when
from behave.runner import Context
from features.steps.correction_steps import standing
from features.support import golden
from features.support.plans import plans


def read(
    context: Context,
    command: str,
    look: str,
    answer: str | None = None,
    columns: int = golden.COLUMNS,
) -> None:
    """Runs a command on a screen of fixed width and keeps all that it shows."""
    context.world.environment["COLUMNS"] = str(columns)
    filled = plans(context).filled(command) if "PLAN" in command else command
    filled = filled.replace("FILE", str(plans(context).file))
    if "DECISION" in command:
        filled = filled.replace("DECISION", standing(context))
    line = f"{filled} --format {look}"
    stdin = None if answer is None else f"{answer}\n"
    outcome = context.world.agents(*golden.typed(line), stdin=stdin)
    context.screen = golden.transcript(plans(context), line, outcome)


@when('the user reads what "{command}" shows as {look:w}')
def read_screen(context: Context, command: str, look: str) -> None:
    read(context, command, look)


@when('the user reads what "{command}" shows as {look} on {columns:d} columns')
def read_wide_screen(context: Context, command: str, look: str, columns: int) -> None:
    read(context, command, look, columns=columns)


@when('the user answers "{answer}" to what "{command}" shows as {look}')
def read_question(context: Context, answer: str, command: str, look: str) -> None:
    read(context, command, look, answer)


@when('the user answers "{answer}" to what "{command}" shows on {columns:d} columns')
def read_wide_question(context: Context, answer: str, command: str, columns: int) -> None:
    read(context, command, "rich", answer, columns)


@then("the whole screen is that of {file}")
def screen_is(context: Context, file: str) -> None:
    kept = golden.PLACE / f"{file}.txt"
    if context.config.userdata.get("golden") == "write":
        kept.write_text(context.screen)
    expected = kept.read_text().splitlines()
    changes = difflib.unified_diff(expected, context.screen.splitlines(), str(kept), "now", n=99)
    assert expected == context.screen.splitlines(), "\n".join(changes)
