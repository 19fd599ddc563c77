"""Splits a text into SQL statements."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""
    (?P<blank>\s+ | --[^\n]* | /\*.*?(?:\*/|\Z))
    | (?P<end>;)
    | (?P<other>'(?:[^']|'')*' | "(?:[^"]|"")*" | `(?:[^`]|``)*` | \[[^\]]*\] | [^\s;'"`\[/-]+ | .)
    """,
    re.DOTALL | re.VERBOSE,
)


def statements(text: str) -> Iterator[str]:
    """Yields the statements without their semicolons, and skips blanks and comments.

    The body of a trigger contains semicolons too. SQLite decides which one ends it.
    """
    start, is_empty = 0, True
    for token in _TOKEN.finditer(text):
        if token["end"] is None:
            is_empty = is_empty and token["blank"] is not None
        elif is_empty or sqlite3.complete_statement(text[start : token.end()]):
            if not is_empty:
                yield text[start : token.start()].strip()
            start, is_empty = token.end(), True
    if not is_empty:
        yield text[start:].strip()
