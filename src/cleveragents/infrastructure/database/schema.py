"""Opening a database: checks its schema, and creates or migrates it where needed.

Usually this takes one query and does not load Alembic. The migrations create a
new database in a file of another name, which is then renamed. An older database
is copied first and migrated in one transaction. So a process that is killed at
any point leaves the old state or the finished one. PostgreSQL gets the same
transaction without a copy: backups are the task of the server's administrator.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from cleveragents.domain.errors import ConflictError, DatabaseError, SchemaVersionError
from cleveragents.domain.wording import listed
from cleveragents.infrastructure.database import sqlite_file
from cleveragents.infrastructure.database.failures import damaged, denied
from cleveragents.infrastructure.database.server_processes import connected
from cleveragents.infrastructure.database.session import (
    MIGRATION_LOCK,
    BeginPostgres,
    DriverConnection,
)
from cleveragents.infrastructure.file_locks import Presence

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
    "0010_apply",
    "0011_output_streams",
    "0012_plan_order",
    "0013_installation",
    "0014_no_reversion_count",
)
HEAD_REVISION = "0015_sessions"
_LEASES = (
    "SELECT owner_id, expires_at, host, process_id, command FROM locks WHERE NOT released"
    " ORDER BY acquired_at"
)
_VERSION_QUERY = "SELECT version_num FROM alembic_version"
_TABLES_QUERY = """\
SELECT relname FROM pg_catalog.pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')
"""


def open_sqlite(path: Path, presence: Presence, *, busy_seconds: float) -> sqlite3.Connection:
    """Opens the database, and creates or migrates it first where needed.

    After an error the file is byte for byte the same as before.

    Raises:
        SchemaVersionError: It is newer than the program, damaged, or another program's.
        DatabaseError: It cannot be read, written or created.
        ConflictError: Another process holds its lock for too long, or it has to be migrated
            and a process of another version uses it.

    The caller translates the errors of the driver, and has announced this process: either
    this finds the schema of a migration, or the migration finds this process.
    """
    if not sqlite_file.is_ours(path):
        _create_sqlite(path, busy_seconds)
    connection = sqlite_file.connect(path, busy_seconds=busy_seconds)
    try:
        with sqlite_file.lock_for_upgrade(path, busy_seconds=busy_seconds, shared=True):
            revision = revision_in_sqlite(connection, path)
        if revision != HEAD_REVISION:
            connection.close()
            _migrate_sqlite(path, presence, busy_seconds)
            connection = sqlite_file.connect(path, busy_seconds=busy_seconds)
        else:
            # Stored in the file: readers and the writer do not wait for each other.
            connection.execute("PRAGMA journal_mode=WAL")
    except BaseException:
        connection.close()
        raise
    return connection


def open_postgres(
    connect: Callable[[], DriverConnection], begin: BeginPostgres, presence: Presence, place: str
) -> DriverConnection:
    """Connects to the server's database, and creates or migrates the schema where needed.

    Raises:
        SchemaVersionError: It is newer than the program, or another program's; it is unchanged.
        ConflictError: It has to be migrated, and a process of another version uses it.

    The caller translates the errors of the driver.
    """
    connection = connect()
    try:
        shared = f"SELECT pg_advisory_xact_lock_shared({MIGRATION_LOCK})"
        connection.execute("; ".join((*begin.limits, shared)))
        fits = revision_in_postgres(connection, place) == HEAD_REVISION
        connection.rollback()
        if not fits:
            _migrate_postgres(connect, begin, presence, place)
    except BaseException:
        connection.close()
        raise
    return connection


def _migrate_postgres(
    connect: Callable[[], DriverConnection], begin: BeginPostgres, presence: Presence, place: str
) -> None:
    from cleveragents.infrastructure.database.migrate import migration

    with migration(connect, is_sqlite=False) as found:
        for statement in begin.writing(()):
            found.driver.execute(statement)
        found.driver.execute(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})")
        # Another process may have done it while this one waited for the lock.
        revision = revision_in_postgres(found.driver, place)
        if revision == HEAD_REVISION:
            return
        if revision is not None:
            running = [
                str(process)
                for process in connected(found.driver)
                if process.revision != HEAD_REVISION
            ]
            _refuse_while_used(place, [*running, *_leaseholders(found.driver, presence)])
        found.upgrade(HEAD_REVISION)


def create_sqlite_file(path: Path, revision: str, *, busy_seconds: float) -> None:
    """Creates a database of some revision in an empty file, in one transaction."""
    from cleveragents.infrastructure.database.migrate import migration

    with migration(_for_migration(path, busy_seconds), is_sqlite=True) as found:
        found.driver.execute("BEGIN IMMEDIATE")
        found.driver.execute(f"PRAGMA application_id={sqlite_file.APPLICATION_ID}")
        found.upgrade(revision)


def _for_migration(path: Path, busy_seconds: float) -> Callable[[], sqlite3.Connection]:
    """Returns what opens an existing file for a migration."""
    return partial(sqlite_file.connect, path, busy_seconds=busy_seconds, migrates=True)


def _create_sqlite(path: Path, busy_seconds: float) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with sqlite_file.lock_for_upgrade(path, busy_seconds=busy_seconds):
            if not sqlite_file.is_ours(path):
                with sqlite_file.prepared(path, path.with_name(f"{path.name}.new")) as draft:
                    create_sqlite_file(draft, HEAD_REVISION, busy_seconds=busy_seconds)
    except OSError as error:
        raise denied(str(path), error.strerror or str(error)) from error


def _migrate_sqlite(path: Path, presence: Presence, busy_seconds: float) -> None:
    from cleveragents.infrastructure.database.migrate import migration

    with (
        sqlite_file.lock_for_upgrade(path, busy_seconds=busy_seconds),
        migration(_for_migration(path, busy_seconds), is_sqlite=True) as found,
    ):
        found.driver.execute("BEGIN IMMEDIATE")
        # Another process may have done it while this one waited for the lock.
        revision = _known(_revisions(found.driver), str(path))
        if revision == HEAD_REVISION:
            return
        running = [
            str(process.holder)
            for process in presence.others()
            if process.revision != HEAD_REVISION
        ]
        _refuse_while_used(str(path), [*running, *_leaseholders(found.driver, presence)])
        _back_up(path, revision, busy_seconds)
        found.upgrade(HEAD_REVISION)
        if found.driver.execute("PRAGMA foreign_key_check").fetchone():
            raise damaged(str(path), "rows refer to others that do not exist")


def _leaseholders(connection: DriverConnection, presence: Presence) -> list[str]:
    """Returns processes that hold a plan and may run: those of programs that announce nothing."""
    now = datetime.now(UTC)
    found: list[str] = []
    for owner, expires, host, number, command in connection.execute(_LEASES).fetchall():
        expires_at = datetime.fromisoformat(expires) if isinstance(expires, str) else expires
        if presence.is_running(owner) is None and expires_at > now:
            found.append(f"process {number} on {host} (`{command}`)")
    return found


def _refuse_while_used(place: str, processes: Sequence[str]) -> None:
    if processes:
        raise ConflictError(
            f"The database {place} has to be migrated, but a process of another version uses it: "
            f"{listed(processes, most=3)}",
            hint="Wait until it is done, or stop that process",
            place=place,
            holders=list(processes),
        )


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
    return _known(_revisions(connection), str(path))


def revision_in_postgres(connection: DriverConnection, place: str) -> str | None:
    """Returns the revision of the server's database, or None if it is empty.

    Raises:
        SchemaVersionError: This program does not know it, or the tables are another program's.
    """
    # Each query must see what was committed before it. In one snapshot for both, a table
    # that another process has just created could seem to exist and be empty. Not with
    # `to_regclass`: it answers from the connection's cache.
    names = {str(name) for (name,) in connection.execute(_TABLES_QUERY).fetchall()}
    if "alembic_version" in names:
        return _known(_revisions(connection), place)
    if names:
        raise SchemaVersionError(
            f"The database {place} belongs to another program",
            hint="It was left as it is; give CleverAgents a database of its own",
            place=place,
        )
    return None


def require_head(connection: DriverConnection, place: str) -> None:
    """Raises SchemaVersionError if the database no longer has the schema of this program."""
    if [row[0] for row in connection.execute(_VERSION_QUERY).fetchall()] != [HEAD_REVISION]:
        raise SchemaVersionError(
            f"The database {place} got another schema while this program used it",
            hint="Start the command again, with the program that migrated the database",
            place=place,
        )


def _revisions(connection: DriverConnection) -> Sequence[str]:
    return [str(version) for (version,) in connection.execute(_VERSION_QUERY).fetchall()]


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
