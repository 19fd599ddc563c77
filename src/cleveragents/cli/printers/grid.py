"""`table`: ASCII grids without color, for simple terminals and logs."""

from __future__ import annotations

from cleveragents.cli.printers.color import closing
from cleveragents.cli.printers.layout import cells, pad, widths, without_empty_columns
from cleveragents.cli.terminal import visible, visible_lines
from cleveragents.reports.report import Fields, Report, Section, Text


def grid(report: Report) -> str:
    blocks = [[visible(section.title), *_body(section)] for section in report.sections]
    if report.messages:
        blocks.append(closing(report, color=False))
    return "\n\n".join("\n".join(block) for block in blocks) + "\n" if blocks else ""


def _body(section: Section) -> list[str]:
    if isinstance(section, Text):
        return visible_lines(section.body).splitlines()
    if isinstance(section, Fields):
        return _grid(section.rows)
    if not section.rows:
        return [visible(section.empty)]
    table = without_empty_columns(section)
    top, header, *rest = _grid((table.columns, *table.rows))
    return [top, header, top, *rest]


def _grid(rows: tuple[tuple[str, ...], ...]) -> list[str]:
    safe = cells(rows)
    wide = widths(safe)
    rule = "+" + "+".join("-" * (columns + 2) for columns in wide) + "+"
    lines = ["| " + " | ".join(map(pad, row, wide)) + " |" for row in safe]
    return [rule, *lines, rule]
