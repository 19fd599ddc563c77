"""What the formats for people share: aligned cells and the colors of a diff."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cleveragents.cli.terminal import BOLD, CYAN, GREEN, RED, visible, width
from cleveragents.reports.report import Table


def cells(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Returns the rows with every value made safe to show."""
    return [[visible(value) for value in row] for row in rows]


def widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """Returns how wide each column of the rows is."""
    return [max(width(value) for value in column) for column in zip(*rows, strict=True)]


def without_empty_columns(section: Table) -> Table:
    """Returns the table without columns that are empty in every row."""
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
    """Pairs each line with its style; text that is not a diff has none."""
    lines = body.splitlines()
    if not any(line.startswith("@@ ") for line in lines):
        return [(line, "") for line in lines]
    return [(line, _diff_style(line)) for line in lines]


def _diff_style(line: str) -> str:
    if line.startswith(("+++", "---", "diff ")):
        return BOLD
    return {"+": GREEN, "-": RED, "@": CYAN}.get(line[:1], "")
