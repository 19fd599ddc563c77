from __future__ import annotations

from typing import Any

import yaml
from behave import given, then, when
from behave.runner import Context
from features.steps.correction_steps import correct, standing
from features.steps.decision_steps import tree_of
from features.support.plans import plans
from features.support.sweeps import fault_sweep

from cleveragents.application.fault_points import FaultPoint

_NOTE = {"name": "note", "tool": "write-file", "with": {"path": "note.txt", "content": "n\n"}}


def more(context: Context, **definition: Any) -> str:
    """Writes a plan file with more steps, and returns its path."""
    file = plans(context).world.directory / "more.yaml"
    file.write_text(yaml.safe_dump({"name": "local/more", "steps": [_NOTE], **definition}))
    return str(file)


def options(context: Context, what: str) -> list[str]:
    needed = {"who": {"type": "string"}}
    other = {"elsewhere": {"type": "fs-directory", "path": "src"}}
    match what:
        case "the option database":
            return ["--choose", "database"]
        case "a plan file":
            return ["--steps", more(context)]
        case "an option that the decision does not have":
            return ["--choose", "moon"]
        case "a plan file with an unknown resource":
            return ["--steps", more(context, resources=other)]
        case "a plan file that needs an argument":
            return ["--steps", more(context, arguments=needed)]
        case "an option and a plan file at once":
            return ["--steps", more(context), "--choose", "database"]
        case "a plan file that is not there":
            return ["--steps", "nowhere.yaml"]
        case _:
            raise ValueError(what)


def append(context: Context, what: str) -> tuple[str, ...]:
    plans(context).chosen = plans(context).plan_id
    words = (standing(context), "--mode", "append", "-g", "more", "--yes")
    return (*words, *options(context, what))


@given("steps from {what} have been appended")
def has_been_appended(context: Context, what: str) -> None:
    plans(context).prepare("plan", "correct", *append(context, what))


@when("the user appends steps from {what}")
def append_steps(context: Context, what: str) -> None:
    correct(context, *append(context, what))


def child(context: Context) -> str:
    [[found]] = plans(context).query("SELECT plan_id FROM plans WHERE parent_plan_id IS NOT NULL")
    return found


@given("the child plan has been cancelled")
def child_cancelled(context: Context) -> None:
    plans(context).prepare("plan", "cancel", child(context))


@given("the appended step has been reverted")
def append_reverted(context: Context) -> None:
    (spawn,) = (node for _, node in tree_of(context) if node["type"] == "subplan_spawn")
    words = ("--mode", "revert", "-g", "not this", "--yes")
    plans(context).prepare("plan", "correct", spawn["decision_id"], *words)


@given("the run of the plan is killed at {point}")
def killed_at(context: Context, point: str) -> None:
    made = plans(context)
    assert fault_sweep.killed_at(made, FaultPoint(point), 1, "plan", "execute", made.plan_id)


@when('the user rolls the plan back to "{label}" of the first run')
def roll_back_to_first(context: Context, label: str) -> None:
    made = plans(context)
    found = [item for item in made.checkpoints() if item["label"] == label]
    made.act("plan", "rollback", made.plan_id, found[0]["checkpoint_id"], "--yes")


@then("the child plan {name} is {phase}/{state} with the steps {steps}")
def child_is(context: Context, name: str, phase: str, state: str, steps: str) -> None:
    rows = plans(context).query(
        "SELECT name, phase, state FROM plans WHERE parent_plan_id IS NOT NULL"
    )
    assert rows == [(f"local/shop.{name}", phase, state)], rows
    made = plans(context).query(
        "SELECT definition_json FROM plans WHERE plan_id = ?", child(context)
    )
    found = [step["name"] for step in yaml.safe_load(made[0][0])["steps"]]
    assert found == steps.split(", "), found


@then("the sandbox also has {paths}, and still {path}")
def sandbox_also_has(context: Context, paths: str, path: str) -> None:
    for name in (*paths.split(", "), path):
        assert (plans(context).sandbox / name).is_file(), name


@then("the child's spawn has a checkpoint")
def spawn_checkpoint(context: Context) -> None:
    (spawn,) = (node for _, node in tree_of(context) if node["type"] == "subplan_spawn")
    found = [
        item["label"]
        for item in plans(context).checkpoints()
        if item["decision_id"] == spawn["decision_id"]
    ]
    assert found == ["spawned: append-1"], found


@then("after an undo the plan is {phase}/{state} with {count:d} steps done")
def after_undo(context: Context, phase: str, state: str, count: int) -> None:
    made = plans(context)
    made.prepare("plan", "undo", made.plan_id, "--yes")
    status = made.status()
    found = (status["phase"], status["state"], status["last_completed_step"] + 1)
    assert found == (phase, state, count), status


@then("the hint says to execute the parent")
def hint_of_parent(context: Context) -> None:
    error = context.world.last.json["error"]
    assert error["hint"] == f"Run `agents plan execute {plans(context).plan_id}`", error


@then("the correction expects the child to take some time")
def expected_time(context: Context) -> None:
    found = context.world.last.json["data"]["queued"]["eta"]
    assert isinstance(found, float) and found >= 0, found
