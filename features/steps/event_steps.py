from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
from contextlib import closing
from typing import Any

from behave import given, then, when
from behave.runner import Context
from features.support.faults import listeners, plan_faults
from features.support.plans import data, plans

ODD = "odd \x1b[31m\u202e\nname"
STORED = "SELECT sequence, type, created_at, data_json FROM events WHERE plan_id = ? ORDER BY 1"


def log(context: Context) -> list[dict[str, Any]]:
    """The plan's events, read with nothing but SQLite."""
    rows = plans(context).query(STORED, plans(context).plan_id)
    return [
        {"sequence": number, "type": kind, "at": _utc(time), "data": json.loads(facts)}
        for number, kind, time, facts in rows
    ]


def _utc(time: str) -> str:
    return time.replace("+00:00", "Z")


def emitted_lines(context: Context) -> list[dict[str, Any]]:
    return listeners.lines(context.world.last.stderr)


def stored_lines(context: Context) -> list[dict[str, Any]]:
    """The lines that tell of what is stored, without the plan they all have."""
    found = [line for line in emitted_lines(context) if "sequence" in line]
    assert {line.pop("plan_id") for line in found} == {plans(context).plan_id}, found
    return found


@given('a rollback to "{label}" has failed')
def failed_rollback(context: Context, label: str) -> None:
    with plan_faults.failing_rollback("restoring the second sandbox"):
        plans(context).prepare(*plans(context).rollback(label, "--yes"), exit_code=7)


@given("a program has entered that {something}")
def entered(context: Context, something: str) -> None:
    plans(context).define([{"step": "one", "does": "runs `true`"}])
    plans(context).prepare("plan", "use", str(plans(context).file))
    event = listeners.ENTERED[something](plans(context).plan_id)
    listeners.enter(plans(context), listeners.Listener(), event)


@given('another program has entered "{kind}" with {facts}')
def entered_by_another(context: Context, kind: str, facts: str) -> None:
    plans(context).query(
        "INSERT INTO events (plan_id, type, data_json, created_at) VALUES (?, ?, ?, ?)",
        plans(context).plan_id,
        kind,
        facts,
        "2999-01-01T00:00:00.000000+00:00",
    )


@given("a plan whose step has an odd name")
def odd_step(context: Context) -> None:
    plans(context).definition["name"] = "local/odd"
    plans(context).define([{"step": ODD, "does": "writes a.txt"}])
    plans(context).run()


@given("the plan has only step one")
def only_one_step(context: Context) -> None:
    plans(context).define([{"step": "one", "does": "writes a.txt"}])


@when("the user asks what happened to the plan")
def ask(context: Context) -> None:
    context.world.agents("plan", "log", plans(context).plan_id, "--format", "plain")


@when("the user asks what happened to the plan with {options}")
def ask_with(context: Context, options: str) -> None:
    arguments = ("plan", "log", plans(context).plan_id, "--format", "plain")
    context.world.agents(*arguments, *options.split())


@when("the user asks for the plan's log as data")
def ask_for_data(context: Context) -> None:
    plans(context).act("plan", "log", plans(context).plan_id)


@when("the user executes the plan with {options}")
def execute_with(context: Context, options: str) -> None:
    plans(context).act("plan", "execute", plans(context).plan_id, *options.split())


@when('executing it is killed when "{kind}" is emitted')
def killed_when_emitted(context: Context, kind: str) -> None:
    assert listeners.executed_until(plans(context), kind)


@when("a program enters that the plan was cancelled, and its transaction fails")
def enter_and_fail(context: Context) -> None:
    context.listener = listeners.Listener()
    event = listeners.PlanCancelled(plans(context).plan_id, "")
    with contextlib.suppress(RuntimeError):
        listeners.enter(plans(context), context.listener, event, fail=True)


@when("the plan is deleted from the database")
def delete_plan(context: Context) -> None:
    with closing(sqlite3.connect(plans(context).database)) as connection, connection:
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("DELETE FROM plans")


@when("the user runs the plan and the lines go to {listener}")
def run_with_listener(context: Context, listener: str) -> None:
    arguments = ("plan", "run", str(plans(context).file), "--progress", "json")
    with context.world.gone_reader() as writer:
        streams = {
            "a closed stream": ">&-",
            "a full disk": ">/dev/full",
            "a reader that went away": f">/proc/{os.getpid()}/fd/{writer}",
        }
        script = f'exec "$@" 2{streams[listener]}'
        context.world.process_agents(*arguments, script=script)


@then("the log says")
def log_says(context: Context) -> None:
    assert context.world.last.exit_code == 0, context.world.last
    rows = [line.split("\t")[1:] for line in context.world.last.stdout.splitlines()]
    found = [[what, re.sub(r"after \d+ ms", "after a while", text)] for what, text in rows]
    expected = [[row["what"], plans(context).filled(row["details"])] for row in context.table]
    assert found == expected, found


@then("it has every stored event with number, type, time and facts")
def data_has_events(context: Context) -> None:
    expected = [{"created_at": row.pop("at"), **row} for row in log(context)]
    assert data(context)["events"] == expected, data(context)["events"]
    assert data(context)["plan_id"] == plans(context).plan_id
    assert data(context)["summary"] == {"count": len(expected), "total": len(expected)}


@then('it has the rollback to "{label}" with its safety checkpoint "{safety}"')
def data_has_rollback(context: Context, label: str, safety: str) -> None:
    [(operation, began, ended)] = plans(context).query(
        "SELECT operation_id, created_at, finished_at FROM operations"
    )
    assert data(context)["operations"] == [
        {
            "operation_id": operation,
            "kind": "rollback",
            "status": "completed",
            "target_checkpoint_id": plans(context).checkpoint(label)["checkpoint_id"],
            "safety_checkpoint_id": plans(context).checkpoint(safety)["checkpoint_id"],
            "takes_back": None,
            "created_at": _utc(began),
            "finished_at": _utc(ended),
            "note": f"rollback to {label}",
            "tried": data(context)["operations"][0]["tried"],
        }
    ], data(context)["operations"]


@then("the output shows the odd name and obeys nothing in it")
def odd_name_shown(context: Context) -> None:
    shown = context.world.last.stdout
    # Frames break lines where they are full.
    words = re.sub(r"[\s│]+", " ", shown)
    assert re.search(r"before odd (\\x1b|\\u001b|\\e)\[31m", words, re.IGNORECASE), shown
    assert "\x1b[31m" not in shown and "\u202e" not in shown, shown


@then("no event is left")
def no_event(context: Context) -> None:
    assert plans(context).query("SELECT * FROM events") == []


@then("the emitted events are the plan's log")
def emitted_events_are_the_log(context: Context) -> None:
    assert stored_lines(context) == log(context), (stored_lines(context), log(context))


@then("the emitted events are the end of the plan's log")
def emitted_events_end_the_log(context: Context) -> None:
    found = stored_lines(context)
    assert len(found) > 5 and found == log(context)[-len(found) :], found


@then("the other lines are")
def other_lines(context: Context) -> None:
    found = [line for line in emitted_lines(context) if "sequence" not in line]
    assert [line["type"] for line in found] == [row["type"] for row in context.table], found
    assert all(line.keys() == {"type", "plan_id", "at", "data"} for line in found), found


@then("the last lines are")
def last_lines(context: Context) -> None:
    expected = [(row["type"], plans(context).filled(row["text"])) for row in context.table]
    found = [(line["type"], line["data"].get("text")) for line in emitted_lines(context)]
    assert found[-len(expected) :] == expected, found


@then("no event says that the tool of step 2 was invoked")
def second_tool_not_invoked(context: Context) -> None:
    invoked = [line for line in stored_lines(context) if line["type"] == "tool.invoked"]
    assert [line["data"]["step_index"] for line in invoked] == [0], invoked


@then('the log has {count:d} "{kind}" as its last but one event')
def last_but_one(context: Context, count: int, kind: str) -> None:
    kinds = [row["type"] for row in log(context)]
    assert kinds.count(kind) == count and kinds[-2] == kind, kinds


@then("no event was emitted")
def nothing_emitted(context: Context) -> None:
    assert context.listener.heard == []


@then('the log does not say "{kind}"')
def log_without(context: Context, kind: str) -> None:
    assert kind not in [row["type"] for row in log(context)]


@then('a line has the warning "{text}"')
def line_with_warning(context: Context, text: str) -> None:
    said = [line["data"]["text"] for line in emitted_lines(context) if "warned" in line["type"]]
    context.warning = next(warning for warning in said if text in warning)


@then("the document has the same warning")
def document_with_warning(context: Context) -> None:
    assert context.warning in context.world.last.json["messages"], context.world.last
