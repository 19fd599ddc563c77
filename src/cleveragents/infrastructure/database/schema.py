"""Opening a database: checks its schema, and creates or migrates it where needed.

Usually this takes one query and does not load Alembic. The migrations create a
new database in a file of another name, which is then renamed. An older database
is copied first and migrated in one transaction. So a process that is killed at
any point leaves the old state or the finished one. PostgreSQL gets the same
transaction without a copy: backups are the task of the server's administrator.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect

from cleveragents.domain.errors import DatabaseError, SchemaVersionError
from cleveragents.infrastructure.database import sqlite_file
from cleveragents.infrastructure.database.engine import Begin, open_for_migration
from cleveragents.infrastructure.database.failures import damaged, denied

OLDER_REVISIONS: tuple[str, ...] = (
    "0001_base_tables",
    "0002_checkpoints_view",
    "0003_sandbox_strategies",
    "0004_undone_tool_calls",
    "0005_include_uncommitted",
    "0006_decisions_and_effects",
    "0007_changes",
    "0008_events",
    "0009_operations",
)
HEAD_REVISION = "0010_apply"
_VERSION_QUERY = "SELECT version_num FROM alembic_version"


def prepare_sqlite(path: Path, *, busy_seconds: float) -> None:
    """Makes sure that `path` is a database with this program's schema.

    After an error the file is byte for byte the same as before.

    Raises:
        SchemaVersionError: It is newer than the program, damaged, or another program's.
        DatabaseError: It cannot be read, written or created.
        ConflictError: Another process holds its lock for too long.

    The caller translates the errors of the driver.
    """
    if not sqlite_file.is_ours(path):
        _create_sqlite(path, busy_seconds)
    with closing(sqlite_file.connect(path, busy_seconds=busy_seconds)) as connection:
        fits = revision_in_sqlite(connection, path) == HEAD_REVISION
        if fits:
            # Stored in the file: readers and the writer do not wait for each other.
            connection.execute("PRAGMA journal_mode=WAL")
    if not fits:
        _migrate_sqlite(path, busy_seconds)


def prepare_postgres(engine: Engine, begin: Begin, place: str) -> None:
    """Makes sure that the server's database has this program's schema.

    Raises:
        SchemaVersionError: It is newer than the program, or another program's; it is unchanged.

    The caller translates the errors of the driver.
    """
    # Each query must see what was committed before it. In one snapshot for both, a table
    # that another process has just created could seem to exist and be empty.
    with engine.connect() as connection:
        if revision_in_postgres(connection, place) == HEAD_REVISION:
            return
    from cleveragents.infrastructure.database.migrate import upgrade

    with engine.begin() as connection:
        for statement in begin.writing:
            connection.exec_driver_sql(statement)
        # Another process may have done it while this one waited for the lock.
        if revision_in_postgres(connection, place) != HEAD_REVISION:
            upgrade(connection, HEAD_REVISION)


def create_sqlite_file(path: Path, revision: str, *, busy_seconds: float) -> None:
    """Creates a database of some revision in an empty file, in one transaction."""
    from cleveragents.infrastructure.database.migrate import upgrade

    with open_for_migration(path, busy_seconds=busy_seconds).begin() as connection:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        connection.exec_driver_sql(f"PRAGMA application_id={sqlite_file.APPLICATION_ID}")
        upgrade(connection, revision)


def _create_sqlite(path: Path, busy_seconds: float) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with sqlite_file.lock_for_upgrade(path, busy_seconds=busy_seconds):
            if not sqlite_file.is_ours(path):
                with sqlite_file.prepared(path, path.with_name(f"{path.name}.new")) as draft:
                    create_sqlite_file(draft, HEAD_REVISION, busy_seconds=busy_seconds)
    except OSError as error:
        raise denied(str(path), error.strerror or str(error)) from error


def _migrate_sqlite(path: Path, busy_seconds: float) -> None:
    from cleveragents.infrastructure.database.migrate import upgrade

    with (
        sqlite_file.lock_for_upgrade(path, busy_seconds=busy_seconds),
        open_for_migration(path, busy_seconds=busy_seconds).begin() as connection,
    ):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        # Another process may have done it while this one waited for the lock.
        revision = _known(_revisions(connection), str(path))
        if revision == HEAD_REVISION:
            return
        _back_up(path, revision, busy_seconds)
        upgrade(connection, HEAD_REVISION)
        if connection.exec_driver_sql("PRAGMA foreign_key_check").first():
            raise damaged(str(path), "rows refer to others that do not exist")


def _back_up(path: Path, revision: str, busy_seconds: float) -> None:
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    target = path.with_name(f"{path.name}.backup-{revision}-{moment}")
    try:
        sqlite_file.copy(path, target, busy_seconds=busy_seconds)
    except OSError as error:
        raise DatabaseError(
            f"The database {path} is older than this program, but cannot be copied first: "
            f"{error.strerror or error}",
            hint="Make its directory writable; nothing was changed",
            place=str(path),
        ) from error


def revision_in_sqlite(connection: sqlite3.Connection, path: Path) -> str:
    """Returns the revision of a database of CleverAgents.

    Raises:
        SchemaVersionError: This program does not know it, or the tables are missing.
    """
    known = connection.execute("SELECT name FROM sqlite_master WHERE name = 'alembic_version'")
    if known.fetchone() is None:
        raise damaged(str(path), "its tables do not exist")
    return _known([str(version) for (version,) in connection.execute(_VERSION_QUERY)], str(path))


def revision_in_postgres(connection: Connection, place: str) -> str | None:
    """Returns the revision of the server's database, or None if it is empty.

    Raises:
        SchemaVersionError: This program does not know it, or the tables are another program's.
    """
    # Not with `to_regclass`: it answers from the connection's cache, and another process may
    # have created the table while this one waited for the lock.
    inspector = inspect(connection)
    names = {*inspector.get_table_names(), *inspector.get_view_names()}
    if "alembic_version" in names:
        return _known(_revisions(connection), place)
    if names:
        raise SchemaVersionError(
            f"The database {place} belongs to another program",
            hint="It was left as it is; give CleverAgents a database of its own",
            place=place,
        )
    return None


def _revisions(connection: Connection) -> Sequence[str]:
    return [str(version) for (version,) in connection.exec_driver_sql(_VERSION_QUERY)]


def _known(revisions: Sequence[str], place: str) -> str:
    """Returns the only revision, if this program knows it."""
    if len(revisions) == 1 and revisions[0] in (*OLDER_REVISIONS, HEAD_REVISION):
        return revisions[0]
    raise SchemaVersionError(
        f"The database {place} has a schema that this program does not know: "
        f"{', '.join(revisions) or 'none'}",
        hint="It was left as it is; use the newer program that wrote it",
        place=place,
        revisions=list(revisions),
        known=HEAD_REVISION,
    )
