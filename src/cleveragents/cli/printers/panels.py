"""`rich`: panels and tables drawn by the rich library, the only module that imports it."""

from __future__ import annotations

import io

from rich import box
from rich.console import Console, RenderableType
from rich.panel import Panel
from rich.table import Table as Grid
from rich.text import Text as Styled

from cleveragents.cli.printers.color import closing
from cleveragents.cli.printers.layout import diff_styles, without_empty_columns
from cleveragents.cli.terminal import paint, visible, visible_lines
from cleveragents.reports.report import Fields, Report, Table, Text

_LONGEST_WORD = 26
"""The length of an id, which must stay in one piece so that it can be copied."""


def panels(report: Report, *, color: bool, encoding: str) -> str:
    """Returns the drawn report; `encoding` decides whether boxes may be more than ASCII."""
    console = Console(
        file=io.TextIOWrapper(io.BytesIO(), encoding=encoding),
        force_terminal=color,
        no_color=not color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    with console.capture() as capture:
        for number, section in enumerate(report.sections):
            before = report.sections[number - 1] if number else section
            if number and not (isinstance(before, Fields) and isinstance(section, Fields)):
                console.print()
            if isinstance(section, Text):
                _print_text(console, section, color=color)
            elif isinstance(section, Fields):
                console.print(_boxed(section.title, _pairs(section)))
            elif not section.rows:
                console.print(_boxed(section.title, Styled(visible(section.empty))))
            else:
                console.print(Styled(visible(section.title), style="bold"), soft_wrap=True)
                console.print(_listed(without_empty_columns(section)))
        for line in closing(report, color=color):
            console.print(Styled.from_ansi(line), soft_wrap=True)
    return capture.get()


def _print_text(console: Console, section: Text, *, color: bool) -> None:
    """Prints without a box and unwrapped, so that the text can be copied."""
    console.print(Styled(visible(section.title), style="bold"))
    for line, style in diff_styles(visible_lines(section.body)):
        console.print(Styled.from_ansi(paint(line, style, color=color)), soft_wrap=True)


def _boxed(title: str, content: RenderableType) -> Panel:
    heading = Styled(visible(title), style="bold")
    return Panel(content, title=heading, title_align="left", expand=False)


def _listed(section: Table) -> Grid:
    drawn = Grid(box=box.ROUNDED, header_style="cyan")
    for position, column in enumerate(section.columns):
        unbroken = all(_is_one_word(row[position]) for row in section.rows)
        drawn.add_column(Styled(visible(column)), overflow="fold", no_wrap=unbroken)
    for row in section.rows:
        drawn.add_row(*(Styled(visible(value)) for value in row))
    return drawn


def _is_one_word(value: str) -> bool:
    """Whether a value is short enough to be kept in one piece."""
    return len(value) <= _LONGEST_WORD and " " not in value


def _pairs(section: Fields) -> Grid:
    pairs = Grid.grid(padding=(0, 2, 0, 0))
    pairs.add_column(style="cyan", no_wrap=True)
    pairs.add_column(overflow="fold")
    for name, value in section.rows:
        pairs.add_row(Styled(visible(name)), Styled(visible(value)))
    return pairs
