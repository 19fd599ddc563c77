from __future__ import annotations

from behave import given, then, when
from behave.runner import Context
from features.support.plans import data, plans
from features.support.situations.applies import Project, applies
from features.support.sweeps import fault_sweep as faults
from features.support.sweeps.reversal_sweep import ReversalSweep, same
from features.support.trees import difference, tree
from features.support.values import table_rows

from cleveragents.application.fault_points import FaultPoint

WORK = (
    "echo new > new.txt; sed -i s/19/last/ list.txt; rm src/app.py; mkdir -p a/b; "
    "chmod 755 list.txt"
)
STAGED = "echo x > staged.txt; git add staged.txt; echo y > loose.txt; echo z >> README.md"


def prepared(context: Context, since: str, *options: str) -> None:
    context.world.environment["CLEVERAGENTS_SANDBOX_CLEANUP"] = "on_apply"
    applies(context).prepare("true", WORK)
    plans(context).run()
    applies(context).shell(since)
    applied(context, *options)


def applied(context: Context, *options: str) -> None:
    """Applies the plan, and remembers everything before and after."""
    root = context.world.home / "sandboxes" / plans(context).plan_id
    context.sandboxes = sandboxes_of(context)
    context.without = applies(context).seen()
    plans(context).prepare("plan", "apply", plans(context).plan_id, "--yes", *options)
    context.applied = applies(context).seen()
    removed = context.world.environment["CLEVERAGENTS_SANDBOX_CLEANUP"] != "manual"
    assert removed != any(place.is_dir() for place in root.glob("[!.]*")), root


def sandboxes_of(context: Context) -> dict[str, object]:
    root = context.world.home / "sandboxes" / plans(context).plan_id
    return {
        place.name: tree(place, without=frozenset({".git"}))
        for place in root.glob("[!.]*")
        if place.is_dir() and place.name != "base"
    }


def is_project(context: Context, expected: Project) -> None:
    found = applies(context).seen()
    assert found.files == expected.files, difference(expected.files, found.files)
    assert same(found, expected), (expected, found)


@given("a plan with work whose result is applied with `{options}` to a project with other work")
def work_in_progress(context: Context, options: str) -> None:
    prepared(context, STAGED, *options.split())


@given("a plan with work whose result is applied to a project that has moved on")
def moved_on(context: Context) -> None:
    prepared(
        context,
        "echo m > mine.txt; sed -i s/^line.1$/first/ list.txt; git add -A; git commit -qm mine",
    )


@given("the result has been applied with ``")
def has_been_applied(context: Context) -> None:
    applied(context)


@given("a plan with a subplan that has been applied")
def with_applied_subplan(context: Context) -> None:
    context.world.environment["CLEVERAGENTS_SANDBOX_CLEANUP"] = "on_apply"
    with_subplan(context)
    applied(context)


@given("a plan with a subplan that has run")
def with_subplan(context: Context) -> None:
    child = {"steps": [{"tool": "write-file", "with": {"path": "child.txt", "content": "c\n"}}]}
    subplans = {"mode": "sequential", "plans": {"child": child}}
    applies(context)
    plans(context).definition["steps"] = [{"name": "child", "subplans": subplans}]
    plans(context).write()
    plans(context).prepare("plan", "run", str(plans(context).file))


@given("the undo of the apply was killed at {point}")
def was_killed(context: Context, point: str) -> None:
    arguments = ("plan", "undo", plans(context).plan_id, "--yes")
    assert faults.killed_at(plans(context), FaultPoint(point), 1, *arguments)


@when("the user undoes the apply")
def undo(context: Context) -> None:
    context.found = applies(context).seen()
    plans(context).act("plan", "undo", plans(context).plan_id, "--yes")


@when("the undo of the apply is killed each time it is at {point}, and then the plan is executed")
def killed(context: Context, point: str) -> None:
    context.places = sweep(context, "undo").killed(FaultPoint(point))


@when("the redo of the apply is killed each time it is at {point}, and then the plan is executed")
def redo_killed(context: Context, point: str) -> None:
    context.places = sweep(context, "redo").killed(FaultPoint(point))


@when("the undo of the apply fails each time it is at {point}")
def failed(context: Context, point: str) -> None:
    context.places = sweep(context, "undo").failed(FaultPoint(point))


def sweep(context: Context, act: str) -> ReversalSweep:
    return ReversalSweep(applies(context), act, context.without, context.applied)


@then("the apply was each time {place}")
def was_each_time(context: Context, place: str) -> None:
    assert context.places, context
    assert set(context.places) == {place}, context.places


@then("everything in the project is as before the apply")
def as_before(context: Context) -> None:
    assert context.world.last.exit_code == 0, context.world.last
    is_project(context, context.without)


@then("everything in the project is as after the apply")
def as_after(context: Context) -> None:
    is_project(context, context.applied)


@then("everything in the project is as before the apply, besides `{command}`")
def as_before_after(context: Context, command: str) -> None:
    found = applies(context).seen()
    assert (found.refs, found.staged) == (context.without.refs, context.without.staged), found
    applies(context).shell(f"git stash -qu; {command}")
    expected = applies(context).seen().files
    assert found.files == expected, difference(expected, found.files)


@then("everything in the project is as after the apply, besides `{command}`")
def as_after_and(context: Context, command: str) -> None:
    found = applies(context).seen()
    assert same(found._replace(files={}), context.applied._replace(files={})), found
    changed = {path for path in found.files if found.files[path] != context.applied.files.get(path)}
    assert changed == {command.rpartition(" ")[2]}, changed


@then("the files are those that the apply had left")
def files_as_after(context: Context) -> None:
    assert applies(context).seen().files == context.applied.files


@then("nothing in the project has changed")
def unchanged(context: Context) -> None:
    said = context.world.last
    assert said.exit_code in (0, 1, 4), said
    expected = context.found if "found" in context else applies(context).seen()
    assert applies(context).seen() == expected


@then("the directory and the database are as before the apply")
def others_as_before(context: Context) -> None:
    assert applies(context).seen().beside == context.without.beside


@then("the sandbox is there again, as it was")
@then("every sandbox is there again, as it was")
def sandbox_again(context: Context) -> None:
    found = sandboxes_of(context)
    assert found == context.sandboxes, (found.keys(), context.sandboxes.keys())


@then("every plan is execute/complete")
def every_plan(context: Context) -> None:
    found = plans(context).query("SELECT phase, state FROM plans")
    assert found == [("execute", "complete")] * 2, found


@then("the undo names the apply, and {what} as the next to undo")
def names(context: Context, what: str) -> None:
    said = data(context)
    assert str(said["undone"]).startswith("apply ("), said
    assert (said["next_undo"], said["next_redo"]) == (what, said["undone"]), said
    sentence = f"Undone: {said['undone']}; the next undo would undo: {what}"
    assert sentence in context.world.last.json["messages"], context.world.last


@then("the undo would change the project")
def would_change(context: Context) -> None:
    found = [[item["file"], item["action"]] for item in data(context)["changes_reverted"]]
    assert sorted(found) == sorted(table_rows(context.table)), found


@then('it is refused with the code {code:d} and a sentence with "{part}"')
def refused(context: Context, code: int, part: str) -> None:
    outcome = context.world.last
    assert outcome.exit_code == code, outcome
    assert part in outcome.json["error"]["message"], outcome


@then('its hint has "{part}"')
def hint_has(context: Context, part: str) -> None:
    hint = context.world.last.json["error"]["hint"]
    assert plans(context).filled(part) in hint, hint


@then("the newest event is {name}")
def newest_event(context: Context, name: str) -> None:
    found = plans(context).query("SELECT type FROM events ORDER BY rowid DESC LIMIT 1")
    assert found == [(name,)], found
