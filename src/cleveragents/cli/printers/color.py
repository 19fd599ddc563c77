"""`color`: aligned text with ANSI colors and no boxes."""

from __future__ import annotations

from collections.abc import Sequence

from cleveragents.cli.printers.layout import (
    action_style,
    cells,
    command_lines,
    diff_styles,
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
from cleveragents.cli.terminal import (
    BOLD,
    CYAN,
    GREEN,
    filled,
    paint,
    visible,
    visible_lines,
)
from cleveragents.reports.report import Commands, Fields, Report, Section, Table, Text


def colored(report: Report, *, color: bool, room: int | None, every_row: bool) -> str:
    """Returns the report as aligned text, in colors if `color`.

    Args:
        report: The report.
        color: Whether to use colors.
        room: How wide the screen is; None if that is unknown.
        every_row: Whether long tables are shown whole.
    """
    blocks = [
        _block(section, color=color, room=room, every_row=every_row) for section in report.sections
    ]
    if report.messages:
        blocks.append(closing(report, color=color, room=room))
    return "\n\n".join("\n".join(block) for block in blocks) + "\n" if blocks else ""


def closing(report: Report, *, color: bool, room: int | None) -> list[str]:
    """Returns the messages; the first is marked `OK` if the command did something."""
    lines: list[str] = []
    for position, message in enumerate(report.messages):
        done = position == 0 and report.did_something and report.status != "error"
        safe = f"OK {visible(message)}" if done else visible(message)
        first, *rest = [safe] if room is None else filled(safe, room)
        if done:
            first = paint("OK", GREEN, color=color) + first.removeprefix("OK")
        lines += [first, *rest]
    return lines


def listing(section: Table, *, color: bool, room: int | None) -> list[str]:
    """Returns a list with one line per row, which fits the screen."""
    rows, remarks = fitted(section.lines, room)
    header, *body = _aligned(rows)
    return [paint(header, CYAN, color=color), *body, *remarks]


def _block(section: Section, *, color: bool, room: int | None, every_row: bool) -> list[str]:
    title = paint(visible(section.title), BOLD, color=color)
    if isinstance(section, Text):
        lines = diff_styles(visible_lines(section.body))
        return [title, *(paint(line, style, color=color) for line, style in lines)]
    if isinstance(section, Fields):
        pairs = pair_lines(section, room)
        return [title, *(f"{paint(name, CYAN, color=color)}{text}" for name, text in pairs)]
    if isinstance(section, Commands):
        return [title, *command_lines(section, room)]
    if not section.rows:
        return [title, visible(section.empty)]
    if section.lines:
        return [title, *listing(section, color=color, room=room)]
    shown, rest = with_first_rows(section, every_row=every_row)
    table = without_empty_columns(shown)
    safe = cells((table.columns, *table.rows))
    gaps = 2 * (len(table.columns) - 1)
    folds = folded(safe, None if room is None else room - gaps)
    if room is not None and table_width(folds) + gaps > room:
        header, *body = without_table(safe, room)
        return [title, paint(header, CYAN, color=color), *body, *rest]
    lines = [line for row in folds for line in stacked(row)]
    header, *body = _aligned(lines, table.columns if color else ())
    return [title, paint(header, CYAN, color=color), *body, *rest]


def _aligned(rows: Sequence[Sequence[str]], headings: Sequence[str] = ()) -> list[str]:
    """Returns each row as a line; the words below some headings are colored."""
    wide = widths(rows)
    lines = [list(map(pad, row, wide)) for row in rows]
    for line in lines[1:]:
        for at, heading in enumerate(headings):
            line[at] = paint(line[at], action_style(heading, line[at]), color=True)
    return ["  ".join(line).rstrip() for line in lines]
