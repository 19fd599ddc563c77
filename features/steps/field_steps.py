from __future__ import annotations

import json
import shlex
from datetime import datetime
from typing import Any

import yaml
from behave import given, then, when
from behave.runner import Context
from features.steps.decision_steps import tree_of
from features.steps.process_steps import start
from features.support.clocks import wait_until
from features.support.plans import data, plans
from features.support.values import table_rows


@given("a plan whose second of four steps waits for the user")
def waiting_plan(context: Context) -> None:
    flag = context.world.directory / "flag"
    wait = f"until test -e {flag}; do sleep 0.05; done"
    commands = ("true", wait, "true", "true")
    plans(context).definition["steps"] = [
        {"name": str(number), "tool": "shell", "with": {"command": command}}
        for number, command in enumerate(commands)
    ]
    plans(context).write()
    context.world.on_close.callback(flag.touch)


@when("the user asks for the status while it waits")
def status_meanwhile(context: Context) -> None:
    context.running = start(context, "plan", "run", str(plans(context).file))
    wait_until(lambda: running_step(context) == 1, context.running)
    context.statuses = [plans(context).status() for _ in range(2)]


def running_step(context: Context) -> int:
    found = plans(context).query("SELECT max(step_index) FROM tool_calls")
    return -1 if found[0][0] is None else found[0][0]


@then("the elapsed time grows, and an end is expected")
def grows(context: Context) -> None:
    first, second = (status["timing"] for status in context.statuses)
    assert 0 < first["elapsed"] < second["elapsed"], context.statuses
    assert first["eta"] > 0 and first["finished"] is None, first


@then("the elapsed time is that from the start to the end")
def took(context: Context) -> None:
    timing = data(context)["timing"]
    began, ended = (datetime.fromisoformat(timing[name]) for name in ("started", "finished"))
    assert abs((ended - began).total_seconds() - timing["elapsed"]) < 0.001, timing
    assert timing["elapsed"] >= 0.2, timing
    assert data(context)["started"] == timing["started"], data(context)


@then("no end is expected")
def no_end(context: Context) -> None:
    assert data(context)["timing"]["eta"] is None, data(context)["timing"]


@then('the labels of the progress are "{labels}"')
def progress_labels(context: Context, labels: str) -> None:
    found = [item["label"] for item in data(context)["progress"]]
    assert ", ".join(found) == labels, found


@then("the next steps are the commands of `next`")
def next_steps(context: Context) -> None:
    found = data(context)
    assert found["next_steps"] == found["next"] != [], found


@then("one plan has not started and the other took some time")
def list_elapsed(context: Context) -> None:
    first, second = (item["elapsed"] for item in data(context)["plans"])
    assert first is None and second > 0, data(context)["plans"]


@given("a plan whose decision comes with a reasoning")
def reasoned(context: Context) -> None:
    decision = {
        "question": "Where?",
        "chosen": "file",
        "reasoning": "Files need no server.\nWe have none.",
        "options": {"file": {}, "server": {}},
    }
    plans(context).definition["steps"] = [{"name": "where", "decision": decision}]
    plans(context).write()
    plans(context).run()


@when('the user asks for an explanation with "{options}"')
def explained(context: Context, options: str) -> None:
    nodes = {node["question"]: node["decision_id"] for _, node in tree_of(context)}
    context.world.agents("plan", "explain", nodes["Where?"], *shlex.split(options))


@then("the document has no field `{name}`")
def no_field(context: Context, name: str) -> None:
    assert name not in data(context), data(context)


@then("the plan's failure {can} be recovered from")
def recoverable(context: Context, can: str) -> None:
    error = plans(context).status()["error"]
    assert error["recoverable"] is (can == "can"), error


@then("no record of a checkpoint has `{name}`")
def no_stored_field(context: Context, name: str) -> None:
    rows = plans(context).query("SELECT metadata_json FROM checkpoint_metadata")
    assert rows and not [row for (row,) in rows if name in json.loads(row)], rows


@given("the definition of done is {entry}")
def set_definition_of_done(context: Context, entry: str) -> None:
    definition: dict[str, Any] = yaml.safe_load(plans(context).file.read_text())
    definition["definition_of_done"] = yaml.safe_load(entry)
    plans(context).file.write_text(yaml.safe_dump(definition, sort_keys=False))


@given("the plan has run with {options}")
def has_run_with(context: Context, options: str) -> None:
    plans(context).prepare("plan", "run", str(plans(context).file), *options.split())


@then("the requirements are")
def requirements_are(context: Context) -> None:
    found = [
        [name, item["text"], item["validation"] or "", item["status"]]
        for name in ("definition_of_done", "invariants")
        for item in data(context)[name]
    ]
    assert found == table_rows(context.table), found


@then('the status says that "{text}" is {status}')
def requirement_is(context: Context, text: str, status: str) -> None:
    found = {item["text"]: item["status"] for item in plans(context).status()["definition_of_done"]}
    assert found[text] == status, found


@then("the field `{name}` is {value}")
def field_is(context: Context, name: str, value: str) -> None:
    found: Any = data(context)
    for part in name.split("."):
        found = found[part]
    assert found == json.loads(value), found


@then("{count:d} invariants are in effect")
def invariants_in_effect(context: Context, count: int) -> None:
    kinds = [node["type"] for _, node in tree_of(context)]
    assert kinds.count("invariant_enforced") == count, kinds


@when("the user corrects an invariant")
def correct_invariant(context: Context) -> None:
    found = [node for _, node in tree_of(context) if node["type"] == "invariant_enforced"]
    plans(context).act(
        *("plan", "correct", found[0]["decision_id"], "--mode", "revert", "-g", "x", "--yes")
    )


@then('the message of the error ends with "{text}"')
def message_ends(context: Context, text: str) -> None:
    message = context.world.last.json["error"]["message"]
    assert message.endswith(text), message


@then('the user is told "{text}"')
def user_is_told(context: Context, text: str) -> None:
    said = " ".join((context.world.last.stdout + context.world.last.stderr).split())
    assert text in said, said
