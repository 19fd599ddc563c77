from __future__ import annotations

from behave import given, then, when
from behave.runner import Context
from features.support.plans import plans
from features.support.situations.applies import applies
from features.support.sweeps import fault_sweep as faults
from features.support.sweeps.apply_sweep import ApplySweep

from cleveragents.application.fault_points import FaultPoint

WORK = "echo new > new.txt; sed -i s/19/last/ list.txt; rm src/app.py; mkdir -p a/b"
LOOK = "echo > junk; mkdir -p .cache; echo '*' > .cache/.gitignore; cat new.txt"
STAGED = "echo x > staged.txt; git add staged.txt; echo y > loose.txt; echo z >> README.md"


@given("a plan with a validation whose result will be applied to a project with work in progress")
def prepared(context: Context) -> None:
    plans(context).definition["validations"] = [{"name": "look", "run": LOOK}]
    applies(context).prepare("true", WORK)
    plans(context).run()
    applies(context).shell(f"echo m > mine.txt; git add -A; git commit -qm mine; {STAGED}")


@given("it is applied with `{options}`")
def options(context: Context, options: str) -> None:
    context.options = tuple(options.split())


@when("the apply is killed each time it is at {point}, and then asked for again")
def killed(context: Context, point: str) -> None:
    context.found = ApplySweep(applies(context), *options_of(context)).killed(FaultPoint(point))


@when("the apply is killed each time it is at {point}, and then the plan is executed")
def killed_then_executed(context: Context, point: str) -> None:
    sweep = ApplySweep(applies(context))
    context.found = sweep.killed(FaultPoint(point), "plan", "execute", plans(context).plan_id)


@when("the apply fails each time it is at {point}")
def failed(context: Context, point: str) -> None:
    context.found = ApplySweep(applies(context), *options_of(context)).failed(FaultPoint(point))


@when("the apply fails at {point}, and is killed at target-undone")
def killed_while_undoing(context: Context, point: str) -> None:
    sweep = ApplySweep(applies(context))
    context.found = [sweep.killed_while_undoing(FaultPoint(point), "execute")]


@then("the project was each time as after it")
def all_after(context: Context) -> None:
    assert set(context.found) == {"after"}, context.found


@then("the project was each time as before it")
def all_before(context: Context) -> None:
    assert set(context.found) == {"before"}, context.found


@then("the project was each time as before it or as after it")
def either(context: Context) -> None:
    assert set(context.found) <= {"before", "after"}, context.found


def options_of(context: Context) -> tuple[str, ...]:
    return context.options if "options" in context else ()


@given("the apply was killed at {point}")
def was_killed(context: Context, point: str) -> None:
    arguments = ("plan", "apply", plans(context).plan_id, "--yes")
    context.before_apply = applies(context).seen()
    assert faults.killed_at(plans(context), FaultPoint(point), 1, *arguments)


@given("one of these is as the apply left it")
def left_as_it_was(context: Context) -> None:
    (context.world.project / "new.txt").write_text("new\n")


@then("the project has no lock, and list.txt is as the user left it")
def left_alone(context: Context) -> None:
    seen = applies(context).seen()
    assert (seen.files, seen.extra) == (applies(context).before.files, ()), seen


@then('the error tells that "{text}"')
def error_tells(context: Context, text: str) -> None:
    assert text in context.world.last.json["error"]["message"], context.world.last


@then("there is no junk in the sandbox")
def no_junk(context: Context) -> None:
    assert not (plans(context).sandbox / "junk").exists()


@then("there is junk in the sandbox")
def junk(context: Context) -> None:
    assert (plans(context).sandbox / "junk").exists()
