"""Commands without `plan`, and without the name of a plan."""

from __future__ import annotations

import shlex
from typing import Any

from behave import given, then, when
from behave.runner import Context


def comparable(document: dict[str, Any]) -> dict[str, Any]:
    """A document without what differs in each run, and without the name of the command.

    A commit contains the time at which it is made, so its id differs from one second to the next.
    """
    for target in (document["data"] or {}).get("targets", ()):
        del target["commit"]
    return {key: value for key, value in document.items() if key not in ("command", "timing")}


@given('two checkpoints with the label "{label}"')
def equal_labels(context: Context, label: str) -> None:
    for _ in range(2):
        context.world.agents("plan", "checkpoint", "create", context.own_plan, "--label", label)


@when("the user asks for the status of the other project's plan")
def status_of_other(context: Context) -> None:
    world = context.world
    world.agents("status", context.other_plan, "--format", "json", cwd=world.project)


@when('the user rolls back to "{checkpoint}", undoes and redoes it with the short forms')
def back_and_forth(context: Context, checkpoint: str) -> None:
    world = context.world
    for command in (["rollback", checkpoint], ["undo"], ["redo"]):
        done = world.agents(*command, "--yes", cwd=world.project)
        assert done.exit_code == 0, done


@then('the document is that of "agents plan {command}" for the plan of the project')
def same_document(context: Context, command: str) -> None:
    world, short = context.world, comparable(context.world.last.json)
    words = shlex.split(command.replace("PLAN", context.own_plan))
    outcome = world.agents("plan", *words, "--format", "json", cwd=world.project)
    assert short == comparable(outcome.json), (short, outcome.json)


@then("the error output names the plan of the project")
def names_plan(context: Context) -> None:
    assert context.own_plan in context.world.last.stderr, context.world.last


@then("the sandbox of the project's plan has {present} and not {absent}")
def files_of_sandbox(context: Context, present: str, absent: str) -> None:
    sandbox = context.world.home / "sandboxes" / context.own_plan / "project"
    assert (sandbox / present).is_file()
    assert not (sandbox / absent).exists()
