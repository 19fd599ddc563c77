from __future__ import annotations

import json

from behave import given, then, when
from behave.runner import Context
from features.support.plans import plans

_COMMANDS = (
    ("plan", "run", "deep.yaml"),
    ("plan", "rollback", "@latest", "@first", "--yes"),
    ("plan", "undo", "@latest", "--yes"),
    ("plan", "apply", "@latest", "--yes", "--include-uncommitted"),
)


@given("a plan that writes a file {levels:d} levels deep")
def deep_plan(context: Context, levels: int) -> None:
    command = f"for n in $(seq {levels}); do mkdir d; cd d; done; echo 1 > leaf"
    steps = [{"name": "deep", "tool": "shell", "with": {"command": command}}]
    plan = {"name": "local/deep", "steps": steps}
    (plans(context).world.project / "deep.yaml").write_text(json.dumps(plan))


@when("the user runs, rolls back, undoes and applies it in new processes")
def run_all(context: Context) -> None:
    world = plans(context).world
    context.outcomes = [world.process_agents(*command) for command in _COMMANDS]


@then("every one of these commands succeeds")
def all_succeed(context: Context) -> None:
    for outcome in context.outcomes:
        assert outcome.exit_code == 0, outcome.stderr


@then("the project has a file {levels:d} levels deep")
def project_has_leaf(context: Context, levels: int) -> None:
    leaf = context.world.project.joinpath(*["d"] * levels, "leaf")
    assert leaf.read_text() == "1\n"
