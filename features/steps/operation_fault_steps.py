from __future__ import annotations

import shutil

from behave import given, then, when
from behave.runner import Context
from features.steps.correction_steps import standing
from features.support.plans import plans
from features.support.sweeps import fault_sweep as faults
from features.support.sweeps import operation_sweep

from cleveragents.application.fault_points import FaultPoint


@given("a plan with a decision that has changed a repository, a directory and a database")
def prepared(context: Context) -> None:
    operation_sweep.prepare(plans(context))


@given("the operation is {name}")
def operation_is(context: Context, name: str) -> None:
    plan = plans(context).plan_id
    if name == "undo":
        back = plans(context).rollback("before execution", "--yes")
        operation_sweep.done(plans(context), *back)
        arguments = ("plan", "undo", plan, "--yes")
    elif name == "part":
        named = ("--path", "project/a.txt", "--path", "base", "--yes")
        arguments = tuple(plans(context).rollback("after change 1", *named))
    elif name == "rollback":
        arguments = tuple(plans(context).rollback("after change 1", "--yes"))
    else:
        mode = "append" if name == "append" else "revert"
        choose = () if name == "append" else ("--choose", "three")
        decision = standing(context, "Which?")
        arguments = ("plan", "correct", decision, "--mode", mode, "-g", "x", *choose, "--yes")
    if name != "append":
        context.sweep = operation_sweep.Sweep(plans(context), arguments)
    context.arguments = arguments


@given("it was killed when one resource was restored")
def was_killed(context: Context) -> None:
    point = FaultPoint.RESOURCE_RESTORED
    assert faults.killed_at(plans(context), point, 1, *context.arguments)


@given("the sandboxes have been deleted")
def sandboxes_deleted(context: Context) -> None:
    root = context.world.home / "sandboxes" / plans(context).plan_id
    for place in root.iterdir():
        if place.is_dir():
            shutil.rmtree(place)


@then("everything is where it leads")
def is_after(context: Context) -> None:
    assert context.sweep.state() == context.sweep.after, context.sweep.state()


@when("it is killed each time it is at {point}, and then asked for again")
def kill(context: Context, point: str) -> None:
    context.found = context.sweep.killed(FaultPoint(point))


@when("it is killed each time it is at {point}, and then redone and asked for again")
def kill_and_redo(context: Context, point: str) -> None:
    redo = ("plan", "redo", plans(context).plan_id, "--yes")
    context.found = context.sweep.killed(FaultPoint(point), *redo)


@when("it fails each time it is at {point}")
def fail(context: Context, point: str) -> None:
    context.found = context.sweep.failed(FaultPoint(point))


@when("the user asks for it again")
def ask_again(context: Context) -> None:
    context.world.agents(*context.arguments, "--format", "json")


@when("the user asks to undo instead")
def ask_to_undo_instead(context: Context) -> None:
    plan = plans(context).plan_id
    context.world.agents("plan", "undo", plan, "--yes", "--format", "json")


@when("it is killed each time it is at child-appended, and then inspected")
def kill_append(context: Context) -> None:
    context.children = []
    parent = plans(context).plan_id

    def check(_: int) -> None:
        found = plans(context).query(
            "SELECT p.state, d.decision_type, s.decision_type, c.state FROM plans p"
            " JOIN decisions d ON d.plan_id = p.plan_id"
            " JOIN decisions s ON s.decision_id = p.spawn_decision_id"
            " JOIN correction_attempts c ON c.child_plan_id = p.plan_id"
            " WHERE p.parent_plan_id = ?",
            parent,
        )
        context.children.append(found)

    plans(context).chosen = parent
    point = FaultPoint.CHILD_APPENDED
    assert faults.sweep(plans(context), point, context.arguments, check) == 1


@then("everything was each time where it leads")
def all_after(context: Context) -> None:
    for number, found in enumerate(context.found, 1):
        assert found == context.sweep.after, (number, found, context.sweep.after)


@then("everything was each time as before")
def all_before(context: Context) -> None:
    for number, found in enumerate(context.found, 1):
        assert found == context.sweep.before, (number, found, context.sweep.before)


@then("it warns that an interrupted {kind} was completed")
def warns_of(context: Context, kind: str) -> None:
    messages = context.world.last.json["messages"]
    starts = f"An interrupted {kind} to "
    assert any(
        text.removeprefix("Warning: ").startswith(starts) and text.endswith(" was completed")
        for text in messages
    ), messages


@then("there was each time one child plan with its decisions")
def one_child(context: Context) -> None:
    expected = [("queued", "prompt_definition", "subplan_spawn", "complete")]
    assert context.children == [expected], context.children
