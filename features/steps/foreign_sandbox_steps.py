from __future__ import annotations

import os
import subprocess

from behave import given, then, when
from behave.runner import Context
from features.support.plans import plans
from features.support.trees import tree


@given("in the place of the sandbox there is one made by `{command}`")
def foreign(context: Context, command: str) -> None:
    was = context.place.with_name("was")
    context.place.rename(was)
    context.place.mkdir()
    environment = {**os.environ, "SANDBOX": str(was)}
    subprocess.run(["/bin/sh", "-ec", command], cwd=context.place, env=environment, check=True)
    context.now = tree(context.place)


@when("the user rolls the plan back to its first checkpoint")
def back(context: Context) -> None:
    context.world.process_agents(
        *("plan", "rollback", plans(context).plan_id, "@first", "--yes", "--format", "json")
    )


@when("the user makes a checkpoint in a new process")
def checkpointed(context: Context) -> None:
    context.world.process_agents("plan", "checkpoint", "create", plans(context).plan_id)


@then("nothing in that place has changed")
def unchanged(context: Context) -> None:
    assert tree(context.place) == context.now, (tree(context.place), context.world.last)
