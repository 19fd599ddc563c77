from __future__ import annotations

from behave import given, then, when
from behave.runner import Context
from features.support.faults.leftovers import Leftovers
from features.support.tools import Workbench


def leftovers(context: Context) -> Leftovers:
    if "leftovers" not in context:
        context.bench = Workbench(context.world.directory, context.world.environment)
        context.leftovers = Leftovers(context.bench)
        context.world.on_close.callback(context.leftovers.stop)
    return context.leftovers


@given("a daemon of another tool")
def daemon_of_another(context: Context) -> None:
    leftovers(context).start({"CLEVERAGENTS_CALL_ID": "another"})


@given("a run of the plan was killed while its tool and a daemon of it ran")
def killed_run(context: Context) -> None:
    leftovers(context).kill_run()


@given("a process of another plan's tool")
def of_another_plan(context: Context) -> None:
    found = leftovers(context)
    found.start({**found.marks, "CLEVERAGENTS_PLAN_ID": f"{found.plan_id}0"})


@given("a process of the user who named the plan in their environment")
def of_the_user(context: Context) -> None:
    found = leftovers(context)
    found.start({"CLEVERAGENTS_PLAN_ID": found.plan_id})


@given("a process of the plan's tool")
def of_the_plan(context: Context) -> None:
    leftovers(context).start(leftovers(context).marks)


@given("a process of the plan's tool that may not be read")
def of_the_plan_hidden(context: Context) -> None:
    leftovers(context).start(leftovers(context).marks)
    context.hidden = True


@when("what is left of the plan is ended")
def end(context: Context) -> None:
    found = leftovers(context)
    (found.end_hidden if "hidden" in context else found.end)()


@when("what is left of the plan is ended on a system without a process table")
def end_without_table(context: Context) -> None:
    leftovers(context).end_without_table()
    context.world.on_close.callback(leftovers(context).end)


@when("a tool of the plan ends what is left of the plan")
def end_from_inside(context: Context) -> None:
    leftovers(context).end_from_inside()


@when("it has to end and {happens}")
def end_when(context: Context, happens: str) -> None:
    leftovers(context).end_when(happens)


@then("{count:d} processes were ended")
def count_ended(context: Context, count: int) -> None:
    assert leftovers(context).ended == count, leftovers(context).ended


@then("the daemon of the other tool still runs")
@then("that process still runs")
def still_runs(context: Context) -> None:
    assert leftovers(context).runs()


@then("that process still runs: {runs}")
def runs_or_not(context: Context, runs: str) -> None:
    assert leftovers(context).runs() is (runs == "yes")
