from __future__ import annotations

import os
import pty
from pathlib import Path

from behave import then, when
from behave.runner import Context

from cleveragents.cli import terminal
from cleveragents.cli.printers.layout import command_lines, fitted, pad, widths
from cleveragents.reports.report import Column, Commands


def room(columns: str) -> int | None:
    return None if columns == "any" else int(columns)


@when('"{text}" is wrapped to {columns:d} columns')
def wrap(context: Context, text: str, columns: int) -> None:
    context.lines = terminal.filled(text.replace("_", " "), columns)


@when('"{text}" is cut to {columns:d} columns at its {end}')
def cut(context: Context, text: str, columns: int, end: str) -> None:
    context.lines = [terminal.shortened(text, columns, at_start=end == "start")]


@when('"{text}" is read as the name of a file')
def read_name(context: Context, text: str) -> None:
    context.name = terminal.unescaped(text)


@then('it is shown as "{text}" again, and has {count:d} characters')
def shown_again(context: Context, text: str, count: int) -> None:
    assert (terminal.visible(context.name), len(context.name)) == (text, count), context.name


@when("a list with ids, names, times and sizes is fitted into {columns} columns")
def fit(context: Context, columns: str) -> None:
    rows, remarks = fitted(
        (
            Column("Id", ("ABCD",)),
            Column("Name", ("a name that is rather long",), cut="end"),
            Column("Time", ("12:30:00",), Column("When", ("12:30",))),
            Column("Empty", ("",)),
            Column("Size", ("1 KB",), optional=True),
            Column("Used", ("2 KB",), optional=True),
        ),
        room(columns),
    )
    wide = widths(rows)
    context.lines = ["  ".join(map(pad, row, wide)) for row in rows] + remarks


@when("what the user can do is shown on {columns} columns")
def show_commands(context: Context, columns: str) -> None:
    rows = (("Undo it", "agents plan undo P"), ("Continue from there", "agents plan execute P"))
    context.lines = command_lines(Commands("Next", rows), room(columns))


@then("its lines are {lines}")
def lines_are(context: Context, lines: str) -> None:
    found = " / ".join(line.replace(" ", "_").rstrip("_") for line in context.lines)
    expected = " / ".join(line.replace(" ", "_").rstrip("_") for line in lines.split(" / "))
    assert found == expected, (found, expected)


@then("the screen of a {stream} where COLUMNS is {columns} has {width} columns")
def screen_has(context: Context, stream: str, columns: str, width: str) -> None:
    controller, follower = pty.openpty()
    place = os.ttyname(follower) if stream == "terminal" else os.devnull
    environment = {} if columns == "unset" else {"COLUMNS": columns}
    with Path(place).open("w", encoding="utf-8") as opened:
        found = terminal.screen_width(opened, environment)
    os.close(controller)
    os.close(follower)
    assert str(found or "unknown") == width, found
