"""The states a database can be in, by the words that the features use for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from unittest.mock import patch

from features.support import postgres
from features.support.sandboxes import databases as support
from features.support.sandboxes.databases import Databases

from cleveragents.infrastructure.database import schema
from cleveragents.infrastructure.database.unit_of_work import SqlDatabase

DATABASE_STATES: dict[str, Callable[[Databases], None]] = {}
DatabaseState = Callable[[Databases], None]


def state(words: str) -> Callable[[DatabaseState], DatabaseState]:
    def register(function: DatabaseState) -> DatabaseState:
        DATABASE_STATES[words] = function
        return function

    return register


@state("a newer program has changed the database")
def newer(found: Databases) -> None:
    found.make()
    found.execute("UPDATE alembic_version SET version_num = '9999_tomorrow'")


@state("the database says it has no version")
def no_version(found: Databases) -> None:
    found.make()
    found.execute("DELETE FROM alembic_version")


@state("a text file is in the place of the database")
def text_file(found: Databases) -> None:
    found.home.mkdir()
    found.path.write_text("dear diary\n" * 100)


@state("the database is cut off after 50 bytes")
def cut_in_header(found: Databases) -> None:
    _cut(found, 50)


@state("the database is cut off after 5000 bytes")
def cut_later(found: Databases) -> None:
    _cut(found, 5000)


def _cut(found: Databases, size: int) -> None:
    found.make()
    found.path.write_bytes(found.path.read_bytes()[:size])


@state("the database is overwritten with noise")
def noise(found: Databases) -> None:
    found.make()
    content = found.path.read_bytes()
    found.path.write_bytes(content[:100] + b"\xa5" * (len(content) - 100))


@state("the tables of the database are gone")
def hollow(found: Databases) -> None:
    support.make_hollow(found.path)


@state("the database belongs to another program")
def foreign(found: Databases) -> None:
    support.make_foreign(found.path)


@state("the database is marked by another program")
def marked(found: Databases) -> None:
    support.make_foreign(found.path, 42)


@state("a directory is in the place of the database")
def directory(found: Databases) -> None:
    found.path.mkdir(parents=True)


@state("the user may not read the database")
def unreadable(found: Databases) -> None:
    _restricted(found, found.path, 0o000)


@state("the user may not write the database")
def read_only(found: Databases) -> None:
    _restricted(found, found.path, 0o400)


@state("the user may not write where the database is")
def read_only_home(found: Databases) -> None:
    _restricted(found, found.home, 0o500)


def _restricted(found: Databases, path: Path, mode: int) -> None:
    found.make()
    path.chmod(mode)
    found.surroundings = support.ordinary_user(found.home.parent)


@state("the user may not make the database")
def read_only_parent(found: Databases) -> None:
    found.home.parent.chmod(0o500)
    found.surroundings = support.ordinary_user(found.home.parent)


@state("there is no space to make the database")
def no_space(found: Databases) -> None:
    found.surroundings = support.largest_file(0)


@state("another process is making the database")
def being_made(found: Databases) -> None:
    found.surroundings = support.maker_elsewhere(found.path)


@state("a foreign key of an older database is broken")
def broken_reference(found: Databases) -> None:
    found.make(schema.OLDER_REVISIONS[0])
    found.execute("INSERT INTO resources VALUES ('R', 'NONE', '', '', '', 0)")


@state("an older database cannot be copied")
def no_copy(found: Databases) -> None:
    found.make(schema.OLDER_REVISIONS[0])
    # What is in the way of the copy is a directory that is not empty.
    (found.home / "state.db.partial" / "in the way").mkdir(parents=True)


@state("a newer program has changed the server's tables")
def newer_server(found: Databases) -> None:
    found.choose("PostgreSQL")
    support.make_older_postgres(found.url or "")
    found.execute("UPDATE alembic_version SET version_num = '9999_tomorrow'")


@state("the server holds tables of another program")
def foreign_tables(found: Databases) -> None:
    found.choose("PostgreSQL")
    found.execute("CREATE TABLE notes (line text)")


@state("the server holds views of another program")
def foreign_views(found: Databases) -> None:
    found.choose("PostgreSQL")
    found.execute("CREATE VIEW notes AS SELECT 1 AS line")


@state("there is no server")
def no_server(found: Databases) -> None:
    found.url = "postgresql://user:secret@127.0.0.1:1/plans"


@state("the server has no such database")
def no_such_database(found: Databases) -> None:
    found.url = postgres.server().get_uri("nowhere")


@state("another process is writing")
def other_writer(found: Databases) -> None:
    found.add_plan("PLAN0")
    found.surroundings = support.writer_elsewhere(found.path)


@state("the disk is full")
def full_disk(found: Databases) -> None:
    found.surroundings = _opened(found, _no_growth)


@contextmanager
def _no_growth(database: SqlDatabase) -> Iterator[None]:
    # SQLite then says what it says when the disk is full. The setting is the connection's.
    with database.read() as transaction:
        transaction.events._session.run("PRAGMA max_page_count = 1")  # pyright: ignore[reportAttributeAccessIssue] # below the port
    yield


@state("the disk fails")
def failing_disk(found: Databases) -> None:
    found.surroundings = _opened(found, lambda _: support.largest_file(0))


@contextmanager
def _opened(
    found: Databases, disk: Callable[[SqlDatabase], AbstractContextManager[None]]
) -> Iterator[None]:
    """Opens the database before the disk gives up, so that it is the storing that fails."""
    found.add_plan("PLAN0")
    database = found.opened[-1]
    with disk(database), patch.object(found, "open", lambda: database):
        yield


@state("the server reports a full disk")
def full_server(found: Databases) -> None:
    _raising(found, "53100")


@state("the server reports an unusual error")
def failing_server(found: Databases) -> None:
    _raising(found, "22012")


def _raising(found: Databases, state: str) -> None:
    """Makes the server refuse a new plan, in the words it would use."""
    found.choose("PostgreSQL")
    found.add_plan("PLAN0")
    found.execute(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '{state}'; END $$",
        "CREATE TRIGGER refuse BEFORE INSERT ON plans EXECUTE FUNCTION refuse()",
    )
