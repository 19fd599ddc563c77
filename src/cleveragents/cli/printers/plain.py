"""`plain`: one tab-separated record per line, no headers; for `cut`, `awk`, `while read`."""

from __future__ import annotations

from cleveragents.cli.terminal import record, visible_lines
from cleveragents.reports.report import Report, Section, Text


def plain(report: Report) -> str:
    """Returns the records alone: titles are left out, and messages go to stderr."""
    return "".join(f"{line}\n" for section in report.sections for line in _lines(section))


def _lines(section: Section) -> list[str]:
    if isinstance(section, Text):
        return visible_lines(section.body).splitlines()
    return ["\t".join(record(value) for value in row) for row in section.rows]
