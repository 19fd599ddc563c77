"""What SQLite is asked to do, as it sees it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from cleveragents.infrastructure.database import sqlite_file

_connect = sqlite_file.connect


@contextmanager
def counted() -> Iterator[list[str]]:
    """Collects each statement that connections opened within the block run."""
    done: list[str] = []
    with traced(done.append):
        yield done


def traced(tell: Callable[[str], object]) -> Any:
    """Returns the patch under which `tell` is called before each statement of new connections."""

    def connect(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = _connect(*arguments, **options)
        connection.set_trace_callback(tell)
        return connection

    return patch.object(sqlite_file, "connect", connect)
