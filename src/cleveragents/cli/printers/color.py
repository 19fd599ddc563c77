"""`color`: aligned text with ANSI colors and no boxes."""

from __future__ import annotations

from collections.abc import Sequence

from cleveragents.cli.printers.layout import (
    cells,
    command_lines,
    diff_styles,
    fitted,
    folded,
    pad,
    stacked,
    widths,
    with_first_rows,
    without_empty_columns,
)
from cleveragents.cli.terminal import (
    BOLD,
    CYAN,
    GREEN,
    filled,
    paint,
    visible,
    visible_lines,
    width,
)
from cleveragents.reports.report import Commands, Fields, Report, Section, Table, Text


def colored(report: Report, *, color: bool, room: int | None, every_row: bool) -> str:
    """Returns the report as aligned text, in colors if `color`.

    Args:
        report: The report.
        color: Whether to use colors.
        room: How wide the screen is; None if nobody knows.
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
        return [title, *_pairs(section, color=color, room=room)]
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
    header, *body = _stacked_rows(folded(safe, None if room is None else room - gaps))
    return [title, paint(header, CYAN, color=color), *body, *rest]


def _pairs(section: Fields, *, color: bool, room: int | None) -> list[str]:
    safe = cells(section.rows)
    longest = max((width(name) for name, _ in safe), default=0)
    lines: list[str] = []
    for name, value in safe:
        parts = [value] if room is None else filled(value, max(room - longest - 2, 1))
        for number, part in enumerate(parts or [""]):
            label = paint(pad(name, longest), CYAN, color=color) if not number else " " * longest
            lines.append(f"{label}  {part}".rstrip())
    return lines


def _stacked_rows(rows: Sequence[Sequence[Sequence[str]]]) -> list[str]:
    return _aligned([line for row in rows for line in stacked(row)])


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    wide = widths(rows)
    return ["  ".join(map(pad, row, wide)).rstrip() for row in rows]
