"""Tables of scenarios as plain values."""

from __future__ import annotations

import ast
import json
from typing import Any

from behave.model import Table


def table_rows(table: Table) -> list[list[str]]:
    return [list(row.cells) for row in table]


def row_values(table: Table) -> dict[str, str]:
    """Returns the first column's cells with those of the second."""
    return {row[0]: row[1] for row in table}


def flattened(value: Any, path: str = "") -> dict[str, str]:
    """Returns the leaves of a JSON value by their dotted paths; text stands without quotes."""
    if not value or not isinstance(value, dict | list):
        return {path: value if isinstance(value, str) else json.dumps(value)}
    items = value.items() if isinstance(value, dict) else enumerate(value)
    leaves: dict[str, str] = {}
    for key, item in items:
        leaves |= flattened(item, f"{path}.{key}" if path else str(key))
    return leaves


def plain(text: str) -> str:
    """Returns the text with escapes such as `\\n` and `\\x00` resolved."""
    return ast.literal_eval(f'"""{text}"""')
