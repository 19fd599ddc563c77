from __future__ import annotations

import json
import shlex
from typing import Any

from behave import given, then, when
from behave.runner import Context
from features.steps.decision_steps import tree_of
from features.steps.history_steps import asked
from features.support.plans import data, plans
from features.support.values import table_rows

QUESTION = "Where do greetings live?"


def write(path: str, content: str) -> dict[str, Any]:
    return {
        "name": f"write {path}",
        "tool": "write-file",
        "with": {"path": path, "content": f"{content}\n"},
    }


def decision(name: str, question: str, chosen: str, **options: list[Any]) -> dict[str, Any]:
    branches = {key: {"steps": steps} for key, steps in options.items()}
    asked_for = {"question": question, "chosen": chosen, "options": branches}
    return {"name": name, "decision": asked_for}


def steps_of(context: Context) -> list[dict[str, Any]]:
    return plans(context).definition["steps"]


@given("a plan with a decision between a file and a database")
def plan_with_decision(context: Context) -> None:
    table = [write("store.sql", "table"), write("index.sql", "index")]
    plans(context).definition["steps"] = [
        {**write("a.txt", "by begin"), "name": "begin"},
        decision("where", QUESTION, "file", file=[write("store.py", "file")], database=table),
        write("end.txt", "end"),
    ]
    plans(context).write()


@given("its last step fails unless the database was chosen")
def fails_unless(context: Context) -> None:
    command = {"command": "test -e store.sql && echo end > end.txt"}
    steps_of(context)[-1] = {"name": "end", "tool": "shell", "with": command}
    plans(context).write()


@given("another decision follows about the colour")
def another_decision(context: Context) -> None:
    steps_of(context).append(decision("colour", "Which colour?", "red", red=[], blue=[]))
    plans(context).write()


@given("another decision follows about the colour, influenced by the first")
def influenced_decision(context: Context) -> None:
    another_decision(context)
    steps_of(context)[-1]["decision"]["influenced_by"] = ["where"]
    plans(context).write()


@given("then a step that fails with the database unless mine.txt is there")
def needs_mine(context: Context) -> None:
    command = {"command": "test ! -e store.sql || test -e mine.txt"}
    steps_of(context).append({"name": "check", "tool": "shell", "with": command})
    plans(context).write()


@given("the plan names an influence that is not there")
def wrong_influence(context: Context) -> None:
    steps_of(context)[1]["decision"]["influenced_by"] = ["wher"]
    plans(context).write()


@given("a decision about the format is within the option file")
def nested_decision(context: Context) -> None:
    branch = steps_of(context)[1]["decision"]["options"]["file"]["steps"]
    branch.append(decision("format", "Which format?", "text", text=[], binary=[]))
    plans(context).write()


@given("a step of the option file sends something irreversible")
def irreversible(context: Context) -> None:
    sending = {"run": "true", "writes": True, "side_effects": ["irreversible"]}
    plans(context).definition["tools"] = {"send": sending}
    branch = steps_of(context)[1]["decision"]["options"]["file"]["steps"]
    branch.append({"name": "send it", "tool": "send"})
    plans(context).write()


def standing(context: Context, question: str = QUESTION, *, superseded: bool = False) -> str:
    """The id of a decision; without `superseded` of the last one that stands."""
    nodes = [node for _, node in tree_of(context, *(["--show-superseded"] if superseded else []))]
    wanted = [node for node in nodes if node["question"] == question]
    if superseded:
        wanted = [node for node in wanted if node["superseded_by"]]
    else:
        wanted = [node for node in wanted if node["type"] != "user_intervention"]
    return wanted[-1]["decision_id"]


def correct(context: Context, *arguments: str) -> None:
    plans(context).act("plan", "correct", *arguments)


@given("the decision has been corrected to choose {option}")
def has_been_corrected(context: Context, option: str) -> None:
    plans(context).prepare(
        *("plan", "correct", standing(context), "--mode", "revert", "--guidance", "because"),
        *("--choose", option, "--yes", "--format", "json"),
    )


@given("the database has been chosen, which failed until a checkpoint with mine.txt was made")
def failed_until_mended(context: Context) -> None:
    made = plans(context)
    has_been_corrected(context, "database")
    made.prepare("plan", "execute", made.plan_id, exit_code=8)
    (made.sandbox / "mine.txt").write_text("mine\n")
    made.prepare("plan", "checkpoint", "create", made.plan_id, "--label", "with mine")
    made.prepare("plan", "execute", made.plan_id)


@given('"{guidance}" has been appended to the decision')
def has_been_appended(context: Context, guidance: str) -> None:
    parent = plans(context).plan_id
    plans(context).prepare(
        *("plan", "correct", standing(context), "--mode", "append", "-g", guidance, "--yes")
    )
    plans(context).chosen = parent


@given("the child plan is applied")
def child_is_applied(context: Context) -> None:
    plans(context).query(
        "UPDATE plans SET phase = 'apply', state = 'applied' WHERE parent_plan_id IS NOT NULL"
    )


@given('only the checkpoint "{label}" is left')
def only_one_left(context: Context, label: str) -> None:
    kept = plans(context).checkpoint(label)["group_id"]
    plans(context).query("DELETE FROM checkpoint_metadata WHERE group_id <> ?", kept)
    plans(context).query("DELETE FROM checkpoint_groups WHERE group_id <> ?", kept)


@when('the user corrects the decision to choose {option} because "{guidance}"')
def correct_to(context: Context, option: str, guidance: str) -> None:
    correct(
        context,
        *(standing(context), "--mode", "revert", "-g", guidance, "--choose", option, "--yes"),
    )


@when('the user corrects the decision because "{guidance}"')
def correct_only(context: Context, guidance: str) -> None:
    correct(context, standing(context), "--mode", "revert", "-g", guidance, "--yes")


@when('the user corrects the colour because "{guidance}"')
def correct_colour(context: Context, guidance: str) -> None:
    colour = standing(context, "Which colour?")
    correct(context, colour, "--mode", "revert", "-g", guidance, "--yes")


@when('the user corrects the plan itself because "{guidance}"')
def correct_plan(context: Context, guidance: str) -> None:
    correct(context, plans(context).plan_id, "--mode", "revert", "-g", guidance, "--yes")


@when("the user rehearses correcting the decision to choose {option}")
def rehearse_correction(context: Context, option: str) -> None:
    correct(
        context,
        *(standing(context), "--mode", "revert", "-g", "x", "--choose", option, "--dry-run"),
    )


@when("the user rehearses appending to the decision")
def rehearse_append(context: Context) -> None:
    correct(context, standing(context), "--mode", "append", "-g", "x", "--dry-run")


@when('the user appends "{guidance}" to the decision')
def append(context: Context, guidance: str) -> None:
    plans(context).chosen = plans(context).plan_id
    correct(context, standing(context), "--mode", "append", "-g", guidance, "--yes")


@given('the plan has the guidance "{text}"')
def has_guidance(context: Context, text: str) -> None:
    plans(context).prepare("plan", "prompt", plans(context).plan_id, text)


@given("the plan has failed again")
def has_failed_again(context: Context) -> None:
    plans(context).prepare("plan", "execute", plans(context).plan_id, exit_code=8)


@when('the user tells the plan "{text}"')
def tell(context: Context, text: str) -> None:
    plans(context).act("plan", "prompt", plans(context).plan_id, text)


@when('the user tells the plan ""')
def tell_nothing(context: Context) -> None:
    plans(context).act("plan", "prompt", plans(context).plan_id, "")


@then("the guidance is {pending:d} pending and {applied:d} applied")
def guidance_is(context: Context, pending: int, applied: int) -> None:
    assert data(context)["queue"] == {"pending": pending, "applied": applied}, data(context)


@when("the user compares the plan with what its correction took away")
def compare_with_correction(context: Context) -> None:
    [[attempt]] = plans(context).query("SELECT correction_attempt_id FROM correction_attempts")
    plans(context).act("plan", "diff", "--correction", attempt)


@when("the user executes the child plan")
def execute_child(context: Context) -> None:
    [[child]] = plans(context).query("SELECT plan_id FROM plans WHERE parent_plan_id IS NOT NULL")
    plans(context).act("plan", "execute", child)


@when("the user tries a rollback to the start")
def try_rollback(context: Context) -> None:
    plans(context).act(*plans(context).rollback("before execution", "--yes"))


@when("the user tries a revert of the decision")
def try_revert(context: Context) -> None:
    correct_only(context, "again")


@when("the user tries to {mode} the decision that fell")
def try_fallen(context: Context, mode: str) -> None:
    fallen = standing(context, superseded=True)
    correct(context, fallen, "--mode", mode, "-g", "x", "--yes")


@when("the user tries to revert the intervention")
def try_intervention(context: Context) -> None:
    found = [node for _, node in tree_of(context) if node["type"] == "user_intervention"]
    correct(context, found[-1]["decision_id"], "--mode", "revert", "-g", "x", "--yes")


@when('the user answers "{answer}" when asked about a {mode} of the decision')
def answer_correction(context: Context, answer: str, mode: str) -> None:
    arguments = ("plan", "correct", standing(context), "--mode", mode, "-g", "x")
    plans(context).converse(answer, *arguments)


@when("the user corrects with {arguments}")
def correct_with(context: Context, arguments: str) -> None:
    root = tree_of(context)[0][1]["decision_id"]
    known = {"DECISION": standing(context), "ROOT": root}
    correct(context, *(known.get(word, word) for word in shlex.split(arguments)))


@then("the correction says")
def correction_says(context: Context) -> None:
    found: list[list[str]] = []
    for name, _ in table_rows(context.table):
        value: Any = data(context)
        for part in name.split("."):
            value = value[part]
        found.append([name, str(value)])
    assert found == table_rows(context.table), (found, data(context))


@then('the user\'s intervention says "{guidance}" and that {option} with {path} was tried')
def intervention_says(context: Context, guidance: str, option: str, path: str) -> None:
    found = [node for _, node in tree_of(context) if node["type"] == "user_intervention"]
    shown = asked(context, "plan", "explain", found[-1]["decision_id"], "--show-context")["data"]
    assert shown["rationale"] == guidance, shown
    (tried,) = shown["context_snapshot"]["tried"]
    assert (tried["chosen"], tried["artifacts"]) == (option, [path]), tried


@then("the attempts are")
def attempts_are(context: Context) -> None:
    found = [
        [item["mode"], item["choose"], str(item["attempt"]), item["state"]]
        for item in data(context)["history"]
    ]
    assert found == table_rows(context.table), found


@then("{count:d} decisions were undone")
def decisions_taken_back(context: Context, count: int) -> None:
    assert data(context)["affected_subtree"]["decisions_invalidated"] == count, data(context)


@then('there is a child plan {phase}/{state} whose prompt is "{prompt}"')
def child_plan(context: Context, phase: str, state: str, prompt: str) -> None:
    child = data(context)["queued"]["new_child"]
    shown = asked(context, "plan", "tree", child)["data"]["tree"]
    found = plans(context).query("SELECT phase, state FROM plans WHERE plan_id = ?", child)
    assert found == [(phase, state)], found
    assert (shown["type"], shown["chosen"]) == ("prompt_definition", prompt), shown


@then("the decision that spawned it depends on the corrected one")
def spawn_decision(context: Context) -> None:
    nodes = {node["decision_id"]: node for _, node in tree_of(context)}
    children = nodes[standing(context)]["children"]
    assert [node["type"] for node in children] == ["subplan_spawn"], children
    [[downstream]] = plans(context).query(
        "SELECT downstream_plan_ids FROM decisions WHERE decision_id = ?",
        children[0]["decision_id"],
    )
    assert json.loads(downstream) == [data(context)["queued"]["new_child"]], downstream


@then("{count:d} child plan was invalidated")
def child_invalidated(context: Context, count: int) -> None:
    assert data(context)["impact"]["child_plans_invalidated"] == count, data(context)


@then("it is refused because the child plan is applied")
def refused_for_child(context: Context) -> None:
    [[child]] = plans(context).query("SELECT plan_id FROM plans WHERE parent_plan_id IS NOT NULL")
    outcome = context.world.last
    assert (outcome.exit_code, outcome.json["error"]["code"]) == (4, "child_applied"), outcome
    assert outcome.json["error"]["details"]["children"] == [child], outcome


def child_state(context: Context) -> str:
    [(phase, state)] = plans(context).query(
        "SELECT phase, state FROM plans WHERE parent_plan_id IS NOT NULL"
    )
    return f"{phase}/{state}"


@then("the child plan is {before}, and after an undo {after}")
def child_undone(context: Context, before: str, after: str) -> None:
    assert child_state(context) == before, child_state(context)
    undone = asked(context, "plan", "undo", plans(context).plan_id, "--yes")["data"]
    assert child_state(context) == after, child_state(context)
    assert undone["brought_back"]["child_plans"] == 1, undone


@then("it is refused with the code 2 and a sentence about no earlier decision")
def no_earlier_decision(context: Context) -> None:
    assert context.world.last.exit_code == 2, context.world.last
    error = context.world.last.json["error"]
    assert "there is no earlier decision `wher`" in error["message"], error


@then("the status counts {text} child plans complete")
def status_counts(context: Context, text: str) -> None:
    assert plans(context).status()["execution"]["child_plans"] == f"{text} complete"
