from __future__ import annotations

from behave import given, then, when
from behave.runner import Context
from features.support.plans import data, plans


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
    end(context, "cancel", "--discard")


@given("a plan that was held back and was cancelled")
def held_back_and_cancelled(context: Context) -> None:
    plans(context).definition["validations"] = [{"name": "never", "run": "false"}]
    run(context, "writes new.txt")
    plans(context).prepare("plan", "apply", plans(context).plan_id, "--yes", exit_code=4)
    end(context, "cancel")


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
