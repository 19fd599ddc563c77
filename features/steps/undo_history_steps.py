from __future__ import annotations

import subprocess
from typing import Any, NamedTuple

from behave import given, then, when
from behave.runner import Context
from features.support.plans import plans
from features.support.trees import Tree, tree
from features.support.values import table_rows

GIVEN = {"README.md", "run.sh", "src/app.py", "src/x.py", "list.txt"}


class Place(NamedTuple):
    """Where a plan is: its files, the project's, and what its records say."""

    files: Tree
    project: Tree
    state: str
    done: int
    decisions: list[tuple[object, ...]]
    calls: list[tuple[object, ...]]


def place_of(context: Context) -> Place:
    status = plans(context).status()
    files: Tree = {}
    if plans(context).sandbox.is_dir():
        files = tree(plans(context).sandbox, without=frozenset({".git"}))
    return Place(
        files,
        tree(context.world.project, without=frozenset({".git"})),
        f"{status['phase']}/{status['state']}",
        status["last_completed_step"],
        plans(context).query(
            "SELECT question, chosen_option FROM decisions"
            " WHERE superseded_by IS NULL ORDER BY 1, 2"
        ),
        plans(context).query(
            "SELECT step_index, tool, status FROM tool_calls WHERE undone_by IS NULL ORDER BY 1, 2"
        ),
    )


def walk(context: Context, act: str) -> list[dict[str, Any]]:
    """Undoes or redoes until nothing is left; checks what each time is announced for the next."""
    told: list[dict[str, Any]] = []
    context.places = [place_of(context)]
    while True:
        done = plans(context).world.agents_here(
            "plan", act, plans(context).plan_id, "--yes", "--format", "json"
        )
        if done.exit_code == 4:
            assert done.json["error"]["code"] == "nothing_to_take_back", done
            break
        assert done.exit_code == 0, done
        told.append(done.json["data"])
        context.places.append(place_of(context))
    assert told, act
    what, then = ("undone", "next_undo") if act == "undo" else ("redone", "next_redo")
    announced = [item[then] for item in told]
    assert announced == [*(item[what] for item in told[1:]), None], told
    return told


@given("the plan has been executed and applied")
def executed_and_applied(context: Context) -> None:
    plans(context).prepare("plan", "execute", plans(context).plan_id)
    plans(context).prepare("plan", "apply", plans(context).plan_id, "--yes")


@given("the project of a shop")
def shop(context: Context) -> None:
    plans(context)


@given('the checkpoints "{first}" and "{second}" were made, the second after `{command}`')
def checkpoints_made(context: Context, first: str, second: str, command: str) -> None:
    for label, before in ((first, "true"), (second, command)):
        subprocess.run(["/bin/sh", "-ec", before], cwd=context.world.project, check=True)
        plan = plans(context).plan_id
        plans(context).prepare("plan", "checkpoint", "create", plan, "--label", label)


@given("the user has undone one entry after the other")
@when("the user undoes one entry after the other")
def undo_all(context: Context) -> None:
    context.told = walk(context, "undo")
    context.undone = context.places


@when("the user redoes one entry after the other")
def redo_all(context: Context) -> None:
    context.told = walk(context, "redo")


@then("the entries undone, and what is then there, are")
def entries(context: Context) -> None:
    found: list[list[str]] = []
    for told, place in zip(context.told, context.places[1:], strict=True):
        files = place.files or place.project
        names = sorted(name for name, node in files.items() if node.kind == "file")
        own = " ".join(name for name in names if name not in GIVEN)
        found.append([told["undone"], own, place.state])
    assert found == table_rows(context.table), "\n".join(map(str, found))


@then("each redo led to exactly what was there before that entry was undone")
def same_places(context: Context) -> None:
    assert len(context.places) == len(context.undone), context.told
    for found, expected in zip(context.places, reversed(context.undone), strict=True):
        # A redo does not remove the sandbox again: somebody may have worked in it since.
        files = expected.files or found.files
        assert found == expected._replace(files=files), (found, expected)


@then("the child plan is cancelled")
def child_cancelled(context: Context) -> None:
    query = "SELECT state FROM plans WHERE parent_plan_id IS NOT NULL"
    assert plans(context).query(query) == [("cancelled",)]


@then("the messages have {sentence}")
def says(context: Context, sentence: str) -> None:
    assert sentence in context.world.last.json["messages"], context.world.last
