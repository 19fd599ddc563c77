from __future__ import annotations

import json
from typing import Any
from unittest.mock import Mock

from behave import given, then, when
from behave.runner import Context
from features.support.plans import data, plans
from features.support.values import table_rows

from cleveragents.application.services.rollback.intents import UndoRedo
from cleveragents.domain.checkpoints.operation import OperationKind
from cleveragents.domain.errors import CleverAgentsError


def take_back(context: Context, act: str) -> None:
    plans(context).prepare("plan", act, plans(context).plan_id, "--yes", "--format", "json")


def asked(context: Context, *arguments: str) -> dict[str, Any]:
    """What a command tells; what was said before stays `last`."""
    said = context.world.outcome
    shown = context.world.agents_here(*arguments, "--format", "json")
    context.world.outcome = said
    return shown.json


@given("the last operation has been undone")
def has_been_undone(context: Context) -> None:
    take_back(context, "undo")


@given('the plan has been rolled back to "{label}", which was undone')
def rolled_back_and_undone(context: Context, label: str) -> None:
    plans(context).prepare(*plans(context).rollback(label, "--yes"))
    take_back(context, "undo")


@given("the last undo has been redone")
def has_been_redone(context: Context) -> None:
    take_back(context, "redo")


@given("the plan has been executed")
def has_been_executed(context: Context) -> None:
    plans(context).prepare("plan", "execute", plans(context).plan_id, "--format", "json")


@given('the records of "{label}" are gone')
def records_are_gone(context: Context, label: str) -> None:
    group = plans(context).checkpoint(label)["group_id"]
    plans(context).query("DELETE FROM checkpoint_metadata WHERE group_id = ?", group)
    plans(context).query("DELETE FROM checkpoint_groups WHERE group_id = ?", group)


@given("an older program recorded the rollback")
def older_program(context: Context) -> None:
    plans(context).query("UPDATE operations SET before_json = NULL, after_json = NULL")


@when("the user undoes the last operation")
def undo(context: Context) -> None:
    plans(context).act("plan", "undo", plans(context).plan_id, "--yes")


@when("the user redoes what was undone last")
def redo(context: Context) -> None:
    plans(context).act("plan", "redo", plans(context).plan_id, "--yes")


@when("the user rehearses undoing")
def rehearse_undo(context: Context) -> None:
    plans(context).act("plan", "undo", plans(context).plan_id, "--dry-run")


@when("the user asks to undo")
def ask_to_undo(context: Context) -> None:
    plans(context).act("plan", "undo", plans(context).plan_id)


@when("a program asks to undo a rollback that is no longer the last one")
def undo_another(context: Context) -> None:
    container = plans(context).container(Mock())
    context.add_cleanup(container.close)
    try:
        intent = UndoRedo(OperationKind.UNDO, "01HXM8C2000000000000000000")
        container.rollback_procedure().run(plans(context).plan_id, intent)
    except CleverAgentsError as error:
        context.refusal = error


@when('the user answers "{answer}" when asked to undo')
def answer_undo(context: Context, answer: str) -> None:
    plans(context).converse(answer, "plan", "undo", plans(context).plan_id)


@when('the user rolls the plan back to the newest checkpoint called "{label}"')
def roll_back_to_newest(context: Context, label: str) -> None:
    plans(context).act(*plans(context).rollback(label, "--yes"))


@when("the user looks at the plan's operations")
def look_at_operations(context: Context) -> None:
    plans(context).act("plan", "log", plans(context).plan_id)


@then("the rehearsal names {path} as {action}")
def rehearsal_names(context: Context, path: str, action: str) -> None:
    assert data(context)["changes_reverted"] == [{"file": path, "action": action}], data(context)


def tried(item: dict[str, Any]) -> str:
    calls = [f"{call['step']}. {call['tool']} {call['status']}" for call in item["tool_calls"]]
    decisions = [f"{each['question']} {each['chosen']}" for each in item["decisions"]]
    return ", ".join([*calls, *decisions])


@then("the operations are")
def operations_are(context: Context) -> None:
    listed = data(context)["operations"]
    kinds = {item["operation_id"]: item["kind"] for item in listed}
    found = [
        [item["kind"], item["status"], kinds.get(item["takes_back"], ""), tried(item["tried"])]
        for item in listed
    ]
    assert found == table_rows(context.table), found


@then("nothing is left to {act}")
def nothing_left(context: Context, act: str) -> None:
    error = asked(context, "plan", act, plans(context).plan_id, "--yes")["error"]
    assert error["code"] == "nothing_to_take_back", error


@then("the plan's failure is known again")
def failure_known(context: Context) -> None:
    error = plans(context).status()["error"]
    assert (error["step"], error["tool"]) == ("2 of 2", "shell"), error


@then("the checkpoints of the run are all in sight")
def all_in_sight(context: Context) -> None:
    labels = set(plans(context).labels())
    run = {"before execution", "before one", "after one", "before two", "after two"}
    assert {*run, "after execution"} <= labels, labels


@then("the option taken is {option}")
def option_taken(context: Context, option: str) -> None:
    [[choices]] = plans(context).query(
        "SELECT choices_json FROM plans WHERE plan_id = ?", plans(context).plan_id
    )
    assert json.loads(choices)["1"] == option, choices
