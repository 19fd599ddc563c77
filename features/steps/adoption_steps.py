from __future__ import annotations

from pathlib import Path
from typing import Any

from behave import given, then, when
from behave.runner import Context
from features.support.plans import plans
from features.support.sweeps import fault_sweep as faults

from cleveragents.application.fault_points import FaultPoint

ADOPT = ("doctor", "--adopt", "--format", "json")


def second_sandbox(context: Context) -> Path:
    return context.world.home / "sandboxes" / context.second_plan / "project"


def shown(context: Context, *arguments: str) -> dict[str, Any]:
    """Asks apart from the scenario's own command."""
    said = context.world.outcome
    found = context.world.agents_here(*arguments, "--format", "json")
    context.world.outcome = said
    assert found.exit_code == 0, found
    return found.json["data"]


def checkpoints(context: Context, plan_id: str) -> list[dict[str, Any]]:
    return shown(context, "plan", "checkpoint", "list", plan_id)["checkpoints"]


@given("everything has been adopted")
def adopted(context: Context) -> None:
    done = context.world.agents_here(*ADOPT)
    assert done.exit_code == 0, done


@given("the user has changed a file in the sandbox of the second plan")
def changed(context: Context) -> None:
    (second_sandbox(context) / "later.txt").write_text("later")


@given("nothing is noted beside the sandbox of the second plan")
def no_note(context: Context) -> None:
    second_sandbox(context).with_name(".project.origin.json").unlink()


@given("nothing is noted beside the sandbox of the plan")
def no_note_of_first(context: Context) -> None:
    plans(context).sandbox.with_name(".project.origin.json").unlink()


@given("the database was lost after that")
def lost(context: Context) -> None:
    context.lost_sandbox = plans(context).sandbox
    for path in context.world.home.glob("state.db*"):
        path.unlink()


@when("the user has everything adopted")
def adopt(context: Context) -> None:
    context.world.agents(*ADOPT)


@when("the user has everything adopted from another directory")
def adopt_elsewhere(context: Context) -> None:
    elsewhere = context.world.directory / "somewhere"
    elsewhere.mkdir()
    context.world.agents(*ADOPT, cwd=elsewhere)


@when("adopting is killed at {point}, and then repeated")
def killed(context: Context, point: str) -> None:
    assert faults.killed_at(plans(context), FaultPoint(point), 1, *ADOPT)
    context.world.agents(*ADOPT)


@when('the user runs "agents plan {command}" with the second plan')
def use_second(context: Context, command: str) -> None:
    first = checkpoints(context, context.second_plan)[0]["checkpoint_id"]
    words = command.replace("PLAN", context.second_plan).replace("CHECKPOINT", first).split()
    context.world.agents("plan", *words, "--format", "json")


@when("the user rolls the first plan back to its adopted checkpoint")
def back_to_adopted(context: Context) -> None:
    (plans(context).sandbox / "new.txt").unlink()
    context.world.agents_here("plan", "checkpoint", "create", context.first_plan)
    [found] = [
        item
        for item in checkpoints(context, context.first_plan)
        if item["label"].startswith("adopted")
    ]
    arguments = (context.first_plan, found["checkpoint_id"], "--yes", "--format", "json")
    context.world.agents("plan", "rollback", *arguments)


@then("the unknown plan is named with its project, size, snapshots and age")
def told(context: Context) -> None:
    checks = context.world.last.json["data"]["checks"]
    [found] = [item for item in checks if item["name"] == "quarantine"]
    [plan] = found["details"]["plans"]
    assert plan["plan_id"] == context.second_plan, plan
    assert plan["name"] == "local/shop", plan
    assert plan["project"] == str(context.world.project), plan
    assert plan["size_bytes"] > 0 and plan["snapshots"] >= 3 and plan["changed_at"], plan
    for part in (context.second_plan, str(context.world.project), "UTC"):
        assert part in found["message"], found


@then("the second plan is execute/complete, with its name and its checkpoints")
def complete(context: Context) -> None:
    _complete(context, "local/shop")


@then("the second plan is execute/complete, with its id as its name")
def complete_by_id(context: Context) -> None:
    _complete(context, context.second_plan)


def _complete(context: Context, name: str) -> None:
    status = shown(context, "plan", "status", context.second_plan)
    assert (status["phase"], status["state"]) == ("execute", "complete"), status
    assert status["name"] == name, status
    known = {item["sandbox_ref"] for item in checkpoints(context, context.second_plan)}
    stored = {name.rpartition("/")[2] for name in context.second_snapshots}
    assert stored <= known, (stored, known)
    verified = shown(context, "plan", "checkpoint", "verify", context.second_plan)
    assert verified["summary"]["damaged"] == 0, verified


@then("the project has a.txt and b.txt")
def applied(context: Context) -> None:
    for name in ("a.txt", "b.txt"):
        assert (context.world.project / name).exists(), name


@then("the second plan's sandbox has neither file")
def rolled_back(context: Context) -> None:
    for name in ("a.txt", "b.txt"):
        assert not (second_sandbox(context) / name).exists(), name


@then("the second plan has no sandbox")
def discarded(context: Context) -> None:
    assert not second_sandbox(context).exists()


@then("the first plan's sandbox has new.txt")
def first_has_new(context: Context) -> None:
    assert (plans(context).sandbox / "new.txt").read_text() == "new"


@then('the last checkpoint of the second plan is "{label}"')
def last_checkpoint(context: Context, label: str) -> None:
    assert checkpoints(context, context.second_plan)[-1]["label"] == label


@then("the sandbox of the lost plan is still there")
def still_there(context: Context) -> None:
    assert (context.lost_sandbox / "b.txt").exists()


@then("the plan is execute/complete with its sandboxes and checkpoints")
def complete_with_all(context: Context) -> None:
    status = shown(context, "plan", "status", context.first_plan)
    assert (status["phase"], status["state"]) == ("execute", "complete"), status
    found = checkpoints(context, context.first_plan)
    assert {item["resource"] for item in found} == {"project", "data"}, found
    first = found[0]["checkpoint_id"]
    shown(context, "plan", "rollback", context.first_plan, first, "--yes")
    sandbox = context.world.home / "sandboxes" / context.first_plan / "project"
    assert (sandbox / "run.sh").exists(), sandbox
