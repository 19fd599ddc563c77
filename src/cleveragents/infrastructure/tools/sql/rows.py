"""Formats the rows of a query: as a table for people, or as one JSON object per line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence

_NARROW = 60
"""Wider columns are not padded."""
_SHOWN_BYTES = 64

Row = Sequence[object]


def table_lines(columns: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    cells = [list(columns), *([_cell(value) for value in row] for row in rows)]
    widths = [
        min(max(len(line[index]) for line in cells), _NARROW) for index in range(len(columns))
    ]
    rule = ["-" * width for width in widths]
    for line in (cells[0], rule, *cells[1:]):
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        yield "  ".join(padded).rstrip()


def json_lines(columns: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    names = _unique_names(columns)
    for row in rows:
        values = dict(zip(names, (_json_value(value) for value in row), strict=True))
        yield json.dumps(values, ensure_ascii=False)


def _unique_names(columns: Sequence[str]) -> list[str]:
    """Adds a number to repeated column names, so that no column is lost."""
    names: list[str] = []
    for column in columns:
        name, number = column, 2
        while name in names:
            name, number = f"{column}_{number}", number + 1
        names.append(name)
    return names


def _cell(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        more = "…" if len(value) > _SHOWN_BYTES else ""
        return f"x'{value[:_SHOWN_BYTES].hex()}{more}'"
    text = str(value)
    if text.isprintable():
        return text
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _json_value(value: object) -> object:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
