from __future__ import annotations

from behave import given, then
from behave.runner import Context
from features.steps.apply_steps import define_with
from features.support.plans import plans
from features.support.situations.applies import applies
from features.support.sweeps.disk_sweep import fill, mounted
from features.support.trees import difference, tree

SELF_IGNORED = "mkdir -p .cache/d && echo '*' > .cache/.gitignore && echo 1 > .cache/d/f"
IGNORED = (
    "printf '*.log\\nout/\\nnode_modules/\\n' > .gitignore; echo 1 > a.log; mkdir -p out/d;"
    " echo 1 > out/f; ln -s list.txt link.log; mkdir node_modules; echo 1 > node_modules/f"
)


@given("a plan that was held back by a validation that left a directory that ignores itself")
def held_back_by_cache(context: Context) -> None:
    flag = context.world.directory / "flag"
    run = f"{SELF_IGNORED} && test -e {flag}"
    define_with(context, [{"name": "tests", "run": run, "mode": "required"}])
    plans(context).run()
    assert applies(context)  # The sandbox is to stay.
    plans(context).prepare("plan", "apply", plans(context).plan_id, "--yes", exit_code=4)
    flag.touch()


@given("a plan that left ignored files, with the validation `{run}`")
def left_ignored(context: Context, run: str) -> None:
    plans(context).definition["validations"] = [{"name": "look", "run": run}]
    applies(context).prepare("true", IGNORED)
    plans(context).run()
    context.left_by_plan = tree(plans(context).sandbox)


@given("the disk next to the sandbox is full")
def no_room(context: Context) -> None:
    """The sandbox is on a disk of its own, with less room than an ignored file needs."""
    place = plans(context).sandbox.parent
    (plans(context).sandbox / "a.log").write_bytes(bytes(9 << 20))
    if mounted(context, place, "tmpfs"):
        fill(place, place / "ballast", pages=2 << 10)


@then("the sandbox has no {name}")
def sandbox_lacks(context: Context, name: str) -> None:
    assert not (plans(context).sandbox / name).exists()


@then("the sandbox is what the plan left")
def sandbox_as_left(context: Context) -> None:
    assert context.world.last.exit_code in (0, 3), context.world.last
    found = tree(plans(context).sandbox)
    assert found == context.left_by_plan, difference(context.left_by_plan, found)
    assert not list(plans(context).sandbox.parent.glob(".project.uncaptured*"))


@then("every snapshot has a record")
def all_recorded(context: Context) -> None:
    found = context.world.agents_here("doctor", "--format", "json").json["data"]["checks"]
    assert all(item["status"] == "ok" for item in found if "orphaned" in item["name"]), found
