"""`rich`: panels and tables drawn by the rich library, the only module that imports it."""

from __future__ import annotations

import io

from rich import box
from rich.console import Console, RenderableType
from rich.panel import Panel
from rich.table import Table as Grid
from rich.text import Text as Styled

from cleveragents.cli.printers.color import closing, listing
from cleveragents.cli.printers.layout import (
    action_style,
    cells,
    command_lines,
    diff_styles,
    folded,
    pair_lines,
    table_width,
    with_first_rows,
    without_empty_columns,
    without_table,
)
from cleveragents.cli.terminal import CYAN, paint, visible, visible_lines, width
from cleveragents.reports.report import Commands, Fields, Report, Section, Table, Text

_BORDERS = 4


def panels(report: Report, *, color: bool, encoding: str, room: int, every_row: bool) -> str:
    """Returns the drawn report.

    Args:
        report: The report.
        color: Whether to use colors.
        encoding: Decides whether boxes may be more than ASCII.
        room: How wide the screen is.
        every_row: Whether long tables are shown whole.
    """
    console = Console(
        file=io.TextIOWrapper(io.BytesIO(), encoding=encoding),
        force_terminal=color,
        no_color=not color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
        width=room,
    )
    with console.capture() as capture:
        for number, section in enumerate(report.sections):
            before = report.sections[number - 1] if number else section
            if number and not (isinstance(before, Fields) and isinstance(section, Fields)):
                console.print()
            _print_section(console, section, color=color, every_row=every_row)
        if report.messages and any(isinstance(it, Commands) for it in report.sections[-1:]):
            console.print()
        _print_lines(console, closing(report, color=color, room=room))
    return capture.get()


def _print_section(console: Console, section: Section, *, color: bool, every_row: bool) -> None:
    if isinstance(section, Fields):
        _print_fields(console, section, color=color)
        return
    if isinstance(section, Table) and not section.rows:
        console.print(_boxed(section.title, Styled(visible(section.empty))))
        return
    console.print(Styled(visible(section.title), style="bold"), soft_wrap=True)
    if isinstance(section, Text):
        styled = diff_styles(visible_lines(section.body))
        _print_lines(console, [paint(line, style, color=color) for line, style in styled])
    elif isinstance(section, Commands):
        _print_lines(console, command_lines(section, console.width))
    elif section.lines:
        _print_lines(console, listing(section, color=color, room=console.width))
    else:
        shown, rest = with_first_rows(section, every_row=every_row)
        _print_table(console, without_empty_columns(shown), color=color)
        _print_lines(console, rest)


def _print_lines(console: Console, lines: list[str]) -> None:
    """Prints without a box and unwrapped, so that the text can be copied."""
    for line in lines:
        console.print(Styled.from_ansi(line), soft_wrap=True)


def _print_fields(console: Console, section: Fields, *, color: bool) -> None:
    """Prints named values in a box, or without one if that would break a word."""
    pairs = pair_lines(section, console.width - _BORDERS)
    lines = [f"{paint(name, CYAN, color=color)}{text}" for name, text in pairs]
    if any(width(name + text) > console.width - _BORDERS for name, text in pairs):
        console.print(Styled(visible(section.title), style="bold"), soft_wrap=True)
        _print_lines(console, lines)
    else:
        console.print(_boxed(section.title, Styled.from_ansi("\n".join(lines))))


def _boxed(title: str, content: RenderableType) -> Panel:
    heading = Styled(visible(title), style="bold")
    return Panel(content, title=heading, title_align="left", expand=False)


def _print_table(console: Console, section: Table, *, color: bool) -> None:
    """Prints a table, or without borders if a word does not fit into its column."""
    borders = 3 * len(section.columns) + 1
    safe = cells((section.columns, *section.rows))
    folds = folded(safe, console.width - borders)
    if table_width(folds) + borders > console.width:
        header, *lines = without_table(safe, console.width)
        _print_lines(console, [paint(header, CYAN, color=color), *lines])
        return
    drawn = Grid(box=box.ROUNDED, header_style="cyan")
    for heading in folds[0]:
        drawn.add_column(Styled("\n".join(heading)), no_wrap=True)
    for row in folds[1:]:
        drawn.add_row(*(_cell(*it, color=color) for it in zip(section.columns, row, strict=True)))
    console.print(drawn)


def _cell(heading: str, lines: list[str], *, color: bool) -> Styled:
    style = action_style(heading, lines[0])
    return Styled.from_ansi("\n".join(paint(line, style, color=color) for line in lines))
