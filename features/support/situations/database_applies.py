"""A plan that has changed a database, which is then applied while others use the database."""

from __future__ import annotations

import shlex
import sqlite3
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

from features.support.faults.apply_faults import add_row
from features.support.plans import Plans

from cleveragents.infrastructure.sandbox.sqlite import restore

CHANGES = {
    "has another row": "INSERT INTO goods VALUES (1)",
    "is no longer in WAL mode": "PRAGMA journal_mode=delete; INSERT INTO goods VALUES (1)",
    "has pages of another size": (
        "PRAGMA journal_mode=delete; PRAGMA page_size=8192; VACUUM; PRAGMA journal_mode=wal"
    ),
    "has no table left": "DROP TABLE goods; VACUUM",
}


def prepare(plans: Plans, change: str) -> None:
    """Has a plan change a database in WAL mode."""
    place = plans.world.directory / "app.db"
    with closing(sqlite3.connect(place)) as connection:
        connection.executescript("PRAGMA journal_mode=wal; CREATE TABLE goods(number)")
    program = f"import sqlite3; sqlite3.connect('app.db').executescript({CHANGES[change]!r})"
    command = f"python3 -c {shlex.quote(program)}"
    plans.definition.update(
        resources={
            "base": {"type": "sqlite", "path": str(place)},
        },
        steps=[{"name": "change", "tool": "shell", "with": {"command": command}}],
    )
    plans.write()
    plans.run()


def written_to_before_the_lock(place: Path) -> AbstractContextManager[Any]:
    """Somebody commits after the last look at the files, before anybody is kept out."""
    real = restore.connect

    def connect(path: Path, options: str) -> sqlite3.Connection:
        if path == place:
            add_row(place)
        return real(path, options)

    return patch.object(restore, "connect", connect)


def content(place: Path) -> tuple[object, ...]:
    """Returns everything that makes two databases the same."""
    with closing(sqlite3.connect(place)) as connection:
        pragmas = (
            connection.execute(f"PRAGMA {name}").fetchone()
            for name in ("journal_mode", "page_size")
        )
        return (*pragmas, *connection.iterdump())
