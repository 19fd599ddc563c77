from __future__ import annotations

from behave import given, then, when
from behave.runner import Context
from features.support.plans import plans
from features.support.sandboxes import budget_bench as support
from features.support.sandboxes.sandbox_bench import bench
from features.support.sandboxes.watching_bench import objects_of


@given("snapshots are made under {words}")
def limited(context: Context, words: str) -> None:
    support.allow(bench(context), words)


@given("a checkpoint was made under {words}")
def made_under(context: Context, words: str) -> None:
    support.allow(bench(context), words)
    bench(context).moments["before"] = bench(context).look()


@given("the disk is nearly full")
def nearly_full(context: Context) -> None:
    context.objects = objects_of(bench(context))
    bench(context).surroundings = support.nearly_full_disk


@given("the variable {name} is gone again")
def variable_gone(context: Context, name: str) -> None:
    del context.world.environment[name]


@when("the agent runs `{command}`, and a checkpoint is made under {words}")
def run_and_checkpoint_under(context: Context, command: str, words: str) -> None:
    bench(context).agent(command)
    support.allow(bench(context), words)
    bench(context).moments["after"] = bench(context).look()


@then("the first checkpoint left out {first}, and the second {second}")
def left_out_twice(context: Context, first: str, second: str) -> None:
    for moment, paths in (("before", first), ("after", second)):
        found = support.left_out(bench(context), moment)
        assert found == ([] if paths == "nothing" else paths.split("; ")), (moment, found)
    moments = bench(context).moments
    assert all(
        moments[name].checkpoint.partial == ("deadline" in paths)
        for name, paths in (("before", first), ("after", second))
    ), moments


@then("nothing has been written to the store")
def store_unchanged(context: Context) -> None:
    assert objects_of(bench(context)) == context.objects


@then('the checkpoint "{label}" lists {path} as left out, because {reason}')
def listed_as_left_out(context: Context, label: str, path: str, reason: str) -> None:
    listed = plans(context).checkpoint(label)["not_captured"]
    assert {"path": path, "reason": reason} in listed, listed


@then('the checkpoint "{label}" lists nothing as left out and is whole')
def listed_whole(context: Context, label: str) -> None:
    listed = plans(context).checkpoint(label)
    assert (listed["not_captured"], listed["partial"]) == ([], False), listed
