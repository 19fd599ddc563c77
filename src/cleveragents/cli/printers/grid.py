"""`table`: ASCII grids without color, for simple terminals and logs."""

from __future__ import annotations

from collections.abc import Sequence

from cleveragents.cli.printers.color import closing
from cleveragents.cli.printers.layout import (
    cells,
    command_lines,
    fitted,
    folded,
    pad,
    pair_lines,
    stacked,
    table_width,
    widths,
    with_first_rows,
    without_empty_columns,
    without_table,
)
from cleveragents.cli.terminal import visible, visible_lines
from cleveragents.reports.report import Commands, Fields, Report, Section, Text


def grid(report: Report, *, room: int | None, every_row: bool) -> str:
    """Returns the report in grids that fit the screen; `room` is None if its width is unknown."""
    blocks = [
        [visible(section.title), *_body(section, room, every_row=every_row)]
        for section in report.sections
    ]
    if report.messages:
        blocks.append(closing(report, color=False, room=room))
    return "\n\n".join("\n".join(block) for block in blocks) + "\n" if blocks else ""


def _body(section: Section, room: int | None, *, every_row: bool) -> list[str]:
    if isinstance(section, Text):
        return visible_lines(section.body).splitlines()
    if isinstance(section, Fields):
        framed = _grid(cells(section.rows), room)
        return framed or [f"{name}{text}" for name, text in pair_lines(section, room)]
    if isinstance(section, Commands):
        return command_lines(section, room)
    if not section.rows:
        return [visible(section.empty)]
    if section.lines:
        # Borders take more room than the gaps of a list without them.
        inside = None if room is None else room - len(section.lines) - 3
        rows, remarks = fitted(section.lines, inside)
        return [*_with_header(rows, None), *remarks]
    shown, rest = with_first_rows(section, every_row=every_row)
    table = without_empty_columns(shown)
    return [*_with_header(cells((table.columns, *table.rows)), room), *rest]


def _with_header(rows: Sequence[Sequence[str]], room: int | None) -> list[str]:
    lines = _grid(rows, room)
    if lines is None:
        return without_table(rows, room or 0)
    top, header, *rest = lines
    return [top, header, top, *rest]


def _grid(rows: Sequence[Sequence[str]], room: int | None) -> list[str] | None:
    """Returns the rows between borders; None if a word does not fit into its column."""
    borders = 3 * len(rows[0]) + 1 if rows else 0
    folds = folded(rows, None if room is None else room - borders)
    if room is not None and table_width(folds) + borders > room:
        return None
    drawn = [line for row in folds for line in stacked(row)]
    wide = widths(drawn)
    rule = "+" + "+".join("-" * (columns + 2) for columns in wide) + "+"
    lines = ["| " + " | ".join(map(pad, row, wide)) + " |" for row in drawn]
    return [rule, *lines, rule]
