"""`color`: aligned text with ANSI colors and no boxes."""

from __future__ import annotations

from cleveragents.cli.printers.layout import cells, diff_styles, pad, widths, without_empty_columns
from cleveragents.cli.terminal import BOLD, CYAN, GREEN, paint, visible, visible_lines, width
from cleveragents.reports.report import Fields, Report, Section, Text


def colored(report: Report, *, color: bool) -> str:
    """Returns the report as aligned text, in colors if `color`."""
    blocks = [_block(section, color=color) for section in report.sections]
    if report.messages:
        blocks.append(closing(report, color=color))
    return "\n\n".join("\n".join(block) for block in blocks) + "\n" if blocks else ""


def closing(report: Report, *, color: bool) -> list[str]:
    """Returns the messages, each marked `OK` unless the command failed."""
    mark = "" if report.status == "error" else paint("OK", GREEN, color=color) + " "
    return [mark + visible(message) for message in report.messages]


def _block(section: Section, *, color: bool) -> list[str]:
    title = paint(visible(section.title), BOLD, color=color)
    if isinstance(section, Text):
        lines = diff_styles(visible_lines(section.body))
        return [title, *(paint(line, style, color=color) for line, style in lines)]
    if isinstance(section, Fields):
        return [title, *_pairs(section, color=color)]
    if not section.rows:
        return [title, visible(section.empty)]
    table = without_empty_columns(section)
    header, *body = _aligned((table.columns, *table.rows))
    return [title, paint(header, CYAN, color=color), *body]


def _pairs(section: Fields, *, color: bool) -> list[str]:
    safe = cells(section.rows)
    longest = max((width(name) for name, _ in safe), default=0)
    names = [paint(pad(name, longest), CYAN, color=color) for name, _ in safe]
    return [f"{name}  {value}".rstrip() for name, (_, value) in zip(names, safe, strict=True)]


def _aligned(rows: tuple[tuple[str, ...], ...]) -> list[str]:
    safe = cells(rows)
    wide = widths(safe)
    return ["  ".join(map(pad, row, wide)).rstrip() for row in safe]
