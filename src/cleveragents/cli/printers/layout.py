"""What the formats for people share: aligned cells and the colours of a diff."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cleveragents.cli.terminal import BOLD, CYAN, GREEN, RED, visible, width
from cleveragents.reports.report import Table


def cells(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Returns the rows with every value made safe to show."""
    return [[visible(value) for value in row] for row in rows]


def widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """Returns the columns each cell of a row needs so that all rows fit."""
    return [max(width(value) for value in column) for column in zip(*rows, strict=True)]


def without_empty_columns(section: Table) -> Table:
    """Returns the table as people need it: a column that says nothing only takes room."""
    kept = [
        position
        for position in range(len(section.columns))
        if not section.rows or any(row[position] for row in section.rows)
    ]
    return replace(
        section,
        columns=tuple(section.columns[position] for position in kept),
        rows=tuple(tuple(row[position] for position in kept) for row in section.rows),
    )


def pad(text: str, columns: int) -> str:
    return text + " " * (columns - width(text))


def diff_styles(body: str) -> list[tuple[str, str]]:
    """Pairs each line with its style; text without hunks has no styles."""
    lines = body.splitlines()
    if not any(line.startswith("@@ ") for line in lines):
        return [(line, "") for line in lines]
    return [(line, _diff_style(line)) for line in lines]


def _diff_style(line: str) -> str:
    if line.startswith(("+++", "---", "diff ")):
        return BOLD
    return {"+": GREEN, "-": RED, "@": CYAN}.get(line[:1], "")
