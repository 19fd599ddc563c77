from __future__ import annotations

import json
import shlex
import shutil

from behave import given, then, when
from behave.runner import Context
from features.support.faults import plan_faults
from features.support.plans import data, make_repository, plans
from features.support.trees import difference, tree


@given("a plan with the steps")
def define_plan(context: Context) -> None:
    plans(context).define(context.table)


@given("a plan that wrote a.txt in step one and b.txt in step two")
def two_steps(context: Context) -> None:
    plans(context).define(
        [{"step": "one", "does": "writes a.txt"}, {"step": "two", "does": "writes b.txt"}]
    )
    plans(context).run()


@given("on failure the plan is to {policy}")
def on_failure(context: Context, policy: str) -> None:
    plans(context).set_policy(on_failure=policy)


@given("the plan can do without checkpoints")
def without_checkpoints(context: Context) -> None:
    plans(context).set_policy(require_checkpoints=False)


@given("the plan has run")
def has_run(context: Context) -> None:
    plans(context).run()


@given("the plan has been made")
def has_been_made(context: Context) -> None:
    plans(context).prepare("plan", "use", str(plans(context).file))


@given("the plan has been made when the clock was years ahead")
def has_been_made_ahead(context: Context) -> None:
    plans(context).prepare("plan", "use", str(plans(context).file), "--format", "json")
    context.earlier_plan = context.world.last.json["data"]["plan_id"]
    plans(context).query("UPDATE plans SET created_at = '2999-01-01T00:00:00.000000+00:00'")


@then("it is the status of the plan that was made last")
def latest_status(context: Context) -> None:
    shown = context.world.last.json["data"]["plan_id"]
    made = [plan_id for (plan_id,) in plans(context).query("SELECT plan_id FROM plans")]
    assert len(made) == 2 and shown in made and shown != context.earlier_plan, (shown, made)


@given("the plan has failed")
def has_failed(context: Context) -> None:
    plans(context).run(exit_code=8)


@given("the cause of the failure has been fixed")
def mend(context: Context) -> None:
    (context.world.directory / "fixed").touch()


@given("the directory {name} is beside the project")
def directory_beside(context: Context, name: str) -> None:
    (context.world.directory / name).mkdir()


@given("the record of the sandbox of {resource} has been lost")
def lose_sandbox_record(context: Context, resource: str) -> None:
    plans(context).query("DELETE FROM sandboxes WHERE resource = ?", resource)


@given("the plan has run {count:d} times")
def has_run_often(context: Context, count: int) -> None:
    for _ in range(count):
        plans(context).run()


@when("the user runs the plan")
def run_plan(context: Context) -> None:
    plans(context).act("plan", "run", str(plans(context).file))


@when("the user executes the plan")
def execute_plan(context: Context) -> None:
    plans(context).act("plan", "execute", plans(context).plan_id)


@when("the user asks in a new process where the plan is")
def status_elsewhere(context: Context) -> None:
    context.first_report = context.world.last.json["data"]
    context.world.process_agents("plan", "status", "@latest", "--format", "json")


@then("the document says the same as the run did")
def same_as_run(context: Context) -> None:
    assert data(context) == context.first_report, data(context)
    assert data(context)["last_checkpoint_id"], data(context)


@then("the plan is {phase}/{state} with {count:d} steps done")
def plan_is(context: Context, phase: str, state: str, count: int) -> None:
    status = plans(context).status()
    found = (status["phase"], status["state"], status["last_completed_step"] + 1)
    assert found == (phase, state, count), status


@then('the plan\'s last checkpoint is "{label}"')
def last_checkpoint(context: Context, label: str) -> None:
    expected = plans(context).checkpoint(label)["checkpoint_id"]
    assert plans(context).status()["last_checkpoint_id"] == expected, plans(context).labels()


@then("the tool calls in effect are")
def calls_in_effect(context: Context) -> None:
    rows = plans(context).query(
        "SELECT step_index + 1, tool, status FROM tool_calls WHERE plan_id = ?"
        " AND undone_by IS NULL ORDER BY sequence",
        plans(context).plan_id,
    )
    expected = [(int(row["step"]), row["tool"], row["status"]) for row in context.table]
    assert rows == expected, rows


@then("the steps that ran are {numbers}")
def steps_that_ran(context: Context, numbers: str) -> None:
    before = {row[0] for row in plans(context).before.rows["tool_calls"]}
    rows = plans(context).query(
        "SELECT tool_call_id, step_index + 1 FROM tool_calls ORDER BY sequence"
    )
    ran = [step for call, step in rows if call not in before]
    assert ran == json.loads(f"[{numbers}]"), ran


@then("the project is untouched")
def project_untouched(context: Context) -> None:
    now = tree(context.world.project)
    assert now == plans(context).untouched, difference(plans(context).untouched, now)


@then("nothing has changed")
def nothing_changed(context: Context) -> None:
    before, now = plans(context).before, plans(context).everything()
    assert before.rows == now.rows
    assert before.home == now.home, difference(before.home, now.home)
    assert before.project == now.project, difference(before.project, now.project)


@then("it is refused with the code {code:d} and the sentence {sentence}")
def refused(context: Context, code: int, sentence: str) -> None:
    outcome = context.world.last
    error = outcome.json["error"]
    assert outcome.exit_code == code, outcome
    assert error["message"] == plans(context).filled(sentence), error
    assert error["hint"] and outcome.json["data"] is None, outcome


@then("the failure still tells the plan's id, place and checkpoint")
def failure_tells(context: Context) -> None:
    outcome, status = context.world.last, plans(context).status()
    assert outcome.exit_code == 8 and outcome.json["status"] == "error", outcome
    assert data(context) == status, data(context)
    assert status["plan_id"] and status["last_checkpoint_id"], status


@then('the error is "{message}"')
def error_is(context: Context, message: str) -> None:
    error = context.world.last.json["error"]
    assert error["message"] == plans(context).filled(message), error


@then('the error is "{message}" with the code {code}')
def error_with_code(context: Context, message: str, code: str) -> None:
    error = context.world.last.json["error"]
    assert (error["message"], error["code"]) == (message, code), error
    assert error["hint"] and error["details"] == {}, error


@then("the error has the code {code} and names what helps")
def code_and_hint(context: Context, code: str) -> None:
    error = context.world.last.json["error"]
    assert error["code"] == code and error["message"] and error["hint"], error


@then('it warns that "{text}"')
def warns(context: Context, text: str) -> None:
    document = context.world.last.json
    wanted = plans(context).filled(text)
    assert any(wanted in message for message in document["messages"]), document["messages"]


@then("the steps that ever ran are {numbers}")
def steps_that_ever_ran(context: Context, numbers: str) -> None:
    rows = plans(context).query("SELECT step_index + 1 FROM tool_calls ORDER BY sequence")
    assert [step for (step,) in rows] == json.loads(f"[{numbers}]"), rows


@then("the document is a success with the warnings")
def success_with_warnings(context: Context) -> None:
    document = context.world.last.json
    _, *warnings = document["messages"]
    expected = [context.table.headings[0], *(row[0] for row in context.table)]
    assert document["status"] == "warn" and document["exit_code"] == 0, document
    assert [text.partition(": The snapshot")[0] for text in warnings] == expected, warnings
    assert all("No space left on device" in text for text in warnings), warnings


@given("the disk has room for {count:d} snapshots")
def limited_disk(context: Context, count: int) -> None:
    disk = plans(context).room_for(count)
    disk.__enter__()
    context.add_cleanup(disk.__exit__, None, None, None)


@given("the plan has failed with room for {count:d} snapshots")
def failed_without_room(context: Context, count: int) -> None:
    with plans(context).room_for(count):
        plans(context).run(exit_code=8)


@given("the plan has been interrupted")
def interrupted(context: Context) -> None:
    plans(context).run(exit_code=130)


@given("a plan whose second step writes what its first step gave back")
def with_output(context: Context) -> None:
    plans(context).definition |= {
        "arguments": {"who": {"type": "string", "default": "you"}},
        "steps": [
            {
                "name": "one",
                "tool": "shell",
                "with": {"command": "printf from-one-for-{{ who }}"},
                "save_as": "word",
            },
            {
                "name": "two",
                "tool": "shell",
                "with": {
                    "command": 'cd "{{ resources.project.path }}" && '
                    "echo {{ outputs.word }} > out.txt"
                },
            },
        ],
    }
    plans(context).write()


@given("a plan that writes shop.txt in the project and docs.txt in another repository")
def two_repositories(context: Context) -> None:
    other = context.world.directory / "docs"
    make_repository(other, context.world.environment)
    plans(context).define(
        [{"step": "shop", "does": "writes shop.txt"}, {"step": "docs", "does": "writes docs.txt"}]
    )
    plans(context).definition["resources"] = {
        "project": {"type": "git-checkout", "path": "."},
        "docs": {"type": "git-checkout", "path": str(other)},
    }
    plans(context).definition["steps"][1]["resource"] = "docs"
    plans(context).write()


@given("the other repository has been deleted")
def delete_other(context: Context) -> None:
    (context.world.directory / "docs").rename(context.world.directory / "elsewhere")


@then("each repository's sandbox has its own file")
def own_files(context: Context) -> None:
    own = {"project": "shop", "docs": "docs"}
    for resource, name in own.items():
        place = plans(context).sandbox.parent / resource
        added = {path.name for path in place.iterdir()} - {"README.md", "src", "run.sh", ".git"}
        assert added == {f"{name}.txt"}, added
        assert (place / f"{name}.txt").read_text() == f"by {name}\n"


@then("no sandbox is left behind")
def no_sandbox(context: Context) -> None:
    left = list((context.world.home / "sandboxes").rglob("*"))
    assert not left, left
    assert not plans(context).query("SELECT * FROM sandboxes")


@then("the sandbox is the project after `{command}`")
def sandbox_after(context: Context, command: str) -> None:
    expected, found = plans(context).project_after(command), plans(context).found().files
    found.pop(".git")
    assert found == expected, difference(expected, found)


@then('the hint is "{text}"')
def hint_is(context: Context, text: str) -> None:
    assert context.world.last.json["error"]["hint"] == plans(context).filled(text)


@given("a plan may keep {limit:d} checkpoints")
def limit(context: Context, limit: int) -> None:
    name = "CLEVERAGENTS_CHECKPOINT_MAX_CHECKPOINTS_PER_PLAN"
    context.world.environment[name] = str(limit)


@given('the plan names the project twice, as "{first}" and as "{second}"')
def same_twice(context: Context, first: str, second: str) -> None:
    place = {"type": "git-checkout", "path": "."}
    plans(context).definition["resources"] = {first: place, second: place}
    plans(context).write()


@given("three plans: one complete, one failed, one only made")
def three_plans(context: Context) -> None:
    for name, command in {"complete": "true", "failed": "false", "made": "true"}.items():
        plans(context).definition["name"] = f"local/{name}"
        plans(context).define([{"step": "one", "does": f"runs `{command}`"}])
        verb = "use" if name == "made" else "run"
        code = 8 if name == "failed" else 0
        plans(context).prepare("plan", verb, str(plans(context).file), exit_code=code)


@when("the user makes the plan")
def make_plan(context: Context) -> None:
    plans(context).act("plan", "use", str(plans(context).file))


@when("the user makes the plan with {options}")
def make_plan_with(context: Context, options: str) -> None:
    plans(context).act("plan", "use", str(plans(context).file), *options.split())


@when("the user runs the plan with {options}")
def run_plan_with(context: Context, options: str) -> None:
    plans(context).act("plan", "run", str(plans(context).file), *options.split())


@when("the user lists the plans with {options}")
def list_plans(context: Context, options: str) -> None:
    plans(context).act("plan", "list", *options.split())


@when("the user compares the plan's checkpoints")
def compare_ends(context: Context) -> None:
    plans(context).act("plan", "diff", plans(context).plan_id)


@when('the user compares "{old}" with "{new}"')
def compare(context: Context, old: str, new: str) -> None:
    chosen = [plans(context).checkpoint(label)["checkpoint_id"] for label in (old, new)]
    plans(context).act("plan", "diff", plans(context).plan_id, *chosen)


@then("the plans listed are {names}")
def plans_listed(context: Context, names: str) -> None:
    found = [item["name"].removeprefix("local/") for item in data(context)["plans"]]
    assert (", ".join(found) or "none") == names, found


@then("the files that differ are")
def files_that_differ(context: Context) -> None:
    expected = [row.as_dict() for row in context.table]
    assert data(context)["files"] == expected, data(context)["files"]


@then("the diff's own counts agree, and each file has its part of the patch")
def diff_agrees(context: Context) -> None:
    summary, files = data(context)["diff_summary"], data(context)["files"]
    counts = [summary[name] for name in ("files_changed", "insertions", "deletions", "net_change")]
    assert counts == [len(files), 2, 1, 1], summary
    patched = {part["file"]: part["hunks"] for part in data(context)["patch_preview"]}
    assert list(patched) == [item["path"] for item in files], patched
    assert patched["README.md"][0].endswith("+more\n") and not patched["blob"], patched


@given("the records cannot be written when step two begins")
def failing_records(context: Context) -> None:
    plan_faults.install(context, plan_faults.failing_second_call())


@given("a plan whose only tool writes and is not checkpointable")
def not_checkpointable(context: Context) -> None:
    plans(context).definition |= {
        "tools": {
            "publish": {"run": "echo out > out.txt", "writes": True, "checkpointable": False}
        },
        "steps": [{"tool": "publish", "with": {}}],
    }
    plans(context).write()


@given("the project has been deleted")
def delete_project(context: Context) -> None:
    shutil.rmtree(context.world.project)


@given("its process was killed while it ran")
def left_behind(context: Context) -> None:
    plans(context).query("UPDATE plans SET state = 'processing'")


@when("the user lists the plans from outside with the project's path")
def list_from_outside(context: Context) -> None:
    project = str(context.world.project)
    arguments = ("plan", "list", "--project", project, "--format", "json")
    context.world.agents(*arguments, cwd=context.world.directory)


@given("another project has a newer plan")
def newer_plan_elsewhere(context: Context) -> None:
    world, context.own_plan = context.world, plans(context).plan_id
    other = world.directory / "other"
    other.mkdir()
    make_repository(other, world.environment)
    outcome = world.agents(
        *("plan", "run", str(plans(context).file), "--format", "json"), cwd=other
    )
    context.other_plan = outcome.json["data"]["plan_id"]


@given("the repository of the other project is gone")
def no_repository(context: Context) -> None:
    other = context.world.directory / "other"
    shutil.rmtree(other / ".git")
    (other / "below").mkdir()


@when('the user runs "{command}" in {directory}')
def run_in(context: Context, command: str, directory: str) -> None:
    _, *arguments = shlex.split(command)
    world = context.world
    world.agents(*arguments, cwd=(world.project / directory).resolve())


@then("the plan that is shown is that of the {place}")
def shown_plan(context: Context, place: str) -> None:
    shown = context.world.last.json["data"]["plan_id"]
    expected = {"project": context.own_plan, "other project": context.other_plan}[place]
    assert shown == expected, (shown, expected)
