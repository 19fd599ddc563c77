from __future__ import annotations

from behave import then, when
from behave.runner import Context
from features.support.sandboxes.sandbox_bench import bench
from features.support.situations.untouched import WholeLife


@when("a plan that runs `{command}` is made, run, compared and rolled back")
def whole_life(context: Context, command: str) -> None:
    context.whole_life = WholeLife(bench(context))
    context.whole_life.run(command)


@then("every byte, mode and time in the project is what it was")
def nothing_changed_at_all(context: Context) -> None:
    assert not context.whole_life.changed(times=True), context.whole_life.changed(times=True)


@then("every byte and mode in the project is what it was")
def nothing_changed(context: Context) -> None:
    assert not context.whole_life.changed(times=False), context.whole_life.changed(times=False)


@then("git finds nothing wrong with the mirror")
def mirror_is_sound(context: Context) -> None:
    assert not context.whole_life.problems_of_mirrors(), context.whole_life.problems_of_mirrors()
