from __future__ import annotations

import contextlib
import json
import shutil
import subprocess

from behave import given, then, when
from behave.runner import Context
from features.support.plans import Plans, plans
from features.support.situations.retention import labels_in

from cleveragents.domain.errors import CheckpointRequiredError
from cleveragents.testing.events import NoEvents

_DEADLINE = "CLEVERAGENTS_CHECKPOINT_DEADLINE"


@given("the plan has been refused at its start")
def refused_at_start(context: Context) -> None:
    file = str(plans(context).file)
    plans(context).prepare("plan", "run", file, "--include-uncommitted", exit_code=4)


@given("the user has tried to resume it")
def tried_to_resume(context: Context) -> None:
    outcome = context.world.agents_here("plan", "resume", plans(context).plan_id)
    assert outcome.exit_code != 0, outcome


@given("the plan was run, rolled back, edited by `{command}` and refused for lack of time")
def rolled_back_and_refused(context: Context, command: str) -> None:
    plans(context).run()
    plans(context).prepare(*plans(context).rollback("before execution", "--yes"))
    context.execute_steps(f"Given the user has changed the sandbox by `{command}`")
    execute = ("plan", "execute", plans(context).plan_id)
    plans(context).prepare(*execute, exit_code=4, env={_DEADLINE: "0.000001"})


@given("a program was refused the first checkpoint, and the sandbox was deleted")
def program_refused(context: Context) -> None:
    plans(context).prepare("plan", "use", str(plans(context).file))
    context.services = plans(context).container(NoEvents())
    context.add_cleanup(context.services.close)
    with plans(context).room_for(0), contextlib.suppress(CheckpointRequiredError):
        context.services.plan_executor().execute(plans(context).plan_id)
        raise AssertionError("the checkpoint was made")
    shutil.rmtree(plans(context).sandbox)


@given("the project has another commit")
def another_commit(context: Context) -> None:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    command = ["git", *identity, "commit", "--quiet", "--allow-empty", "-m", "later"]
    subprocess.run(command, cwd=context.world.project, env=context.world.environment, check=True)


@when("the same program executes the plan again")
def program_executes(context: Context) -> None:
    context.services.plan_executor().execute(plans(context).plan_id)


@then("it makes checkpoints of the sandbox that is recorded")
def of_recorded(context: Context) -> None:
    with context.services.locks().hold(plans(context).plan_id) as lease:
        ((sandbox, _),) = context.services.checkpoint_service().take(lease)
    recorded = plans(context).query("SELECT base_commit FROM sandboxes")
    assert [(sandbox.base_commit,)] == recorded, (sandbox, recorded)


@then('the plan\'s own error is "{message}"')
def own_error(context: Context, message: str) -> None:
    error = plans(context).status()["error"]
    assert error["message"] == message, error


@then("no checkpoint is recorded")
def no_checkpoint(context: Context) -> None:
    assert plans(context).checkpoints(everything=True) == []


@then("no step has ever run")
def no_step(context: Context) -> None:
    assert plans(context).query("SELECT * FROM tool_calls") == []


@given("an earlier version recorded all checkpoints as partial")
def all_partial(context: Context) -> None:
    record_as_partial(plans(context), set(plans(context).labels()))


@given("an earlier version recorded the checkpoints {labels} as partial")
def some_partial(context: Context, labels: str) -> None:
    record_as_partial(plans(context), set(labels_in(labels)))


def record_as_partial(found: Plans, labels: set[str]) -> None:
    rows = found.query("SELECT checkpoint_id, metadata_json FROM checkpoint_metadata")
    described = {checkpoint_id: json.loads(text) for checkpoint_id, text in rows}
    assert labels <= {item["label"] for item in described.values()}, described
    for checkpoint_id, metadata in described.items():
        if metadata["label"] in labels:
            found.query(
                "UPDATE checkpoint_metadata SET metadata_json = ? WHERE checkpoint_id = ?",
                json.dumps({**metadata, "partial": True}),
                checkpoint_id,
            )
