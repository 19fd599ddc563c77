from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

from behave import given, then, when
from behave.runner import Context
from features.support.faults import damaged_git, sandbox_faults
from features.support.sandboxes.databases import largest_file
from features.support.sandboxes.sandbox_bench import Moment, bench

from cleveragents.testing.trees import differing

ROOT = Path(__file__).parents[2]


@given("there is a checkpoint, and then the agent has run `{command}`")
def checkpoint_and_run(context: Context, command: str) -> None:
    work = bench(context)
    work.moments["before"] = work.look()
    work.agent(command)
    work.moments["after"] = work.look()


@given("no file can grow beyond {limit:d} bytes")
def no_room(context: Context, limit: int) -> None:
    bench(context).surroundings = lambda: largest_file(limit)


@given("an ordinary user owns it")
def owned_by_ordinary_user(context: Context) -> None:
    bench(context).surroundings = bench(context).as_ordinary_user


@given("a sandbox in which a process {acts}")
def restless_process(context: Context, acts: str) -> None:
    bench(context).surroundings = lambda: sandbox_faults.restless(bench(context), acts)


@given("the store has been damaged: {damage}")
def damaged_store(context: Context, damage: str) -> None:
    sandbox_faults.DAMAGE[damage](bench(context))


@given("the memory of the scan has suffered: {loss}")
def damaged_memory(context: Context, loss: str) -> None:
    sandbox_faults.MEMORY[loss](bench(context))


@given("the sandbox has suffered: {loss}")
def damaged_sandbox(context: Context, loss: str) -> None:
    bench(context).look()
    sandbox_faults.SANDBOX[loss](bench(context))


@given("the git of the sandbox has suffered: {damage}")
def damage_to_git(context: Context, damage: str) -> None:
    damaged_git.damage_git(bench(context), damage)


@when("the user saves the sandbox, goes back, and undoes that")
def there_and_back(context: Context) -> None:
    work = bench(context)
    work.attempt(lambda: work.moments.update(damaged=damaged_git.there_and_back(work)))


@then("each checkpoint is whole, each state is exact, and git works again")
def damage_survived(context: Context) -> None:
    assert bench(context).error is None, bench(context).error


@then("the checkpoint of the damage did not capture {paths}")
def damage_listed(context: Context, paths: str) -> None:
    found = bench(context).moments["damaged"].checkpoint.not_captured
    assert ", ".join(item.path for item in found) == paths, found
    assert {item.reason for item in found} == {"damaged or missing; a rollback repairs it"}, found


@when("a child plan starts from the sandbox")
def fork_damaged(context: Context) -> None:
    damaged_git.fork(bench(context))


@then("the child's sandbox has the same files, and git works there")
def forked_from_damaged(context: Context) -> None:
    damaged_git.expect_fork(bench(context))


@given("the circumstance that {circumstance}")
def under_circumstance(context: Context, circumstance: str) -> None:
    sandbox_faults.CIRCUMSTANCES[circumstance](bench(context))


@given("something happens while it is read: {case}")
def happening(context: Context, case: str) -> None:
    bench(context).surroundings = lambda: sandbox_faults.happening(bench(context), case)


@when("a process is killed at every {stride} act while it {acts}")
def kill_sweep(context: Context, stride: str, acts: str) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "features.support.sweeps.sandbox_kill_sweep",
            acts,
            stride.rstrip("thnrds"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    context.swept = done.stdout + done.stderr


@when("the user wants to {act}")
def wants_to(context: Context, act: str) -> None:
    work = bench(context)
    acts = {
        "begin": lambda: work.sandbox,
        "checkpoint": lambda: work.moments.update(made=work.take()),
        "checkpoint, and waits a second": lambda: work.with_patience(1).take(),
        "go back": lambda: work.go_back(work.moments["before"]),
    }
    work.attempt(acts[act])


@when("the user has the checkpoint verified")
def verify(context: Context) -> None:
    work = bench(context)
    work.attempt(lambda: work.acts().verify(work.moments["before"].id))


@when("the ordinary user's agent runs `{command}`, and then the sandbox is rolled back")
def ordinary_run_and_roll_back(context: Context, command: str) -> None:
    work = bench(context)
    for name, step in {"before": command, "after": "true"}.items():
        with work.as_ordinary_user():
            made = work.take()
        work.moments[name] = Moment(made.checkpoint, work.tree(), work.git_state())
        work.agent(step)
    work.roll_back(work.moments["before"])


@then("doing it again gave the exact result each time")
def survived(context: Context) -> None:
    assert context.swept.endswith(" kills survived\n"), context.swept


@then("it fails, because {reason}")
def fails_because(context: Context, reason: str) -> None:
    error = bench(context).error
    assert error is not None, "it did not fail"
    assert reason in error.message, error.message


@then("the error names an object of the private repository")
def names_object(context: Context) -> None:
    error = bench(context).error
    assert error is not None, "it did not fail"
    assert error.details.keys() <= {"object_id", "place"}, error.details
    store = bench(context).sandbox.store
    assert f"The stored object {error.details['object_id']} " in error.message, error.message
    assert f" in {store} " in f"{error.message} ", error.message


@then("with room again, everything is as it was and can be done")
def room_again(context: Context) -> None:
    work = bench(context)
    work.error, work.surroundings = None, contextlib.nullcontext
    for name in ("after", "before", "after"):
        work.roll_back(work.moments[name])
        work.expect(work.moments[name])
    assert work.fsck() == "", work.fsck()


@then("no sandbox has been left behind")
def none_left(context: Context) -> None:
    home = bench(context).world.home
    assert not list(home.glob("sandboxes/*/*")), list(home.glob("sandboxes/*/*"))


@then("it succeeds, and the checkpoint is whole")
def succeeds(context: Context) -> None:
    work = bench(context)
    assert work.error is None, work.error.message
    work.acts().verify(work.moments["made"].id)
    work.go_back(work.moments["made"])
    assert work.report is not None and work.report.differences == (), work.report


@then("the report lists what is not as it should be")
def not_verified(context: Context) -> None:
    report = bench(context).report
    assert report is not None, bench(context).error
    assert report.differences == (
        "a should be restored",
        "d/b should be restored",
        "HEAD, branch or index differ",
    ), report.differences


@then("the sandbox is as the agent left it")
def as_agent_left_it(context: Context) -> None:
    work = bench(context)
    assert not differing(work.tree(), work.moments["after"].tree)
