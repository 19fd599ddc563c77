from __future__ import annotations

from pathlib import Path

from behave import given, then, when
from behave.runner import Context
from features.support.sandboxes.sandbox_bench import bench

from cleveragents.testing.trees import differing, read_tree


@given("a sandbox in which the agent has run `{command}`")
def agent_has_run(context: Context, command: str) -> None:
    bench(context).agent(command)


@given("a project in which the user has run `{command}`")
def user_has_run(context: Context, command: str) -> None:
    bench(context).make_project()
    bench(context).user(command)


@when("the agent runs `{command}`, and then the sandbox is rolled back")
def run_and_roll_back(context: Context, command: str) -> None:
    work = bench(context)
    if context.config.userdata.getbool("watched"):
        work.watch()
    work.moments["before"] = work.look()
    work.agent(command, check=False)
    work.moments["after"] = work.look()
    work.roll_back(work.moments["before"])


@then("the sandbox is exactly as it was, and so it is when that is undone")
def as_it_was_and_undone(context: Context) -> None:
    work = bench(context)
    work.expect(work.moments["before"])
    work.roll_back(work.moments["after"])
    work.expect(work.moments["after"])
    assert work.fsck() == "", work.fsck()
    work.remove_sandboxes()


@then("it cannot be rolled back, because {reason}, and nothing has been touched")
def cannot_be_rolled_back(context: Context, reason: str) -> None:
    work = bench(context)
    assert work.error is not None, work.report
    assert reason in work.error.message, work.error.message
    work.error = None
    work.expect(work.moments["after"])


@then("afterwards the agent's `{command}` says `{answer}`")
def agent_says(context: Context, command: str, answer: str) -> None:
    said = bench(context).agent(command, check=False)
    assert said.split() == ([] if answer == "nothing" else answer.split()), said


@then("what was left alone is {paths}")
def left_alone(context: Context, paths: str) -> None:
    report = bench(context).report
    assert report is not None, bench(context).error
    assert report.differences == (), report.differences
    found = [f"{item.path} ({item.reason})" for item in report.left_alone]
    assert found == ([] if paths == "nothing" else paths.split(", ")), found


@then("the checkpoint says it did not capture {paths}")
def not_captured(context: Context, paths: str) -> None:
    made = bench(context).moments["before"].checkpoint
    found = [f"{item.path} ({item.reason})" for item in made.not_captured]
    assert found == ([] if paths == "nothing" else paths.split(", ")), found


@then("the file outside still holds `{content}`")
def outside_holds(context: Context, content: str) -> None:
    (found,) = (path for path in bench(context).outside.rglob("*") if path.is_file())
    assert Path(found).read_text().strip() == content


@when("the agent looks at its new sandbox")
def look_at_new(context: Context) -> None:
    bench(context).moments["before"] = bench(context).look()


@then("it finds just what a fresh checkout of the user's holds")
def as_the_user_has_it(context: Context) -> None:
    work = bench(context)
    work.user("rm -rf ./* && git checkout -q -f HEAD -- .")
    expected = read_tree(work.project)
    assert not differing(work.tree(), expected), differing(work.tree(), expected)
