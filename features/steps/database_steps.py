from __future__ import annotations

import contextlib
import itertools
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from datetime import datetime
from pathlib import Path
from unittest.mock import patch

from behave import given, then, when
from behave.runner import Context
from features.support.sandboxes import databases as support
from features.support.sandboxes.database_states import DATABASE_STATES
from features.support.sandboxes.databases import Databases

from cleveragents.domain.errors import CleverAgentsError, SchemaVersionError
from cleveragents.infrastructure.database import schema
from cleveragents.infrastructure.database.repositories import PlanRepository
from cleveragents.infrastructure.database.unit_of_work import SqlDatabase
from cleveragents.testing import records as contract_suite
from cleveragents.testing import sample_records


def databases(context: Context) -> Databases:
    """Returns the scenario's database, which is closed when the scenario ends."""
    if "databases" not in context:
        context.databases = Databases(context.world.home)
        context.add_cleanup(context.databases.close)
    return context.databases


def processes(context: Context, count: int) -> None:
    """Stores a plan from each of `count` processes that begin at the same time."""
    program = (
        "import sys; from pathlib import Path;"
        "from cleveragents.infrastructure.database.unit_of_work import Connections, SqlDatabase;"
        "from cleveragents.infrastructure.system import SystemClock;"
        "from cleveragents.testing.sample_records import plan;"
        "print(flush=True); sys.stdin.read();"
        "connections = Connections(sys.argv[3] or None, Path(sys.argv[1]));"
        "database = SqlDatabase(connections, SystemClock())\n"
        "with database.write() as transaction: transaction.plans.add(plan(sys.argv[2]))"
    )
    command = [sys.executable, "-c", program, str(context.world.home)]
    with contextlib.ExitStack() as stack:
        started = [
            stack.enter_context(
                subprocess.Popen(
                    [*command, f"PROCESS{number}", databases(context).url or ""],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=context.world.environment,
                )
            )
            for number in range(count)
        ]
        for process in started:
            assert process.stdout is not None
            process.stdout.readline()
        for process in started:
            assert process.stdin is not None
            process.stdin.close()
        assert [process.wait(60) for process in started] == [0] * count


def sweep(context: Context, mode: str) -> None:
    context.sweep = subprocess.run(
        [
            sys.executable,
            "-m",
            "features.support.sweeps.kill_sweep",
            mode,
            str(context.world.directory),
        ],
        env=context.world.with_features,
        capture_output=True,
        text=True,
        check=False,
    )


@given("an empty file in the place of the database")
def empty_file(context: Context) -> None:
    context.world.home.mkdir()
    databases(context).path.touch()


@given("an empty database in {store}")
def empty_database(context: Context, store: str) -> None:
    databases(context).choose(store)


@given("a database with one plan")
def database_with_plan(context: Context) -> None:
    databases(context).make()


@given("a database of the first version with one plan")
def older_database(context: Context) -> None:
    databases(context).make(schema.OLDER_REVISIONS[0])


@given("a server's database of the first version")
def older_server_database(context: Context) -> None:
    databases(context).choose("PostgreSQL")
    support.make_older_postgres(databases(context).url or "")


@given("the situation: {situation}")
def put_into_situation(context: Context, situation: str) -> None:
    DATABASE_STATES[situation](databases(context))


@given("its {column} says {value}")
def odd_value(context: Context, column: str, value: str) -> None:
    databases(context).execute(f"UPDATE plans SET {column} = '{value}'")


FLAWS = {
    "forgets plans": patch.object(PlanRepository, "ids", lambda *_: []),
    "makes plans up": patch.object(PlanRepository, "get", lambda *_: sample_records.plan()),
}


@given("a database that {flaw}")
def flawed(context: Context, flaw: str) -> None:
    found = databases(context)
    if flaw in FLAWS:
        FLAWS[flaw].start()
        context.add_cleanup(FLAWS[flaw].stop)
        return
    homes = (context.world.directory / f"home{number}" for number in itertools.count())
    open_one = found.open

    def open_another() -> SqlDatabase:
        found.home = next(homes)
        return open_one()

    found.open = open_another


@given("a program whose clock shows {time}")
def stopped_clock(context: Context, time: str) -> None:
    databases(context).clock = support.FixedClock(datetime.fromisoformat(time))


@then("the event of the plan has the time {time}")
def event_time(context: Context, time: str) -> None:
    with databases(context).open().read() as transaction:
        [event] = transaction.events.list("PLAN1")
    assert event.created_at.isoformat() == time, event


@given("its write-ahead log is turned off")
def without_log(context: Context) -> None:
    databases(context).execute("PRAGMA journal_mode=DELETE")


@given("the database is set to a file elsewhere")
def elsewhere(context: Context) -> None:
    databases(context).url = f"sqlite:///{context.world.directory}/elsewhere/plans.db"


@given("a home directory with an odd name")
def odd_home(context: Context) -> None:
    databases(context).home = context.world.directory / "odd #1 100%20 ? \udce9"


@given("the database is set to a server with an unknown option")
def unknown_option(context: Context) -> None:
    databases(context).url = "postgresql://localhost/plans?odd=1"


@given("the driver of PostgreSQL is not installed")
def no_driver(context: Context) -> None:
    databases(context).url = "postgresql://localhost/plans"
    databases(context).surroundings = patch.dict(sys.modules, {"psycopg": None})


@given("a checkpoint in {store} whose description was replaced by {description}")
def damaged_description(context: Context, store: str, description: str) -> None:
    found = databases(context)
    found.choose(store)
    with found.open().write() as transaction:
        transaction.plans.add(sample_records.plan())
        transaction.sandboxes.add_resource(sample_records.resource())
        transaction.checkpoints.add_group(sample_records.group(), [sample_records.checkpoint()])
    stored = {"nothing": "", "100000 opening brackets": "[" * 100_000}.get(description, description)
    escaped = stored.replace(":", "\\:") if found.url else stored
    found.execute(f"UPDATE checkpoint_metadata SET metadata_json = '{escaped}'")


@when("the database is used")
@when("the plan is read")
def use(context: Context) -> None:
    found = databases(context)
    found.use(lambda: [plan.id for plan in _plans(found)])


def _plans(found: Databases) -> list[sample_records.Plan]:
    with found.open().read() as transaction:
        return [transaction.plans.get(plan_id) for plan_id in transaction.plans.ids()]


@when("a plan is stored")
def store_plan(context: Context) -> None:
    databases(context).use(databases(context).add_plan)


@when("{count:d} processes each store a plan in the {age} database")
def store_together(context: Context, count: int, age: str) -> None:
    processes(context, count)


@when("a process is killed at each moment of making the database")
def kill_makers(context: Context) -> None:
    sweep(context, "create")


@when("a process is killed at each moment of migrating the database")
def kill_migrators(context: Context) -> None:
    sweep(context, "migrate")


@when("the database is set to {url}")
def set_url(context: Context, url: str) -> None:
    databases(context).url = url
    try:
        databases(context).open()
    except CleverAgentsError as error:
        databases(context).error = error


@when("a new process uses the database")
def use_in_process(context: Context) -> None:
    context.world.python(
        "import sys; from pathlib import Path;"
        "from cleveragents.infrastructure.database.unit_of_work import Connections, SqlDatabase;"
        "from cleveragents.infrastructure.system import SystemClock;"
        f"connections = Connections(None, Path({str(context.world.home)!r}))\n"
        "with SqlDatabase(connections, SystemClock()).read() as found:"
        " print(found.plans.ids(), 'alembic' in sys.modules)"
    )


@when("the migrations are listed")
def list_migrations(context: Context) -> None:
    scripts = Path(schema.__file__).with_name("migrations") / "versions"
    context.migrations = sorted(script.stem for script in scripts.glob("*.py"))


@when("it is asked to prove that {promise}")
def prove(context: Context, promise: str) -> None:
    contract = {check.__name__: check for check in contract_suite.CONTRACT}
    context.flaw = None
    try:
        contract[promise.replace(" ", "_")](databases(context).open)
    except contract_suite.ContractError as error:
        context.flaw = error


@when("the promises are counted")
def count_promises(context: Context) -> None:
    context.promises = {check.__name__.replace("_", " ") for check in contract_suite.CONTRACT}


@when("the checkpoints are read")
def read_checkpoints(context: Context) -> None:
    with databases(context).open().read() as transaction:
        [context.checkpoint] = transaction.checkpoints.list("PLAN1")


@then("the promise is kept")
def promise_kept(context: Context) -> None:
    assert context.flaw is None, context.flaw


@then("it is found out")
def found_out(context: Context) -> None:
    assert context.flaw is not None


@then("each of them is listed for every database")
def promises_listed(context: Context) -> None:
    rule = context.feature.rules[0]
    for examples in rule.run_items[0].examples:
        listed = {row["promise"] for row in examples.table}
        assert listed == context.promises, listed ^ context.promises


@then("the description says label {label}, step {step:d}, resource {resource}")
def description(context: Context, label: str, step: int, resource: str) -> None:
    metadata = context.checkpoint.metadata
    found = (metadata.label, metadata.step_index, metadata.resource)
    assert found == (label, step, resource), found


@then("it says that {path} was not captured")
def said_not_captured(context: Context, path: str) -> None:
    found = [entry.path for entry in context.checkpoint.metadata.not_captured]
    assert found == [path], found


@then("it holds no plans")
def no_plans(context: Context) -> None:
    assert databases(context).found == [], databases(context).error


@then("it holds its plan")
def its_plan(context: Context) -> None:
    assert databases(context).found == ["PLAN1"], databases(context).error


@then("it holds the plans of all {count:d} processes")
def plans_of_processes(context: Context, count: int) -> None:
    wanted = {f"PROCESS{number}" for number in range(count)}
    assert set(databases(context).list_plans()) == wanted


@then("it holds the plans of all {count:d} processes and its own")
def plans_of_processes_and_own(context: Context, count: int) -> None:
    wanted = {"PLAN1", *(f"PROCESS{number}" for number in range(count))}
    assert set(databases(context).list_plans()) == wanted


@then("only its user can read the database and its directory")
def private(context: Context) -> None:
    found = databases(context)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (found.home, found.path)]
    assert modes == [0o700, 0o600], [oct(mode) for mode in modes]


@then("it is refused with exit code {code:d}: {reason}")
def refused(context: Context, code: int, reason: str) -> None:
    error = databases(context).error
    assert error is not None, databases(context).found
    assert reason in error.message, error.message
    assert error.exit_code == code, error.exit_code
    assert error.hint or not isinstance(error, SchemaVersionError), error


@then("it is byte for byte what it was")
def unchanged(context: Context) -> None:
    assert databases(context).content() == databases(context).before


@then("the database holds what it held")
def same_plans(context: Context) -> None:
    assert databases(context).list_plans() == ["PLAN0"]


@then("a private copy of what it was lies beside it")
def copied(context: Context) -> None:
    [backup] = databases(context).backups()
    with closing(sqlite3.connect(backup)) as connection:
        versions = connection.execute("SELECT version_num FROM alembic_version").fetchall()
        plans = connection.execute("SELECT plan_id FROM plans").fetchall()
    assert (versions, plans) == ([(schema.OLDER_REVISIONS[0],)], [("PLAN1",)])
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600


@then("its schema is that of a new database")
def like_new(context: Context) -> None:
    new = context.world.directory / "new.db"
    support.make_sqlite(new, schema.HEAD_REVISION, plans=0)
    assert support.schema_of(databases(context).path) == support.schema_of(new)


@then("its schema is what the program expects")
def no_drift(context: Context) -> None:
    assert databases(context).drift() == []


@then("the next use finds a whole database every time")
def survived(context: Context) -> None:
    assert "kills survived" in context.sweep.stdout, context.sweep.stderr
    assert int(context.sweep.stdout.split()[0]) > 10, context.sweep.stdout


@then("they are the versions that the program knows")
def known_versions(context: Context) -> None:
    assert context.migrations == [*schema.OLDER_REVISIONS, schema.HEAD_REVISION]


@then("it does not load the migration tool")
def without_alembic(context: Context) -> None:
    assert context.world.last.stdout == "['PLAN1'] False\n", context.world.last


@then("its write-ahead log is on")
def with_log(context: Context) -> None:
    with closing(sqlite3.connect(databases(context).path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@given("a program that has made the database and stored a plan in it")
def long_running_program(context: Context) -> None:
    databases(context).add_plan("FIRST")


@given("the program has opened it a second time and closed that again")
def opened_twice(context: Context) -> None:
    second = support.open_database(context.world.home)
    with second.read() as transaction:
        transaction.plans.ids()
    second.close()


@when("another process stores a plan and ends, and the program one more")
def both_store(context: Context) -> None:
    # The last process to leave removes the log; while one is there, none is the last.
    processes(context, 1)
    with databases(context).opened[0].write() as transaction:
        transaction.plans.add(sample_records.plan("LAST"))


@then("it holds all 3 plans, and for everybody else too")
def all_there(context: Context) -> None:
    with databases(context).opened[0].read() as transaction:
        seen = sorted(transaction.plans.ids())
    fresh = support.open_database(context.world.home)
    with fresh.read() as transaction:
        found = sorted(transaction.plans.ids())
    fresh.close()
    assert seen == found == ["FIRST", "LAST", "PROCESS0"], (seen, found)
