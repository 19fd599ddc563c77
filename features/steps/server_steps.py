from __future__ import annotations

import json
from pathlib import Path

from behave import given, then, when
from behave.runner import Context
from features.steps.database_steps import databases
from features.support import postgres
from features.support.plans import plans
from features.support.sandboxes.databases import make_older_postgres
from features.support.situations.servers import ServedDatabase, run_elsewhere, silent_server
from features.support.sweeps.lost_connections import (
    SAMPLES,
    LostConnections,
    round_trips_of_a_checkpoint,
)

from cleveragents.infrastructure.database import schema


def served(context: Context) -> ServedDatabase:
    return context.served


@given("a database in {store} that is in use")
def database_in_use(context: Context, store: str) -> None:
    databases(context).choose(store)
    context.served = ServedDatabase(databases(context), context.world.environment)
    context.world.on_close.callback(context.served.on_close.close)


@given("a database of the first version in {store}")
def first_version(context: Context, store: str) -> None:
    found = databases(context)
    found.choose(store)
    if found.url:
        make_older_postgres(found.url)
    else:
        found.make(schema.OLDER_REVISIONS[0])


@given("a process of {whose} version {does}")
def process_of_version(context: Context, whose: str, does: str) -> None:
    revision = {"this": schema.HEAD_REVISION, "the first": schema.OLDER_REVISIONS[0]}[whose]
    run_elsewhere(databases(context), revision, context.world.on_close, killed=does == "was killed")


@given("a process without presence {holds}")
def process_holds(context: Context, holds: str) -> None:
    year = 2999 if holds == "holds a plan" else 2001
    databases(context).execute(
        "INSERT INTO locks (resource_type, resource_id, owner_id, fencing, host, process_id,"
        " process_started, command, acquired_at, expires_at, released) VALUES ('plan', 'PLAN1',"
        " 'somebody', 1, 'far.example.org', 42, '1', 'agents plan execute',"
        f" '2001-01-01T00:00:00+00:00', '{year}-01-01T00:00:00+00:00', false)"
    )


@given("the lease time is {seconds:d} seconds")
def lease_time(context: Context, seconds: int) -> None:
    context.world.environment["CLEVERAGENTS_PLAN_LEASE_TIME"] = str(seconds)


@given("the server is stopped")
@when("the server is stopped")
def stop_server(context: Context) -> None:
    postgres.server().stop()
    context.world.on_close.callback(postgres.server().start)


@when("the server is restarted")
def restart_server(context: Context) -> None:
    postgres.server().stop()
    postgres.server().start()


@given("the server was restarted with the schema of another version")
def another_schema(context: Context) -> None:
    served(context).restart_with_another_schema()


@given("a server that takes connections and says nothing")
def silent(context: Context) -> None:
    found = databases(context)
    found.url = silent_server(context.world.on_close)
    found.content = lambda: None


@given("the process of the server that serves it is stopped")
def stop_backend(context: Context) -> None:
    served(context).stop_backend()


@given("process {number:d} on {host} is writing about {plan}")
def writing_elsewhere(context: Context, number: int, host: str, plan: str) -> None:
    served(context).write_elsewhere(number, host, plan)


@given("another process is writing to it")
def writing_here(context: Context) -> None:
    served(context).write_in_process()


@when("the cause of its waiting is fixed, and the server started once it is missed")
def mend_and_start(context: Context) -> None:
    (context.world.directory / "fixed").touch()
    for line in context.process.stderr:
        if "does not answer" in json.loads(line)["data"].get("name", ""):
            break
    postgres.server().start()


@when("the plan is read again")
def read_again(context: Context) -> None:
    served(context).read()


@when("the server is stopped while a program writes")
def stop_while_writing(context: Context) -> None:
    served(context).write_until_stopped()


@when("it is run with its records in PostgreSQL, and {what} is lost each time")
def lose_connections(context: Context, what: str) -> None:
    losses = LostConnections(plans(context), context.world.on_close)
    whole = context.config.userdata.get("sweep") == "whole"
    context.losses = losses.compare(answer=what.startswith("an answer"), whole=whole)


@when("it has been run with its records on a far server, and a checkpoint is taken")
def checkpoint_far_away(context: Context) -> None:
    context.round_trips = round_trips_of_a_checkpoint(plans(context), context.world.on_close)


@then("the checkpoint took {count:d} round trips")
def took_round_trips(context: Context, count: int) -> None:
    assert context.round_trips == count, context.round_trips


@when("a program loses its connection after it read a plan that another one then changes")
def changed_while_away(context: Context) -> None:
    served(context).write_over_a_change()


@when("a program changes all plans, and then runs a wrong statement before it commits")
def fail_at_commit(context: Context) -> None:
    served(context).fail_at_commit()


@then("no plan has changed")
def plans_unchanged(context: Context) -> None:
    assert "changed" not in served(context).names()


@then("each run has left the records of one that nothing disturbed")
def undisturbed(context: Context) -> None:
    assert context.losses >= SAMPLES, context.losses


@when("a program writes about all plans")
def write_about_all(context: Context) -> None:
    served(context).write()


@when("a program writes about {plan:w}")
def write_about(context: Context, plan: str) -> None:
    served(context).write(plan)


@then("it succeeds")
def succeeds(context: Context) -> None:
    assert databases(context).error is None, databases(context).error


@then("each step has run once")
def ran_once(context: Context) -> None:
    assert (context.world.directory / "begun").read_text() == "once\n"
    assert plans(context).status()["last_completed_step"] == 1, plans(context).status()


@then("the other process ends with the code {code:d} and the sentence {sentence}")
def other_ends(context: Context, code: int, sentence: str) -> None:
    said, complained = context.process.communicate()
    assert context.process.returncode == code, (said, complained)
    message = json.loads(said)["error"]["message"]
    assert message == sentence.replace("PLAN", plans(context).plan_id), message


@then("no process of the plan's tools is left")
def no_tool_left(context: Context) -> None:
    name = f"CLEVERAGENTS_PLAN_ID={plans(context).plan_id}".encode()
    found: list[Path] = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            found += [place] if name in place.read_bytes() else []
        except OSError:
            continue
    assert not found, found
