from __future__ import annotations

from behave import given, then
from behave.runner import Context
from features.support.plans import plans

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
