from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from typing import Any
from unittest.mock import patch

from behave import given, then, when
from behave.runner import Context
from features.support.clocks import StoppedClock
from features.support.faults import plan_faults
from features.support.plans import data, plans
from features.support.situations.subplans import Subplans
from features.support.sweeps import fault_sweep as faults
from features.support.trees import difference, tree

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.services.subplans.runner import SubplanRunner
from cleveragents.infrastructure.system import SystemClock


def subplans(context: Context) -> Subplans:
    if "subplans" not in context:
        context.subplans = Subplans(plans(context))
    return context.subplans


def rows(context: Context) -> list[dict[str, str]]:
    headings = context.table.headings
    return [dict(zip(headings, row.cells, strict=True)) for row in context.table]


@given("a plan whose subplans run {mode}")
def define_subplans(context: Context, mode: str) -> None:
    subplans(context).define(mode, rows(context))


@given("the project's list has {count:d} lines")
def project_list(context: Context, count: int) -> None:
    place = plans(context).world.project
    (place / "list.txt").write_text("".join(f"{number}\n" for number in range(1, count + 1)))
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    for command in (["add", "."], ["commit", "-qm", "list"]):
        subprocess.run(["git", *identity, *command], cwd=place, check=True)


@when("the user runs the plan and cancels {name} while {other} runs")
def run_and_cancel(context: Context, name: str, other: str) -> None:
    with subplans(context).cancelled_beside(name, other, "not needed"):
        plans(context).act("plan", "run", str(plans(context).file))


@given("a plan on the project and a database, whose subplans are")
def two_resources(context: Context) -> None:
    subplans(context).define_with_database(rows(context))


@given("its subplans have `{key}` {value}")
def set_option(context: Context, key: str, value: str) -> None:
    meant: object = {"true": True, "false": False}.get(value, value)
    subplans(context).change(**{key: int(value) if value.isdecimal() else meant})


@given("a plan whose subplan writes an argument and what the parent's first step gave back")
def inheriting(context: Context) -> None:
    command = "echo {{ who }} {{ outputs.number }} > said.txt"
    plans(context).definition |= {
        "arguments": {"who": {"type": "string"}},
        "steps": [
            {"tool": "shell", "with": {"command": "printf 42"}, "save_as": "number"},
            {"subplans": {"plans": {"one": {"steps": [_shell(command)]}}}},
        ],
    }
    plans(context).write()


@given("a plan whose subplans have subplans, {depth:d} deep")
def nested(context: Context, depth: int) -> None:
    step = _shell("echo deep > deep.txt")
    for _ in range(depth - 1):
        step = {"subplans": {"mode": "parallel", "plans": {"below": {"steps": [step]}}}}
    plans(context).definition["steps"] = [step]
    plans(context).write()


@given("plans may be {depth:d} deep")
def max_depth(context: Context, depth: int) -> None:
    context.world.environment["CLEVERAGENTS_PLAN_MAX_CHILD_DEPTH"] = str(depth)


@given("the plan has come into conflict")
def has_conflict(context: Context) -> None:
    plans(context).run(exit_code=6)


@given("the user has edited {name} in the sandbox to `{content}`")
def edit(context: Context, name: str, content: str) -> None:
    (plans(context).sandbox / name).write_text(content.replace("\\n", "\n"))


@given("the user has taken {how} at {path}")
def has_taken(context: Context, how: str, path: str) -> None:
    plans(context).prepare("plan", "conflicts", plans(context).plan_id, "--take", how, path)


@given("the sandbox of {name} has been deleted")
def sandbox_deleted(context: Context, name: str) -> None:
    subprocess.run(["rm", "-rf", str(subplans(context).sandbox(name))], check=True)


@given("another process works on the subplan {name}")
def child_is_held(context: Context, name: str) -> None:
    held = subplans(context).ids()[name]
    plans(context).other, mine = held, plans(context).plan_id
    plans(context).chosen = held
    plan_faults.hold(plans(context), os.getppid(), plan_faults.HOST)
    plans(context).living = os.getppid()
    plans(context).chosen = mine


@given("that time is over as soon as OUTSIDE/{name} is there")
def timeout_over(context: Context, name: str) -> None:
    _replace_clock(context, StoppedClock((context.world.directory / name).exists, hours=1))


@given("every wait for a child is over as soon as OUTSIDE/{name} is there")
def waits_over(context: Context, name: str) -> None:
    _replace_clock(context, StoppedClock((context.world.directory / name).exists))


@given("every wait for a child is over at once")
def waits_over_at_once(context: Context) -> None:
    _replace_clock(context, StoppedClock(lambda: True))


class _WaitingClock(SystemClock):
    """Tells the time, and has a stopped clock for waits."""

    def __init__(self, waits: StoppedClock) -> None:
        self._waits = waits

    def monotonic(self) -> float:
        return self._waits.monotonic()


def _replace_clock(context: Context, clock: StoppedClock) -> None:
    """Replaces the clock of those who wait for children; leases are renewed in real time."""
    build = SubplanRunner.__init__

    def built(runner: SubplanRunner, *arguments: Any, **named: Any) -> None:
        build(runner, *arguments, **{**named, "clock": _WaitingClock(clock)})

    context.world.on_close.enter_context(patch.object(SubplanRunner, "__init__", built))


@given("its first subplan fails")
def first_fails(context: Context) -> None:
    first = next(iter(subplans(context).options["plans"].values()))
    first["steps"] = [_shell("exit 1")]
    subplans(context).change(retry_failed=False)


@given("the first subplan waits for a file and the second has ended")
def first_waits(context: Context) -> None:
    wait = "echo first >> OUTSIDE/runs; until test -f OUTSIDE/go; do sleep 0.05; done"
    second = "echo second >> OUTSIDE/runs"
    rows = [
        {"subplan": "a", "does": f"runs `{wait}`"},
        {"subplan": "b", "does": f"runs `{second}`"},
    ]
    subplans(context).define("parallel", rows)
    plans(context).prepare("plan", "use", str(plans(context).file))


@given("the plan has come into conflict over README.md")
def conflict_over_readme(context: Context) -> None:
    rows = [{"subplan": name, "does": f"runs `echo {name} > README.md`"} for name in ("one", "two")]
    subplans(context).define("parallel", rows)
    plans(context).run(exit_code=6)


@given("a child was killed before its first checkpoint, and its sandbox is deleted")
def child_killed(context: Context) -> None:
    plans(context).prepare("plan", "use", str(plans(context).file))
    arguments = ("plan", "execute", plans(context).plan_id)
    assert faults.killed_at(plans(context), FaultPoint.CHILD_FORKED, 2, *arguments)
    shutil.rmtree(subplans(context).sandbox("docs"))


@when("executing it is killed each time its family is at {point}, and then resumed")
def sweep_family(context: Context, point: str) -> None:
    context.ends = []

    def check(_: int) -> None:
        outcome = context.world.agents_here("plan", "resume", plans(context).plan_id)
        assert outcome.exit_code == 0, outcome
        context.ends.append(subplans(context).end())
        faults.check_stores(plans(context))

    arguments = ("plan", "execute", plans(context).plan_id)
    context.kills = faults.sweep(plans(context), FaultPoint(point), arguments, check)
    assert context.world.agents_here(*arguments).exit_code == 0
    context.whole = subplans(context).end()


@when("executing it is killed at {point}, and then resumed")
def killed_and_resumed(context: Context, point: str) -> None:
    arguments = ("plan", "execute", plans(context).plan_id)
    assert faults.killed_at(plans(context), FaultPoint(point), 1, *arguments)
    plans(context).act("plan", "resume", plans(context).plan_id)


@when("the parent is killed, and resumed once the file is there")
def parent_killed(context: Context) -> None:
    end_in_the_middle(context, signal.SIGKILL)


@when("the parent is interrupted, and resumed once the file is there")
def parent_interrupted(context: Context) -> None:
    context.ended = end_in_the_middle(context, signal.SIGINT)


def end_in_the_middle(context: Context, number: int) -> int:
    """Sends a signal to the parent while one child runs; returns the parent's exit code."""
    parent = subplans(context).start("plan", "execute", plans(context).plan_id)
    while subplans(context).states().get("b") != "execute/complete" or not subplans(context).runs():
        assert parent.poll() is None, "the parent has ended"
        time.sleep(0.05)
    parent.send_signal(number)
    code = parent.wait()
    (context.world.directory / "go").touch()
    plans(context).act("plan", "resume", plans(context).plan_id)
    return code


@when("taking theirs is killed at {point}, and then done again")
def taking_killed(context: Context, point: str) -> None:
    arguments = ("plan", "conflicts", plans(context).plan_id, "--take", "theirs", "--all")
    assert faults.killed_at(plans(context), FaultPoint(point), 1, *arguments)
    plans(context).act(*arguments)


@when("the user asks for the artifacts")
def ask_artifacts(context: Context) -> None:
    plans(context).act("plan", "artifacts", plans(context).plan_id)


@when("the user asks for the tree of {ref}")
def ask_tree(context: Context, ref: str) -> None:
    plans(context).act("plan", "tree", ref)


@when("the user asks for the conflicts")
def ask_conflicts(context: Context) -> None:
    plans(context).act("plan", "conflicts", plans(context).plan_id)


@when("the user takes {how} at {path}")
def take(context: Context, how: str, path: str) -> None:
    where = ["--all"] if path == "everything" else [path]
    plans(context).act("plan", "conflicts", plans(context).plan_id, "--take", how, *where)


@when("the user calls conflicts with `{options}`")
def call_conflicts(context: Context, options: str) -> None:
    plans(context).act("plan", "conflicts", plans(context).plan_id, *options.split())


@when("the user applies the subplan {name}")
def apply_child(context: Context, name: str) -> None:
    plans(context).other = subplans(context).ids()[name]
    plans(context).act("plan", "apply", plans(context).other, "--yes")


@then("the subplans are")
def states(context: Context) -> None:
    wanted = {row["subplan"]: row["state"] for row in rows(context)}
    assert subplans(context).states() == wanted, subplans(context).states()


@then("the runs were {words}")
def runs(context: Context, words: str) -> None:
    found = subplans(context).runs()
    assert sorted(found) == sorted(words.split()), found


@then("the runs were, in this order, {words}")
def ordered_runs(context: Context, words: str) -> None:
    assert subplans(context).runs() == words.split(), subplans(context).runs()


@then("the sandbox of {name} is the project after `{command}`")
def child_sandbox(context: Context, name: str, command: str) -> None:
    expected = plans(context).project_after(command)
    found = {key: node for key, node in subplans(context).files(name).items() if key != ".git"}
    assert found == expected, difference(expected, found)


@then("the decision to spawn says")
def spawn_decisions(context: Context) -> None:
    found = plans(context).query(
        "SELECT decision_type, chosen_option FROM decisions WHERE plan_id = ?"
        " AND decision_type LIKE 'subplan%' AND superseded_by IS NULL ORDER BY sequence",
        plans(context).plan_id,
    )
    wanted = [(row["type"], row["chosen"]) for row in rows(context)]
    assert found == wanted, found


@then("the plan has {count:d} subplans")
def count_children(context: Context, count: int) -> None:
    found = plans(context).query(
        "SELECT count(*) FROM plans WHERE parent_plan_id = ?", plans(context).plan_id
    )
    assert found == [(count,)], found


@then("the artifacts made by subplans are")
def artifacts_of_children(context: Context) -> None:
    names = {plan_id: name for name, plan_id in subplans(context).ids().items()}
    found = [
        {"path": item["path"], "subplan": names[item["child_plan"]]}
        for item in data(context)["artifacts"]
        if item["child_plan"] is not None
    ]
    assert found == rows(context), found


@then("the child plans in the report are {names}")
def told_of(context: Context, names: str) -> None:
    found = [item["name"] for item in data(context)["child_plans"]]
    assert ", ".join(found) == names, found


@then("the interrupted run ended with the code {code:d}")
def interrupted_code(context: Context, code: int) -> None:
    assert context.ended == code, context.ended


@then("the second subplan ran once")
def ran_once(context: Context) -> None:
    assert subplans(context).runs().count("second") == 1, subplans(context).runs()


@then("the conflicts listed are")
def conflicts_listed(context: Context) -> None:
    shown = [
        {key: str(item[key]) for key in context.table.headings}
        for item in data(context)["conflicts"]
    ]
    assert shown == rows(context), shown


@then("{name} in the sandbox is `{content}`")
def sandbox_file(context: Context, name: str, content: str) -> None:
    found = (plans(context).sandbox / name).read_text()
    assert found == content.replace("\\n", "\n"), found


@then("the list in the sandbox has the lines {lines}")
def list_lines(context: Context, lines: str) -> None:
    found = (plans(context).sandbox / "list.txt").read_text().split()
    assert found == lines.split(), found


@then("the database in the sandbox holds {numbers}")
def database_holds(context: Context, numbers: str) -> None:
    place = plans(context).sandbox.with_name("data") / "app.db"
    with closing(sqlite3.connect(place)) as connection:
        found = [str(number) for (number,) in connection.execute("SELECT n FROM t ORDER BY n")]
    assert found == numbers.split(), found


@then("the subplan {name} has {count:d} sandbox")
def count_sandboxes(context: Context, name: str, count: int) -> None:
    found = plans(context).query(
        "SELECT count(*) FROM sandboxes WHERE plan_id = ?", subplans(context).ids()[name]
    )
    assert found == [(count,)], found


@then("{name} in the sandbox has the lines of both between markers")
def sandbox_markers(context: Context, name: str) -> None:
    lines = (plans(context).sandbox / name).read_text().splitlines()
    starts = [line.split()[0] for line in lines if line[:7] in ("<<<<<<<", "=======", ">>>>>>>")]
    assert starts == ["<<<<<<<", "=======", ">>>>>>>"], lines


@then("the subplans' sandboxes are gone")
def sandboxes_gone(context: Context) -> None:
    places = [subplans(context).sandbox(name) for name in subplans(context).ids()]
    assert places and not any(place.exists() for place in places), places


@then("nothing of the subplans is left in the project")
def nothing_left(context: Context) -> None:
    assert tree(context.world.project) == plans(context).untouched


def _shell(command: str) -> dict[str, Any]:
    return {"tool": "shell", "with": {"command": command}}
