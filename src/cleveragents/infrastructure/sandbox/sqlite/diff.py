"""How two databases differ, for people: which tables, and how many of their rows."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

from cleveragents.domain.wording import counted
from cleveragents.infrastructure.sandbox.git.objects import quoted

_STEPS_BETWEEN_CHECKS = 100_000
_MOST_CHECKS = 500
"""For one question: a huge or devious table must not hold anybody up."""
_UNCOUNTED = "rows that cannot be counted"
_DEFINITIONS = (
    "SELECT name, sql FROM {place}.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
)


def table_summary(old: Path | None, new: Path | None, name: str) -> str:
    """Returns a patch whose hunks are tables; None means that there is no database."""
    before, after = quoted(f"a/{name}"), quoted(f"b/{name}")
    head = (
        f"diff --git {before} {after}",
        f"--- {'/dev/null' if old is None else before}",
        f"+++ {'/dev/null' if new is None else after}",
    )
    with closing(sqlite3.connect(":memory:", uri=True, isolation_level=None)) as connection:
        connection.execute("PRAGMA trusted_schema=OFF")
        unreadable = [
            f"@@ {place} @@\n a schema that cannot be read"
            for place, path in (("old", old), ("new", new))
            if not _is_attached(connection, place, path)
        ]
        hunks = [] if unreadable else list(_hunks(connection))
    return "\n".join((*head, *unreadable, *hunks)) + "\n"


def _is_attached(connection: sqlite3.Connection, place: str, path: Path | None) -> bool:
    address = f"file:{quote(os.fsencode(path))}?immutable=1" if path else ":memory:"
    try:
        connection.execute(f"ATTACH ? AS {place}", (address,))
    except sqlite3.Error:
        return False
    return True


def _hunks(connection: sqlite3.Connection) -> Iterator[str]:
    old, new = (_definitions(connection, place) for place in ("old", "new"))
    for table in sorted(old.keys() | new.keys()):
        before, after = (
            (definition, _rows(connection, place, table)) if definition is not None else ()
            for place, definition in (("old", old.get(table)), ("new", new.get(table)))
        )
        if before != after:
            same = [f" {line}" for line in before[:1] if before[:1] == after[:1]]
            gone = [f"-{line}" for line in before[len(same) :]]
            lines = [*same, *gone, *(f"+{line}" for line in after[len(same) :])]
        elif _UNCOUNTED in before:
            lines = [f" {_UNCOUNTED}"]
        elif changed := _changed_rows(connection, table):
            lines = [f" {changed}"]
        else:
            continue
        yield "\n".join((f"@@ {quoted(table)} @@", *lines))


def _definitions(connection: sqlite3.Connection, place: str) -> Mapping[str, str]:
    found = connection.execute(_DEFINITIONS.format(place=place)).fetchall()
    return {str(name): " ".join(str(sql).split()) for name, sql in found}


def _rows(connection: sqlite3.Connection, place: str, table: str) -> str:
    question = f"SELECT count(*) FROM {place}.{_quoted(table)}"
    count = _number(connection, question)
    return _UNCOUNTED if count is None else counted(count, "row")


def _changed_rows(connection: sqlite3.Connection, table: str) -> str | None:
    """Returns how many rows are new, where their number is what it was."""
    name = _quoted(table)
    rows = f"SELECT * FROM new.{name} EXCEPT SELECT * FROM old.{name}"
    count = _number(connection, f"SELECT count(*) FROM ({rows})")
    return f"{counted(count, 'row')} with different content" if count else None


def _number(connection: sqlite3.Connection, question: str) -> int | None:
    left = iter(range(_MOST_CHECKS))
    connection.set_progress_handler(lambda: next(left, None) is None, _STEPS_BETWEEN_CHECKS)
    try:
        with suppress(sqlite3.Error):
            return int(connection.execute(question).fetchone()[0])
    finally:
        connection.set_progress_handler(None, 0)
    return None


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'
