from __future__ import annotations

import json
import shlex
import shutil
from typing import Any
from unittest.mock import patch

from behave import given, then, when
from behave.runner import Context
from features.support.faults import plan_faults
from features.support.plans import data, plans
from features.support.values import table_rows
from msgspec.structs import replace

from cleveragents.domain.sandboxes.sandbox import RestoreReport
from cleveragents.infrastructure.sandbox.files.sandbox import FileSandbox


@given("the plan has succeeded")
def has_succeeded(context: Context) -> None:
    (context.world.directory / "fixed").touch()
    plans(context).run()


@given("the plan was cancelled")
def was_cancelled(context: Context) -> None:
    plans(context).run(exit_code=8)
    plans(context).prepare("plan", "cancel", plans(context).plan_id)


@given("the plan's sandbox has been deleted")
def sandbox_deleted(context: Context) -> None:
    shutil.rmtree(plans(context).sandbox)


@given("what is restored to a sandbox does not arrive")
def nothing_arrives(context: Context) -> None:
    real = FileSandbox.restore

    def broken(*arguments: Any) -> RestoreReport:
        return replace(real(*arguments), differences=("a.txt should be restored",))

    context.arriving = patch.object(FileSandbox, "restore", broken)
    context.arriving.start()
    context.add_cleanup(context.arriving.stop)


@then("the sandbox is made once more by the next run")
def made_anew_again(context: Context) -> None:
    context.arriving.stop()
    (context.world.directory / "fixed").touch()
    outcome = context.world.agents_here("plan", "resume", plans(context).plan_id)
    assert outcome.exit_code == 0, outcome
    assert (plans(context).sandbox / "c.txt").exists()
    context.arriving.start()


@given("the sandbox has been replaced by a directory of somebody else")
def sandbox_replaced(context: Context) -> None:
    shutil.rmtree(plans(context).sandbox)
    (plans(context).sandbox / "mine").mkdir(parents=True)
    shutil.rmtree(plans(context).mirror / "worktrees")


@when("the user resumes the plan")
def resume(context: Context) -> None:
    plans(context).act("plan", "resume", plans(context).plan_id)


@when("the user rehearses resuming")
def rehearse(context: Context) -> None:
    plans(context).act("plan", "resume", plans(context).plan_id, "--dry-run")


@then("the document counts {own:d} changed files and {kept:d} that subplans keep")
def counts_files(context: Context, own: int, kept: int) -> None:
    assert data(context)["sandbox"]["files_modified"] == own, data(context)
    assert data(context)["child_plans"]["artifacts_preserved"] == kept, data(context)
    assert plans(context).status()["execution"]["files_modified"] == own, plans(context).status()


@when("the user cancels the plan")
def cancel(context: Context) -> None:
    plans(context).act("plan", "cancel", plans(context).plan_id)


@when('the user cancels the plan because "{reason}"')
def cancel_because(context: Context, reason: str) -> None:
    plans(context).act("plan", "cancel", plans(context).plan_id, "--reason", reason)


@when("the user asks for the plan's errors")
def ask_for_errors(context: Context) -> None:
    plans(context).act("plan", "errors", plans(context).plan_id)


@when('the user runs the command of the way out "{action}"')
def run_way_out(context: Context, action: str) -> None:
    ask_for_errors(context)
    (hint,) = [item for item in data(context)["recovery_hints"] if item["action"] == action]
    plans(context).act(*shlex.split(hint["cli_command"])[1:])


@then("the rehearsal says")
def rehearsal_says(context: Context) -> None:
    assert context.world.last.exit_code == 0, context.world.last
    found = [[name, str(data(context)[name])] for name, _ in table_rows(context.table)]
    assert found == table_rows(context.table), data(context)


@then('the document\'s reason is "{reason}"')
def document_reason(context: Context, reason: str) -> None:
    assert data(context)["reason"] == reason, data(context)
    assert plans(context).status()["cancel_reason"] == reason


@then("the failed calls are")
def failed_calls(context: Context) -> None:
    found = data(context)["errors"]
    rows = [(int(row["step_index"]), row["tool"]) for row in context.table]
    assert [(item["step_index"], item["tool"]) for item in found] == rows, found
    for item, row in zip(found, context.table, strict=True):
        assert row["says"] in item["output"], item


@then("the ways out are {actions}")
def ways_out(context: Context, actions: str) -> None:
    found = [item["action"] for item in data(context)["recovery_hints"]]
    assert ", ".join(found) == actions, found


@then("there are no failed calls and no ways out")
def nothing_wrong(context: Context) -> None:
    said = data(context)
    assert (said["error"], said["errors"], said["recovery_hints"]) == (None, [], []), said


@given("the plan tries a failed step {count:d} times more")
def retries(context: Context, count: int) -> None:
    text = plans(context).file.read_text()
    plans(context).file.write_text(f"{text}\npolicy: {{max_retries_per_step: {count}}}\n")


@when("the user resumes the plan with {options}")
def resume_with(context: Context, options: str) -> None:
    plans(context).act("plan", "resume", plans(context).plan_id, *options.split())


@when('the user answers "{answer}" when continuing would repeat the effect')
def answer(context: Context, answer: str) -> None:
    plans(context).converse(answer, "plan", "resume", plans(context).plan_id)


@then("the effects not undone are {effects}")
def effects_not_undone(context: Context, effects: str) -> None:
    found = [
        f"step {item['step_index'] + 1} (`{item['tool']}`)"
        for item in data(context)["effects_not_undone"]
    ]
    assert (", ".join(found) or "none") == effects, found


@then("the effect has happened {count:d} times")
def effect_happened(context: Context, count: int) -> None:
    outbox = (context.world.directory / "outbox").read_text()
    assert outbox == "sent\n" * count, outbox


@then("the retries were entered: {numbers}")
def retries_entered(context: Context, numbers: str) -> None:
    rows = plans(context).query("SELECT data_json FROM events WHERE type = 'tool.retried'")
    found = [json.loads(text) for (text,) in rows]
    assert ", ".join(f"{one['retry']} of {one['max_retries']}" for one in found) == numbers, found


@given("the {number:d}. look at the sandbox fails")
def failing_look(context: Context, number: int) -> None:
    plan_faults.install(context, plan_faults.failing_look(number))
