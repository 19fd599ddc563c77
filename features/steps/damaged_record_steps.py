"""Rows of the database that were changed by hand."""

from __future__ import annotations

import json
from typing import Any

from behave import given, then, when
from behave.runner import Context
from features.support.plans import plans

_KEYS = {
    "plans": "plan_id",
    "sandboxes": "sandbox_id",
    "tool_calls": "tool_call_id",
    "decisions": "decision_id",
    "checkpoint_metadata": "checkpoint_id",
    "checkpoint_groups": "group_id",
}
_NOT_UTF8 = b"\xff\xfe"


def _without_step(stored: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in stored.items() if name != "last_completed_step"}


_DESCRIPTIONS = {
    "an empty object": lambda _: {},
    "without a number of its step": _without_step,
    "one whose last step is a word": lambda stored: {**stored, "last_completed_step": "one"},
    "that of another state": lambda stored: {**stored, "state_hash": "0" * 64},
}


def _replace(context: Context, table: str, column: str, record_id: str, value: object) -> None:
    """Stores a value; bytes are stored as text, whatever they are."""
    new = "cast(? AS TEXT)" if isinstance(value, bytes) else "?"
    statement = f"UPDATE {table} SET {column} = {new} WHERE {_KEYS[table]} = ?"
    plans(context).query(statement, value, record_id)


@given('the description of "{label}" is {damage}')
def damage_description(context: Context, label: str, damage: str) -> None:
    plan = plans(context)
    plan.damaged = plan.checkpoint(label)["checkpoint_id"]
    [[stored]] = plan.query(
        "SELECT metadata_json FROM checkpoint_metadata WHERE checkpoint_id = ?", plan.damaged
    )
    value: object
    if damage == "text that is not UTF-8":
        value = _NOT_UTF8
    elif damage == "cut off after its first byte":
        value = stored[:1]
    else:
        value = json.dumps(_DESCRIPTIONS[damage](json.loads(stored)))
    _replace(context, "checkpoint_metadata", "metadata_json", plan.damaged, value)


@given("the {column:w} of a row of {table:w} is {value}")
def damage_value(context: Context, column: str, table: str, value: str) -> None:
    plan = plans(context)
    newest = f"SELECT {_KEYS[table]} FROM {table} ORDER BY rowid DESC LIMIT 1"
    [[plan.damaged]] = plan.query(newest)
    if value == "a blob":
        statement = f"UPDATE {table} SET {column} = x'ff' WHERE {_KEYS[table]} = ?"
        plan.query(statement, plan.damaged)
        return
    wrong = _NOT_UTF8 if value == "not UTF-8" else value
    _replace(context, table, column, plan.damaged, wrong)


@given("the user has rolled the plan back to the damaged checkpoint")
@when("the user rolls the plan back to the damaged checkpoint")
def roll_back_to_damaged(context: Context) -> None:
    plan = plans(context)
    plan.act("plan", "rollback", plan.plan_id, plan.damaged, "--yes")


@when("the user looks at the damaged checkpoint")
def look_at_damaged(context: Context) -> None:
    context.world.agents(
        "plan", "checkpoint", "show", plans(context).plan_id, plans(context).damaged
    )


@then("the error names the damaged record of {table:w}")
def names_record(context: Context, table: str) -> None:
    said = context.world.last.stderr
    assert f"{plans(context).damaged} cannot be read (table `{table}`)" in said, said
