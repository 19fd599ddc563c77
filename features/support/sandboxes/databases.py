"""Databases in all the states that users find them in."""

from __future__ import annotations

import contextlib
import os
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime
from functools import partial
from pathlib import Path

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from features.support import postgres
from msgspec.structs import replace
from sqlalchemy import create_engine, text

from cleveragents.application.ports.system import Clock
from cleveragents.domain.errors import CleverAgentsError
from cleveragents.infrastructure.database import schema
from cleveragents.infrastructure.database.location import connect_postgres
from cleveragents.infrastructure.database.models import PLANS
from cleveragents.infrastructure.database.session import DatabaseSession
from cleveragents.infrastructure.database.sqlite_file import APPLICATION_ID, connect
from cleveragents.infrastructure.database.tables import METADATA
from cleveragents.infrastructure.database.unit_of_work import Connections, SqlDatabase
from cleveragents.infrastructure.system import SystemClock
from cleveragents.testing import sample_records as sample

BUSY_SECONDS = 0.5
NOBODY = 65534


def open_database(
    home: Path, url: str | None = None, clock: Clock | None = None, busy_seconds: float = 10
) -> SqlDatabase:
    return SqlDatabase(Connections(url, home, busy_seconds=busy_seconds), clock or SystemClock())


class FixedClock(SystemClock):
    """A clock that always shows the same time."""

    def __init__(self, shown: datetime) -> None:
        self._shown = shown

    def now(self) -> datetime:
        return self._shown


class Databases:
    """The database of one scenario, and what was seen when it was used."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.path = home / "state.db"
        self.url: str | None = None
        self.clock: Clock = SystemClock()
        self.before: object = None
        self.error: CleverAgentsError | None = None
        self.found: list[str] | None = None
        self.opened: list[SqlDatabase] = []
        self.surroundings: contextlib.AbstractContextManager[object] = contextlib.nullcontext()
        """What is true while the database is used: a lock held, a full disk."""

    def choose(self, store: str) -> None:
        self.url = {"SQLite": lambda: None, "PostgreSQL": postgres.new_database}[store]()

    def open(self) -> SqlDatabase:
        database = open_database(self.home, self.url, self.clock, BUSY_SECONDS)
        self.opened.append(database)
        return database

    def close(self) -> None:
        for database in self.opened:
            database.close()

    def use(self, action: Callable[[], list[str]]) -> None:
        """Does something with the database and remembers how it ended."""
        self.before = self.content()
        try:
            with self.surroundings:
                self.found = action()
        except CleverAgentsError as error:
            self.error = error
        self.close()

    def list_plans(self) -> list[str]:
        with self.open().read() as transaction:
            return list(transaction.plans.ids())

    def add_plan(self, plan_id: str = "PLAN1") -> list[str]:
        with self.open().write() as transaction:
            # Longer than a page, so that the database has to grow.
            plan = replace(sample.plan(plan_id), name="long" * 5000)
            transaction.plans.add(plan)
        return [plan_id]

    def content(self) -> object:
        """Returns everything that is stored: the bytes of the file, or the server's tables."""
        if self.url is not None:
            return postgres_tables(self.url)
        return self.path.read_bytes() if self.path.is_file() else self.path.is_dir()

    def make(self, revision: str = schema.HEAD_REVISION, plans: int = 1) -> None:
        """Makes a database of some revision that holds one plan."""
        make_sqlite(self.path, revision, plans)

    def execute(self, *statements: str) -> None:
        """Changes the stored data behind the program's back."""
        if self.url is not None:
            execute_postgres(self.url, *statements)
            return
        with closing(sqlite3.connect(self.path)) as connection, connection:
            for statement in statements:
                connection.execute(statement)

    def backups(self) -> list[Path]:
        return sorted(self.home.glob("state.db.backup-*"))

    def drift(self) -> list[object]:
        """Returns how the stored schema differs from what the tables say."""
        url = f"sqlite:///{self.path}" if self.url is None else _with_driver(self.url)
        engine = create_engine(url)
        with engine.connect() as connection:
            configured = MigrationContext.configure(connection)
            found = list(compare_metadata(configured, METADATA))
        engine.dispose()
        return found


def make_sqlite(path: Path, revision: str, plans: int = 1) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(0o600)
    schema.create_sqlite_file(path, revision, busy_seconds=BUSY_SECONDS)
    if plans:
        # As a row and nothing more, with the columns that the revision has.
        with closing(connect(path, busy_seconds=BUSY_SECONDS)) as connection:
            known = {row[1] for row in connection.execute("PRAGMA table_info(plans)")}
            stored = {"reversion_count": 0, **PLANS.row(sample.plan())}
            row = {name: item for name, item in stored.items() if name in known}
            DatabaseSession(connection).insert(PLANS, row)


def schema_of(path: Path) -> list[tuple[str, ...]]:
    """Returns every statement that makes the schema of a SQLite file."""
    with closing(sqlite3.connect(path)) as connection:
        return sorted(connection.execute("SELECT type, name, sql FROM sqlite_master"))


def make_foreign(path: Path, application_id: int = 0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA application_id={application_id}")
        connection.execute("CREATE TABLE notes (text)")


def make_hollow(path: Path) -> None:
    """Makes a database that is marked as ours and holds nothing of ours."""
    make_foreign(path, APPLICATION_ID)


@contextlib.contextmanager
def ordinary_user(directory: Path) -> Iterator[None]:
    """Runs the block without the superuser's right to read and write everything."""
    if os.geteuid() != 0:
        yield
        return
    for place in (directory, *directory.rglob("*")):
        os.chown(place, NOBODY, -1, follow_symlinks=False)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@contextlib.contextmanager
def writer_elsewhere(path: Path) -> Iterator[None]:
    """Keeps the write lock of a SQLite file in another process."""
    program = (
        "import sqlite3, sys; held = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "held.execute('BEGIN IMMEDIATE'); print(flush=True); sys.stdin.read()"
    )
    with _process(program, path):
        yield


@contextlib.contextmanager
def maker_elsewhere(path: Path) -> Iterator[None]:
    """Keeps the lock of a process that is making or migrating the database."""
    program = (
        "import fcntl, os, sys; os.makedirs(os.path.dirname(sys.argv[1]), exist_ok=True);"
        "held = open(sys.argv[1] + '.lock', 'w'); fcntl.flock(held, fcntl.LOCK_EX);"
        "print(flush=True); sys.stdin.read()"
    )
    with _process(program, path):
        yield


@contextlib.contextmanager
def _process(program: str, path: Path) -> Iterator[None]:
    command = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield
        process.communicate()


@contextlib.contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Lets no file grow beyond `size`, as a full disk would."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def execute_postgres(url: str, *statements: str) -> None:
    engine = create_engine(_with_driver(url))
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def postgres_tables(url: str) -> object:
    engine = create_engine(_with_driver(url))
    query = "SELECT table_name, column_name FROM information_schema.columns ORDER BY 1, 2"
    try:
        with engine.connect() as connection:
            tables = [tuple(row) for row in connection.execute(text(query))]
            if ("alembic_version", "version_num") in tables:
                versions = connection.execute(text("SELECT version_num FROM alembic_version"))
                return tables, [tuple(row) for row in versions]
            return tables
    except Exception as error:
        return str(type(error))
    finally:
        engine.dispose()


def make_older_postgres(url: str) -> None:
    from cleveragents.infrastructure.database.migrate import migration

    connect = partial(connect_postgres, url, busy_seconds=BUSY_SECONDS)
    with migration(connect, is_sqlite=False) as found:
        found.upgrade(schema.OLDER_REVISIONS[0])


def _with_driver(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://")
