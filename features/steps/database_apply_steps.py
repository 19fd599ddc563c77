from __future__ import annotations

import sqlite3
from contextlib import closing

from behave import given, then
from behave.runner import Context
from features.support.faults import plan_faults
from features.support.plans import plans
from features.support.situations import database_applies


@given("a plan that made a database so that it {change}")
def changed(context: Context, change: str) -> None:
    database_applies.prepare(plans(context), change)


@given("somebody writes to the database just before it is locked")
def written_to(context: Context) -> None:
    place = context.world.directory / "app.db"
    plan_faults.install(context, database_applies.written_to_before_the_lock(place))


@then("the database still holds what somebody wrote")
def holds_written(context: Context) -> None:
    with closing(sqlite3.connect(context.world.directory / "app.db")) as connection:
        rows = connection.execute("SELECT number FROM goods").fetchall()
    assert rows == [(99,)], rows


@then("the database is that of the sandbox")
def like_sandbox(context: Context) -> None:
    made = plans(context).sandbox.parent / "base" / "app.db"
    found = database_applies.content(context.world.directory / "app.db")
    assert found == database_applies.content(made), found
