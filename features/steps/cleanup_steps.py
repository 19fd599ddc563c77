from __future__ import annotations

import shlex
import subprocess

from behave import given, then, when
from behave.runner import Context
from features.support.plans import Plans, data, plans
from features.support.sweeps import fault_sweep as faults
from features.support.sweeps import operation_sweep

from cleveragents.application.fault_points import FaultPoint


@given("sandboxes are removed {setting}")
def removed(context: Context, setting: str) -> None:
    context.world.environment["CLEVERAGENTS_SANDBOX_CLEANUP"] = setting


@given("a plan that was applied")
def was_applied(context: Context) -> None:
    run(context, "writes new.txt")
    end(context, "apply", "--yes")


@given("a plan that failed and was cancelled")
def failed_and_cancelled(context: Context) -> None:
    run(context, "runs `false`", exit_code=8)
    end(context, "cancel")


@given("a plan that has run and was cancelled")
def run_and_cancelled(context: Context) -> None:
    run(context, "writes new.txt")
    end(context, "cancel")


@given("a plan that has run and was cancelled with --discard")
def run_and_discarded(context: Context) -> None:
    run(context, "writes new.txt")
    end(context, "cancel", "--discard", "--yes")


@given("a plan that was held back and was cancelled")
def held_back_and_cancelled(context: Context) -> None:
    plans(context).definition["validations"] = [{"name": "never", "run": "false"}]
    run(context, "writes new.txt")
    plans(context).prepare("plan", "apply", plans(context).plan_id, "--yes", exit_code=4)
    end(context, "cancel")


@given(
    "a plan that has changed a repository, a directory and a database, killed at {point} when it "
    "was applied"
)
def killed_when_applied(context: Context, point: str) -> None:
    operation_sweep.prepare(plans(context))
    arguments = ("plan", "apply", plans(context).plan_id, "--yes")
    assert faults.killed_at(plans(context), FaultPoint(point), 1, *arguments)


@given("a plan that failed, killed at {point} when it was cancelled")
def killed_when_cancelled(context: Context, point: str) -> None:
    run(context, "runs `false`", exit_code=8)
    arguments = ("plan", "cancel", plans(context).plan_id)
    assert faults.killed_at(plans(context), FaultPoint(point), 1, *arguments)
    assert plans(context).sandbox.exists()


@when("the user runs `agents {command}` for it")
def run_for_it(context: Context, command: str) -> None:
    plans(context).act(*shlex.split(plans(context).filled(command)))


@then("its private repository has {left} of it besides its checkpoints")
def left_in_mirror(context: Context, left: str) -> None:
    expected = {"nothing": (0, 0), "a worktree and a branch": (1, 1)}[left]
    assert left_over(plans(context)) == expected, left_over(plans(context))


@then("the sandboxes are gone, and nothing but checkpoints is left of the plan")
def nothing_left(context: Context) -> None:
    place = context.world.home / "sandboxes" / plans(context).plan_id
    assert not place.exists(), list(place.iterdir())
    assert left_over(plans(context)) == (0, 0), left_over(plans(context))
    assert plans(context).checkpoints()
    nothing_found(context)


@then("a check of the installation finds nothing")
def nothing_found(context: Context) -> None:
    said = context.world.outcome
    found = context.world.agents_here("doctor", "--format", "json")
    context.world.outcome = said
    checks = {item["name"]: item["status"] for item in found.json["data"]["checks"]}
    # A process that was killed cannot give its lease back.
    assert {checks[name] for name in checks if name != "leases"} == {"ok"}, checks


def left_over(plans: Plans) -> tuple[int, int]:
    """How many worktrees and branches of the plan there are in all private repositories."""
    worktrees, branches = 0, 0
    for mirror in (plans.world.home / "mirrors").glob("*.git"):
        worktrees += len(list((mirror / "worktrees").glob(f"*{plans.plan_id}*")))
        command = ["git", "for-each-ref", "refs/heads"]
        done = subprocess.run(command, cwd=mirror, capture_output=True, text=True, check=True)
        branches += len(done.stdout.splitlines())
    return worktrees, branches


@when("the user asks for the plan's status")
def ask_for_status(context: Context) -> None:
    plans(context).act("plan", "status", plans(context).plan_id)


@then("its sandbox was {state}")
def sandbox_is(context: Context, state: str) -> None:
    gone = data(context)["execution"]["sandbox"]["status"] == "cleaned_up"
    assert gone is (state == "removed"), data(context)["execution"]
    assert plans(context).sandbox.exists() is not gone


@then("the document tells the plan's id, and that it is {phase}/{state}")
def tells_plan(context: Context, phase: str, state: str) -> None:
    found = [data(context)[name] for name in ("plan_id", "phase", "state")]
    assert found == [plans(context).plan_id, phase, state], found


def run(context: Context, does: str, exit_code: int = 0) -> None:
    plans(context).define([{"step": "work", "does": does}])
    plans(context).run(exit_code=exit_code)


def end(context: Context, *arguments: str) -> None:
    verb, *options = arguments
    plans(context).prepare("plan", verb, plans(context).plan_id, *options)


@given("the plan was cancelled, and its sandbox kept")
def cancelled_and_kept(context: Context) -> None:
    outcome = context.world.agents("plan", "cancel", plans(context).plan_id)
    assert outcome.exit_code == 0 and plans(context).sandbox.exists(), outcome


@given("the plan was discarded")
def discarded(context: Context) -> None:
    plan = plans(context).plan_id
    outcome = context.world.agents("plan", "cancel", plan, "--discard", "--yes")
    assert outcome.exit_code == 0, outcome


@when('the user answers "{answer}" to discarding the plan')
def answer_discard(context: Context, answer: str) -> None:
    plan = plans(context).plan_id
    context.world.agents("plan", "cancel", plan, "--discard", stdin=f"{answer}\n")


@then("the sandbox is gone")
def sandbox_is_gone(context: Context) -> None:
    assert not plans(context).sandbox.exists()
