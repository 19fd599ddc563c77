from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from behave import given, then, when
from behave.runner import Context
from features.support.clocks import wait_until
from features.support.faults import crash, plan_faults
from features.support.plans import plans
from features.support.postgres import new_database
from features.support.situations.four_plans import FourPlans
from features.support.trees import difference, tree
from features.support.world import Outcome

from cleveragents.infrastructure.tools.process.leftover_processes import end_plan

CONTAINER = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--uts")


def start(context: Context, *arguments: str, inside: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    options = ("--format", "json", "--progress", "json")
    process = subprocess.Popen(
        [*inside, sys.executable, "-m", "cleveragents", *arguments, *options],
        env=context.world.environment,
        cwd=context.world.project,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    context.add_cleanup(process.communicate)
    context.add_cleanup(process.kill)
    return process


def unburied(context: Context) -> None:
    """Has a process hold the plan that was killed and whose end nobody has asked for."""
    place = plan_faults.presence(plans(context))
    process = subprocess.Popen(
        ["flock", "--no-fork", str(place), "sh", "-c", "echo; exec sleep 60"],
        stdout=subprocess.PIPE,
    )
    context.add_cleanup(process.communicate)
    assert process.stdout is not None
    process.stdout.readline()
    plan_faults.hold(plans(context), process.pid, plan_faults.HOST)
    process.kill()
    while Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.01)


def whole(context: Context) -> bool:
    """`behave -D sweep=whole` kills at every action, which takes minutes."""
    return context.config.userdata.get("sweep") == "whole"


@given("executing it has been killed {moment}, at the {number:d}. time")
def killed_run(context: Context, moment: str, number: int) -> None:
    arguments = ("plan", "execute", plans(context).plan_id)
    assert crash.killed(plans(context), crash.MOMENTS[moment], number, *arguments), moment


@given("executing it has been killed by its own tool")
def killed_by_tool(context: Context) -> None:
    assert crash.killed(plans(context), "never", 0, "plan", "execute", plans(context).plan_id)


@given('rolling it back to "{label}" has been killed {moment}, at the {number:d}. time')
def killed_rollback(context: Context, label: str, moment: str, number: int) -> None:
    arguments = plans(context).rollback(label, "--yes")
    assert crash.killed(plans(context), crash.MOMENTS[moment], number, *arguments), moment


@given("another process is executing the plan")
def executing_elsewhere(context: Context) -> None:
    context.process = start(context, "plan", "execute", plans(context).plan_id)
    plans(context).living = context.process.pid
    wait_until((context.world.directory / "begun").exists, context.process)


@given("the plan has been made, with its records in {database}")
def made_in(context: Context, database: str) -> None:
    if database == "PostgreSQL":
        url = new_database().replace("postgresql:", "postgresql+psycopg:", 1)
        context.world.environment["CLEVERAGENTS_DATABASE_URL"] = url
    file = str(plans(context).file)
    made = plans(context).prepare("plan", "use", file, "--format", "json")
    plans(context).chosen = made.json["data"]["plan_id"]


@given("a container is executing the plan")
def executing_in_container(context: Context) -> None:
    if subprocess.run([*CONTAINER, "true"], check=False, capture_output=True).returncode:
        context.scenario.skip("process namespaces cannot be made here")
        return
    context.process = start(context, "plan", "execute", plans(context).plan_id, inside=CONTAINER)
    wait_until((context.world.directory / "begun").exists, context.process)


@when("another container with the same host name executes the plan")
def executing_in_second_container(context: Context) -> None:
    process = start(context, "plan", "execute", plans(context).plan_id, inside=CONTAINER)
    said, complained = process.communicate()
    context.world.outcome = Outcome(process.returncode, said, complained)


@then("the step has run once, and the first container ends well")
def ran_once(context: Context) -> None:
    other_ends(context)
    assert (context.world.directory / "begun").read_text() == "once\n"


@given("that process and its tool have been killed, and the cause of its waiting fixed")
def killed_elsewhere(context: Context) -> None:
    context.process.kill()
    context.process.communicate()
    assert end_plan(plans(context).plan_id) > 0
    (context.world.directory / "fixed").touch()


@given("four plans that write files of their own in three steps")
def four_plans(context: Context) -> None:
    context.four = FourPlans(plans(context))


@given("the plan is held by a process of this home that has ended")
def held_by_ended(context: Context) -> None:
    plan_faults.presence(plans(context))
    plan_faults.hold(plans(context), os.getpid(), plan_faults.HOST)


@given("the plan is held by a process of this home that was killed and not yet buried")
def held_by_unburied(context: Context) -> None:
    unburied(context)


@given("the plan is held by a process of this home whose lease has ended")
def held_by_slow(context: Context) -> None:
    place = plan_faults.presence(plans(context))
    descriptor = os.open(place, os.O_RDWR)
    context.add_cleanup(os.close, descriptor)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    plan_faults.hold(plans(context), 1, plan_faults.HOST, expires_at="2001-01-01")


@given("the plan is held by a process of another host")
def held_elsewhere(context: Context) -> None:
    plan_faults.hold(plans(context), os.getpid(), "elsewhere.example.org")


@given("the plan is held by a process of another host whose lease has ended")
def held_elsewhere_once(context: Context) -> None:
    plan_faults.hold(plans(context), os.getpid(), "elsewhere.example.org", expires_at="2001-01-01")


@when('rolling it back to "{label}" is killed at one action after another and then done')
def sweep_rollback(context: Context, label: str) -> None:
    arguments = plans(context).rollback(label, "--yes")
    context.trees = []
    known = plans(context).everything().rows["checkpoint_groups"]

    def check() -> None:
        plans(context).prepare(*arguments)
        context.trees.append(plans(context).found())
        plans(context).check_whole(known)

    context.kills = crash.sweep(plans(context), arguments, check, whole=whole(context))


@when("executing it is killed at one action after another and then done")
def sweep_run(context: Context) -> None:
    context.trees = []

    def check() -> None:
        plans(context).prepare("plan", "execute", plans(context).plan_id)
        context.trees.append(tree(plans(context).sandbox))
        plans(context).check_whole([])

    arguments = ["plan", "execute", plans(context).plan_id]
    context.kills = crash.sweep(plans(context), arguments, check, whole=whole(context))


@when("four processes run the plan at the same time")
def four_processes(context: Context) -> None:
    started = [start(context, "plan", "run", str(plans(context).file)) for _ in range(4)]
    context.outcomes = [(*process.communicate(), process.returncode) for process in started]


@when("all four are run at the same time")
def run_four(context: Context) -> None:
    started = [start(context, "plan", "run", str(file)) for file in context.four.files]
    context.outcomes = [(*process.communicate(), process.returncode) for process in started]


@then("every checkpoint has its snapshot")
def every_snapshot(context: Context) -> None:
    plans(context).check_whole([])


@then('the sandbox was as at "{label}" every time, and no record was lost')
def swept_rollback(context: Context, label: str) -> None:
    expected = plans(context).seen_at(label)
    assert len(context.trees) == context.kills >= crash.SAMPLES, context.kills
    for number, found in enumerate(context.trees):
        assert found == expected, (number, difference(expected.files, found.files))


@then("the sandbox was the project after `{command}` every time, and no record was lost")
def swept_run(context: Context, command: str) -> None:
    expected = plans(context).project_after(command)
    assert len(context.trees) == context.kills >= crash.SAMPLES, context.kills
    for number, found in enumerate(context.trees):
        found.pop(".git")
        assert found == expected, (number, difference(expected, found))


@then("the other process ends well once the cause of its waiting is fixed")
def other_ends(context: Context) -> None:
    (context.world.directory / "fixed").touch()
    said, complained = context.process.communicate()
    assert context.process.returncode == 0, (said, complained)
    assert plans(context).status()["state"] == "complete"


@then("all four end well")
def all_ended(context: Context) -> None:
    assert all(status == 0 for _, _, status in context.outcomes), context.outcomes


@then("each checkpoint brings back the files of its own plan")
def own_files(context: Context) -> None:
    for name, (said, _, _) in zip(context.four.names, context.outcomes, strict=True):
        context.four.check(name, json.loads(said)["data"]["plan_id"])


@then("the plan has been held {count:d} times")
def times_held(context: Context, count: int) -> None:
    rows = plans(context).query(
        "SELECT fencing, released FROM locks WHERE resource_id = ?", plans(context).plan_id
    )
    assert rows == [(count, 1)], rows


@then("all four end well, each with its own sandbox and checkpoints")
def four_ended(context: Context) -> None:
    assert all(status == 0 for _, _, status in context.outcomes), context.outcomes
    rows = plans(context).query(
        "SELECT plan_id, count(*) FROM checkpoint_metadata GROUP BY plan_id"
    )
    assert [count for _, count in rows] == [6, 6, 6, 6], rows
    places = [context.world.home / "sandboxes" / plan_id / "project" for plan_id, _ in rows]
    assert all((place / "b.txt").read_text() == "by two\n" for place in places)
    assert len({(place / "a.txt").read_text() for place in places}) == 4


@then("the other process was interrupted")
def was_interrupted(context: Context) -> None:
    assert context.process.wait() == 130, context.process.returncode
