from __future__ import annotations

from behave import given, then, when
from behave.runner import Context
from features.support.plans import plans
from features.support.sandboxes import many_files

from cleveragents.testing.trees import differing, read_tree


@given("a directory of {count:d} files and a directory in it")
def directory(context: Context, count: int) -> None:
    context.source = context.world.directory / "source"
    (context.source / "inner").mkdir(parents=True)
    (context.source / "inner" / "file").write_text("1\n")
    for number in range(count):
        (context.source / f"{number}").write_text(f"{number}\n")


@when("a program that holds 1,100 files open runs the plan")
def run_plan(context: Context) -> None:
    file = str(plans(context).file)
    context.world.python(many_files.running_agents("plan", "run", file, "--format", "json"))


@when("a program that holds 1,100 files open copies the directory")
def copy(context: Context) -> None:
    context.target = context.world.directory / "target"
    context.target.mkdir()
    context.world.python(many_files.copying(str(context.source), str(context.target)))


@when("a program that holds 1,100 files open waits for the end of its parent")
def wait_for_parent(context: Context) -> None:
    context.world.python(many_files.WAITING_FOR_PARENT)


@then("the copy is like the directory")
def is_copied(context: Context) -> None:
    assert not differing(read_tree(context.source), read_tree(context.target))
