"""`plain`: one tab-separated record per line, no headers; for `cut`, `awk`, `while read`."""

from __future__ import annotations

from cleveragents.cli.terminal import record, visible, visible_lines
from cleveragents.reports.report import Report, Section, Text


def plain(report: Report) -> str:
    """Returns the records alone: most titles are left out, and messages go to stderr."""
    if report.headed:
        blocks = [[visible(section.title), *_lines(section)] for section in report.sections]
        return "\n".join("".join(f"{line}\n" for line in block) for block in blocks)
    return "".join(f"{line}\n" for section in report.sections for line in _lines(section))


def _lines(section: Section) -> list[str]:
    if isinstance(section, Text):
        return visible_lines(section.body).splitlines()
    return ["\t".join(record(value) for value in row) for row in section.rows]
