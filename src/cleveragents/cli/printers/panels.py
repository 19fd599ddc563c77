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
    command_lines,
    diff_styles,
    with_first_rows,
    without_empty_columns,
)
from cleveragents.cli.terminal import filled, paint, visible, visible_lines, width
from cleveragents.reports.report import Commands, Fields, Report, Section, Table, Text

_LONGEST_WORD = 26
"""The length of an id, which must stay in one piece so that it can be copied."""
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
        console.print(_boxed(section.title, _pairs(section, console.width)))
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
        _print_table(console, without_empty_columns(shown))
        _print_lines(console, rest)


def _print_lines(console: Console, lines: list[str]) -> None:
    """Prints without a box and unwrapped, so that the text can be copied."""
    for line in lines:
        console.print(Styled.from_ansi(line), soft_wrap=True)


def _boxed(title: str, content: RenderableType) -> Panel:
    heading = Styled(visible(title), style="bold")
    return Panel(content, title=heading, title_align="left", expand=False)


def _print_table(console: Console, section: Table) -> None:
    """Prints a table; it is wider than the screen rather than without the end of its values."""
    drawn = Grid(box=box.ROUNDED, header_style="cyan")
    least = 3 * len(section.columns) + 1
    for position, column in enumerate(section.columns):
        values = [visible(row[position]) for row in section.rows]
        unbroken = all(_is_one_word(value) for value in values)
        drawn.add_column(Styled(visible(column)), overflow="fold", no_wrap=unbroken)
        words = [value if unbroken else _longest_word(value) for value in (*values, column)]
        least += max(min(width(word), _LONGEST_WORD) for word in words)
    for row in section.rows:
        drawn.add_row(*(Styled(visible(value)) for value in row))
    console.print(drawn, width=max(least, console.width), crop=False)


def _is_one_word(value: str) -> bool:
    """Whether a value is short enough to be kept in one piece."""
    return len(value) <= _LONGEST_WORD and " " not in value


def _longest_word(value: str) -> str:
    return max(value.split(), key=width, default="")


def _pairs(section: Fields, room: int) -> Grid:
    pairs = Grid.grid(padding=(0, 2, 0, 0))
    pairs.add_column(style="cyan", no_wrap=True)
    pairs.add_column(overflow="fold")
    names = [visible(name) for name, _ in section.rows]
    inside = room - max(map(width, names), default=0) - _BORDERS - 2
    for name, (_, value) in zip(names, section.rows, strict=True):
        pairs.add_row(Styled(name), Styled("\n".join(filled(visible(value), inside))))
    return pairs
