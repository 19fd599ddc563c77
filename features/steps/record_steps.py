from __future__ import annotations

import json
from unittest.mock import Mock

from behave import given, then, when
from behave.runner import Context
from features.support.plans import plans
from features.support.statements import counted

LATEST = (
    "SELECT metadata_json FROM checkpoint_metadata"
    " WHERE json_extract(metadata_json, '$.label') = ? ORDER BY sequence DESC"
)


def description(context: Context, label: str) -> str:
    return plans(context).query(LATEST, label)[0][0]


@given("a plan with {count:d} steps that each write a file")
def many_steps(context: Context, count: int) -> None:
    steps = ({"step": f"step {n:02}", "does": f"writes {n:02}.txt"} for n in range(1, count + 1))
    plans(context).define(steps)


@given("its checkpoints are recorded as an older program did")
def older_records(context: Context) -> None:
    known = plans(context).query("SELECT sequence, tool_call_id FROM tool_calls")
    rows = plans(context).query("SELECT checkpoint_id, metadata_json FROM checkpoint_metadata")
    for checkpoint_id, text in rows:
        metadata = json.loads(text)
        ranges = metadata.pop("effective_calls")
        metadata["tool_calls"] = [
            call for number, call in known for first, last in ranges if first <= number <= last
        ]
        plans(context).query(
            "UPDATE checkpoint_metadata SET metadata_json = ? WHERE checkpoint_id = ?",
            json.dumps(metadata),
            checkpoint_id,
        )


@when("a program makes {count:d} checkpoints")
def make_checkpoints(context: Context, count: int) -> None:
    container = plans(context).container(Mock())
    service, plan_id = container.checkpoint_service(), plans(context).plan_id
    with counted() as done:
        with container.database().read():
            pass  # The first transaction of a process compares home and database.
        context.costs = []
        for number in range(count):
            done.clear()
            service.create_manual_checkpoint(plan_id, f"number {number}")
            context.costs.append([*done])
    container.close()


@then("each took two reading transactions and one writing transaction")
def transactions(context: Context) -> None:
    # The first reads which sandboxes there are, the second checks the lease. Taking the lease
    # and giving it back are two more writing transactions.
    for statements in context.costs:
        begun = [text.removeprefix("BEGIN ") for text in statements if text.startswith("BEGIN")]
        assert begun == ["IMMEDIATE", "DEFERRED", "DEFERRED", "IMMEDIATE", "IMMEDIATE"], begun


@then("the database had as much to do for the last as for the tenth")
def same_statements(context: Context) -> None:
    tenth, last = (len(context.costs[index]) for index in (9, -1))
    assert last == tenth > 0, (tenth, last)


@then('the record of "{new}" is as long as that of "{old}"')
def same_length(context: Context, new: str, old: str) -> None:
    newer, older = (len(description(context, label)) for label in (new, old))
    assert newer == older, (newer, older)


@then('the checkpoint "{label}" knows the calls {first:d} and {last:d}')
def known_calls(context: Context, label: str, first: int, last: int) -> None:
    found = json.loads(description(context, label))["effective_calls"]
    assert found == [[first, first], [last, last]], found


@then("{count:d} tool calls are in effect")
def calls_in_effect(context: Context, count: int) -> None:
    query = "SELECT count(*) FROM tool_calls WHERE undone_by IS NULL"
    assert plans(context).query(query) == [(count,)]
