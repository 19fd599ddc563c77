from __future__ import annotations

from behave import given, then, when
from behave.runner import Context
from features.support.situations.earlier_home import (
    ARCHIVE,
    FIXED,
    REPORTS,
    EarlierHome,
    lost,
    unpack,
)


@given("the home directory that version 0.1.0 left behind")
def earlier_home(context: Context) -> None:
    world = context.world
    context.expected = unpack(ARCHIVE, world.directory)
    context.earlier = EarlierHome(world.directory, context.expected["plans"], world.agents)


@when("the user asks for every report on every plan")
def ask_for_reports(context: Context) -> None:
    home = context.earlier
    context.found = {plan: {name: home.report(name, plan) for name in REPORTS} for plan in home.ids}


@then("each report has what it had in that version")
def reports_are_the_same(context: Context) -> None:
    missing = lost(context.expected["reports"], context.found)
    assert not missing, "\n".join(missing)


@when("the user rolls the plan {plan} back to each of its checkpoints")
def roll_back_to_each(context: Context, plan: str) -> None:
    context.plan = plan
    context.found = context.earlier.rollbacks(plan)


@then("each rollback ends as in that version, with the same files and state hashes")
def rollbacks_are_the_same(context: Context) -> None:
    different = lost(context.expected["rollbacks"][context.plan], context.found)
    assert not different, "\n".join(different)


@when("the user {action} from the earlier version")
def act(context: Context, action: str) -> None:
    context.action = action
    context.found = context.earlier.act(action)


@then("it ends as in that version, with the same files")
def ends_the_same(context: Context) -> None:
    expected = context.expected["actions"][context.action] | FIXED.get(context.action, {})
    different = lost(expected, context.found)
    assert not different, "\n".join(different)
