from __future__ import annotations

import re
from typing import Any
from unittest.mock import Mock

from behave import given, then, when
from behave.runner import Context
from features.support.faults import plan_faults
from features.support.plans import data, plans
from features.support.trees import difference
from features.support.values import flattened, row_values

from cleveragents.domain.errors import CleverAgentsError


@given('the plan has been rolled back to "{label}"')
def rolled_back(context: Context, label: str) -> None:
    plans(context).prepare(*plans(context).rollback(label, "--yes"))


@given("the next rollback fails while {stage}")
def fails_while(context: Context, stage: str) -> None:
    plan_faults.install(context, plan_faults.failing_rollback(stage))


@given("the next rollback is interrupted while restoring the second sandbox")
def interrupted_rollback(context: Context) -> None:
    plan_faults.install(context, plan_faults.interrupted_rollback())


@given("the next rollback fails for good")
def fails_for_good(context: Context) -> None:
    plan_faults.install(context, plan_faults.hopeless_rollback())


@given('a rollback to "{label}" has failed for good')
def failed_for_good(context: Context, label: str) -> None:
    with plan_faults.hopeless_rollback():
        plans(context).prepare(*plans(context).rollback(label, "--yes"), exit_code=7)


@given('the snapshot of "{label}" is missing')
def lose_snapshot(context: Context, label: str) -> None:
    plan_faults.lose(plans(context), plans(context).checkpoint(label)["sandbox_ref"])


@given('of the snapshot of "{label}", {what} is {how}')
def damage(context: Context, label: str, what: str, how: str) -> None:
    commit = plans(context).checkpoint(label)["sandbox_ref"]
    name = commit if what == "all" else plan_faults.blob_of(plans(context), commit, what)
    {"missing": plan_faults.lose, "altered": plan_faults.alter}[how](plans(context), name)


@given('the rollback situation "{situation}"')
def rollback_situation(context: Context, situation: str) -> None:
    plan_faults.PLAN_STATES[situation](plans(context))


@given("another plan has run too")
def another_plan(context: Context) -> None:
    plans(context).chosen = plans(context).plan_id
    plans(context).run()
    plans(context).other = context.world.last.json["data"]["plan_id"]


@when('the user rolls the plan back to "{label}"')
def roll_back(context: Context, label: str) -> None:
    plans(context).act(*plans(context).rollback(label, "--yes"))


@when("the user rolls the plan back to the checkpoint called {text}")
def roll_back_to_text(context: Context, text: str) -> None:
    plans(context).act("plan", "rollback", plans(context).plan_id, text, "--yes")


@when('the user rolls that plan back to the first plan\'s "{label}"')
def roll_back_other(context: Context, label: str) -> None:
    foreign = plans(context).checkpoint(label)["checkpoint_id"]
    plans(context).act("plan", "rollback", plans(context).other, foreign, "--yes")


@when('a program rolls that plan back to the first plan\'s "{label}"')
def program_rolls_back(context: Context, label: str) -> None:
    container = plans(context).container(Mock())
    context.add_cleanup(container.close)
    service = container.checkpoint_service()
    chosen = plans(context).checkpoint(label)["checkpoint_id"]
    foreign = service.find_checkpoint(plans(context).plan_id, chosen)
    plans(context).before = plans(context).everything()
    try:
        service.rollback_to_checkpoint(plans(context).other, foreign)
    except CleverAgentsError as error:
        context.refusal = error


@when("the user asks for the plan's rollback without a checkpoint")
def list_mode(context: Context) -> None:
    plans(context).act("plan", "rollback", plans(context).plan_id)


@when('the user asks for the plan\'s rollback without a checkpoint and with "{option}"')
def list_mode_with(context: Context, option: str) -> None:
    plans(context).act("plan", "rollback", plans(context).plan_id, option)


@when('the user asks for a rollback to "{label}"')
def ask_for_rollback(context: Context, label: str) -> None:
    plans(context).act(*plans(context).rollback(label))


@when('the user answers "{answer}" when asked for a rollback to "{label}"')
def answer_rollback(context: Context, answer: str, label: str) -> None:
    plans(context).converse(answer, *plans(context).rollback(label))


@when('the user, with "{option}", would answer "{answer}" to a rollback to "{label}"')
def answer_rollback_with(context: Context, option: str, answer: str, label: str) -> None:
    plans(context).converse(answer, *plans(context).rollback(label, option))


@when('the user rehearses the rollback to "{label}"')
def rehearse(context: Context, label: str) -> None:
    plans(context).act(*plans(context).rollback(label, "--dry-run"))


@given('the user has rehearsed the rollback to "{label}"')
def has_rehearsed(context: Context, label: str) -> None:
    context.rehearsal = plans(context).act(*plans(context).rollback(label, "--dry-run")).json
    context.around_rehearsal = plans(context).before, plans(context).everything()


@then("the rehearsal changed nothing")
def rehearsal_changed_nothing(context: Context) -> None:
    before, after = context.around_rehearsal
    assert before.rows == after.rows and before.project == after.project
    assert before.home == after.home, difference(before.home, after.home)
    assert context.rehearsal["messages"] == ["Dry run: nothing was changed"]


@then("both tell the same files, tool calls and checkpoints")
def same_numbers(context: Context) -> None:
    said, done = context.rehearsal["data"], data(context)
    same = ("rollback_summary", "changes_reverted", "post_rollback_state", "left_alone")
    assert {name: said[name] for name in same} == {name: done[name] for name in same}, (said, done)
    would = {name: str(value).replace("would be ", "") for name, value in said["impact"].items()}
    assert would == {name: str(value) for name, value in done["impact"].items()}, (would, done)
    assert (said["dry_run"], said["verified"], done["verified"]) == (True, None, True)


@then("the report lists")
def report_lists(context: Context) -> None:
    expected = [row.as_dict() for row in context.table]
    assert data(context)["changes_reverted"] == expected, context.world.last
    assert data(context)["rollback_summary"]["files_reverted"] == len(expected)
    assert data(context)["verified"] is True


@then("the report lists {count:d} files")
def report_tells(context: Context, count: int) -> None:
    assert len(data(context)["changes_reverted"]) == count, data(context)
    assert data(context)["verified"] is True


@then("the document has exactly this data")
def data_is(context: Context) -> None:
    found = flattened(data(context))
    operation = plans(context).query("SELECT max(operation_id) FROM operations")[0][0]
    expected = {
        field: plans(context).filled(value).replace("OPERATION", operation)
        for field, value in row_values(context.table).items()
    }
    assert found == expected, found


@then("the messages are {text}")
def messages_are(context: Context, text: str) -> None:
    # A message may have a semicolon of its own, so the text is not split.
    found = "; ".join(context.world.last.json["messages"])
    assert found == plans(context).filled(text), context.world.last


@then('git is no longer where it was at "{label}"')
def git_moved(context: Context, label: str) -> None:
    assert plans(context).found().git != plans(context).seen_at(label).git


@then("neither repository's sandbox has a new file")
def no_new_files(context: Context) -> None:
    place = plans(context).sandbox.parent
    left = [name for name in ("shop.txt", "docs.txt") if list(place.rglob(name))]
    assert not left, left


@then("both sandboxes are as they were")
def sandboxes_as_before(context: Context) -> None:
    now = plans(context).everything().home
    places = tuple(f"sandboxes/{plans(context).plan_id}/{name}/" for name in ("project", "docs"))

    def within(home: dict[str, Any]) -> dict[str, Any]:
        return {path: node for path, node in home.items() if path.startswith(places)}

    before = within(plans(context).before.home)
    assert len(before) > 8 and before == within(now), difference(before, within(now))


@then("only the attempt is on record")
def only_the_attempt(context: Context) -> None:
    before, now = plans(context).before.rows, plans(context).everything().rows
    added = {name: [row for row in now[name] if row not in before[name]] for name in now}
    lost = {name: [row for row in before[name] if row not in now[name]] for name in before}
    assert not any(lost.values()), lost
    assert {name: len(rows) for name, rows in added.items() if rows} == {
        "checkpoint_groups": 1,
        "checkpoint_metadata": 1,
        "operations": 1,
        "events": 1,
    }, added
    assert "checkpoint.created" in added["events"][0], added
    assert "undone" in added["operations"][0] and "safety" in added["checkpoint_metadata"][0]


@then("the plan is shown as interrupted in {operation}")
def shown_as_interrupted(context: Context, operation: str) -> None:
    pending = plans(context).query("SELECT operation_id FROM operations WHERE status = 'pending'")
    assert [plans(context).status()["interrupted_operation"]] == [row[0] for row in pending]
    shown = context.world.agents_here("plan", "status", plans(context).plan_id)
    assert f"{operation} was not finished: {pending[0][0]}" in shown.stdout, shown


@then("there is one sentence and a hint")
def sentence_and_hint(context: Context) -> None:
    error = context.world.last.json["error"]
    assert error["message"] and "\n" not in error["message"] and error["hint"], error


@then("the program is told that {sentence}")
def program_refused(context: Context, sentence: str) -> None:
    assert context.refusal.message == plans(context).filled(sentence), context.refusal


@then("the document lists every checkpoint")
def lists_every(context: Context) -> None:
    assert data(context)["checkpoints"] == plans(context).checkpoints()
    assert data(context)["summary"]["count"] == 6, data(context)["summary"]


@then("the output has, in this order")
def in_order(context: Context) -> None:
    rest = re.sub(r"\x1b\[[0-9;]*m", "", context.world.last.stdout)
    for (text,) in [context.table.headings, *context.table]:
        _, found, rest = rest.partition(text)
        assert found, (text, context.world.last.stdout)


@then("the document says that these were left alone")
def left_alone(context: Context) -> None:
    assert data(context)["left_alone"] == [row.as_dict() for row in context.table], data(context)


@then("the sandbox still has the pipe and the log")
def still_has(context: Context) -> None:
    assert (plans(context).sandbox / "pipe").is_fifo()
    assert (plans(context).sandbox / "log").read_text() == "keep\n"
    assert not (plans(context).sandbox / ".gitignore").exists()
