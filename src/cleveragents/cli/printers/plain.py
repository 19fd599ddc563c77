"""`plain`: tab-separated records, one a line, no headers; for `cut`, `awk` and `while read`."""

from __future__ import annotations

from cleveragents.cli.terminal import record, visible_lines
from cleveragents.reports.report import Report, Section, Text


def plain(report: Report) -> str:
    """Returns only records: titles, and messages too, are for other formats and streams."""
    return "".join(f"{line}\n" for section in report.sections for line in _lines(section))


def _lines(section: Section) -> list[str]:
    if isinstance(section, Text):
        return visible_lines(section.body).splitlines()
    return ["\t".join(record(value) for value in row) for row in section.rows]
