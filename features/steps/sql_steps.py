from __future__ import annotations

import json
from unittest.mock import patch

from behave import given, then, when
from behave.runner import Context
from features.support.tools import ask_database, bench_of, lock_database, make_database
from features.support.values import plain, table_rows
from msgspec.structs import replace

from cleveragents.infrastructure.tools.sql import tool as database
from cleveragents.infrastructure.tools.sql.tool import SQL

PEOPLE = "create table people(name text unique, age int); insert into people values"


def people(context: Context, *, write_ahead: bool) -> None:
    bench = bench_of(context)
    bench.database = bench.sandbox / "app.db"
    script = f"{PEOPLE} ('Ada', 36), ('Bo', null)"
    make_database(bench.database, script, write_ahead=write_ahead)


@given("a database of people")
def people_database(context: Context) -> None:
    people(context, write_ahead=False)


@given("a database of people with a write-ahead log")
def people_database_wal(context: Context) -> None:
    people(context, write_ahead=True)


@given("the plan's database is {what}")
def other_database(context: Context, what: str) -> None:
    bench = bench_of(context)
    bench.database = bench.sandbox / "other.db"
    match what:
        case "missing":
            return
        case "a symlink":
            bench.database.symlink_to(bench.outside / "secret.txt")
        case "no database":
            bench.database.write_bytes(b"x" * 5000)
        case "empty":
            bench.database.touch()
        case _:
            bench.database = None


@given("another program is writing to the database")
def locked_database(context: Context) -> None:
    path = bench_of(context).database
    assert path is not None
    context.add_cleanup(lock_database(path))
    patcher = patch.object(database, "_LOCK_TIMEOUT_SECONDS", 0.1)
    patcher.start()
    context.add_cleanup(patcher.stop)


@when("the statement `{statement}` runs")
def run_statement(context: Context, statement: str) -> None:
    bench_of(context).run("sql", {"statement": plain(statement)})


@when("the statement `{statement}` runs with `{more}`")
def run_statement_with(context: Context, statement: str, more: str) -> None:
    bench_of(context).run("sql", {"statement": plain(statement), **json.loads(more)})


@when("the statement `{statement}` has {seconds:d} second")
def run_short_statement(context: Context, statement: str, seconds: int) -> None:
    spec = replace(SQL, timeout=seconds)
    bench_of(context).run_spec(spec, {"statement": statement})


@then("the people are")
def people_are(context: Context) -> None:
    path = bench_of(context).database
    assert path is not None
    found = ask_database(path, "select name, age from people order by name")
    assert found == table_rows(context.table), found


@then("nothing lies beside the database")
def alone(context: Context) -> None:
    found = sorted(path.name for path in bench_of(context).sandbox.iterdir())
    assert found == ["app.db"], found
