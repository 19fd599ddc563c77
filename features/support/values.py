"""Tables of scenarios as plain values."""

from __future__ import annotations

import ast

from behave.model import Table


def table_rows(table: Table) -> list[list[str]]:
    return [list(row.cells) for row in table]


def row_values(table: Table) -> dict[str, str]:
    """Returns the first column's cells with those of the second."""
    return {row[0]: row[1] for row in table}


def plain(text: str) -> str:
    """Returns the text with escapes such as `\\n` and `\\x00` resolved."""
    return ast.literal_eval(f'"""{text}"""')
