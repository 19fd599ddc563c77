from __future__ import annotations

from behave import given, then, when
from behave.runner import Context
from features.steps.field_steps import running_step
from features.steps.process_steps import start
from features.steps.shared_sandbox_steps import REPOSITORY
from features.support.clocks import wait_until
from features.support.plans import plans

CHILD = {"steps": [{"tool": "write-file", "with": {"path": "child.txt", "content": "child"}}]}


@given("another process runs the plan")
def runs_elsewhere(context: Context) -> None:
    context.holder = start(context, "plan", "run", str(plans(context).file))
    wait_until(lambda: running_step(context) == 1, context.holder)


@given("that process is killed")
def kill_holder(context: Context) -> None:
    context.holder.kill()
    context.holder.wait()


@when("the user runs the plan, and lets the other one go on once it waits")
def run_after_other(context: Context) -> None:
    context.third = start(context, "plan", "run", str(plans(context).file))
    context.told = ""
    for line in context.third.stderr:
        context.told += line
        if f"Waiting for process {context.holder.pid} " in line:
            break
    (context.world.directory / "flag").touch()
    context.outcomes = [process.communicate() for process in (context.holder, context.third)]


@when("the user runs the plan here")
def run_here(context: Context) -> None:
    context.world.agents_here("plan", "run", str(plans(context).file), "--format", "json")


@then("both plans are complete, the other one first")
def both_complete(context: Context) -> None:
    codes = [context.holder.returncode, context.third.returncode]
    assert codes == [0, 0], context.outcomes
    (first, ended), (second, _) = plans(context).query(
        "SELECT started_at, finished_at FROM plans ORDER BY number"
    )
    assert first < ended <= second, (first, ended, second)


@then('the user was told "{text}"')
def was_told(context: Context, text: str) -> None:
    assert text in context.told, context.told


@then('the message of the error begins with "{text}"')
def message_begins(context: Context, text: str) -> None:
    message = context.world.last.json["error"]["message"]
    assert message.startswith(text), message


@given("a plan with a subplan on the project")
def with_subplan(context: Context) -> None:
    step = {"name": "more", "subplans": {"plans": {"child": CHILD}}}
    plans(context).definition.update(resources={"project": REPOSITORY}, steps=[step])
    plans(context).write()


def _beside(context: Context, **more: str) -> None:
    (context.world.directory / "assets").mkdir()
    assets = {"type": "fs-directory", "path": "../assets", **more}
    write = {"tool": "write-file", "with": {"path": "a.txt", "content": "a"}}
    plans(context).definition.update(
        resources={"project": REPOSITORY, "assets": assets}, steps=[write]
    )
    plans(context).write()


@given("a plan on the repository and a directory beside it")
def directory_beside(context: Context) -> None:
    _beside(context)


@given("a plan on the repository and a directory beside it, which will be copied")
def copied_directory_beside(context: Context) -> None:
    _beside(context, strategy="filesystem_copy")


@given("the plan requires no sandbox")
def requires_no_sandbox(context: Context) -> None:
    plans(context).set_policy(require_sandbox=False)


@given('the project\'s own file says "{text}"')
def project_file_says(context: Context, text: str) -> None:
    place = plans(context).world.project / ".cleveragents"
    place.mkdir()
    (place / "config.toml").write_text(f"{text}\n")


@then('the stored strategies are "{text}"')
def stored_strategies(context: Context, text: str) -> None:
    rows = plans(context).query("SELECT name, strategy FROM resources ORDER BY position")
    found = ", ".join(f"{name} {strategy}" for name, strategy in rows)
    assert found == text, (found, context.world.last)
