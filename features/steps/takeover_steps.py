from __future__ import annotations

from unittest.mock import patch

from behave import given, then, when
from behave.runner import Context
from features.support.faults.takeovers import TakeOver
from features.support.plans import plans
from features.support.situations.retention import stored_snapshots
from features.support.trees import difference, tree

from cleveragents.application.fault_points import FaultPoint
from cleveragents.container import Container


def take_over_at(context: Context, *points: FaultPoint) -> None:
    context.take_over = TakeOver(plans(context), *points)
    patched = patch.object(Container, "_faults", context.take_over)
    patched.start()
    context.add_cleanup(patched.stop)


@given("another host takes the plan over at {point:S}")
def at_point(context: Context, point: str) -> None:
    take_over_at(context, FaultPoint(point))


@given("another host takes the plan over at snapshot-taken, once its child has ended")
def at_snapshot_for_merge(context: Context) -> None:
    take_over_at(context, FaultPoint.CHILD_ENDED, FaultPoint.SNAPSHOT_TAKEN)


@given("another host takes the plan over at resource-merged, once a child was merged")
def at_second_merge(context: Context) -> None:
    take_over_at(context, FaultPoint.CHILD_MERGED, FaultPoint.RESOURCE_MERGED)


@when("the user resolves the conflict with {how}")
def resolve(context: Context, how: str) -> None:
    plan = plans(context).plan_id
    plans(context).act("plan", "conflicts", plan, "--take", how, "README.md")


@then("the sandbox has not changed since the plan was taken over")
def unchanged(context: Context) -> None:
    found, now = context.take_over.found, tree(plans(context).sandbox)
    assert found is not None, "nobody took the plan over"
    assert now == found, difference(found, now)


@then("the stored snapshots are those of when the plan was taken over")
def snapshots_unchanged(context: Context) -> None:
    assert context.take_over.stored, "nobody took the plan over"
    assert stored_snapshots(plans(context)) == context.take_over.stored
