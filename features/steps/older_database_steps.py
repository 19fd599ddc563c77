from __future__ import annotations

import shutil
import subprocess

from behave import given, then, when
from behave.runner import Context
from features.support.plans import plans


def refs(context: Context) -> list[str]:
    listing = ["git", "for-each-ref", "--format=%(refname)", "refs/cleveragents/snapshots"]
    done = subprocess.run(
        listing, cwd=plans(context).mirror, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


@given("the database has been backed up")
def back_up(context: Context) -> None:
    context.first_plan = plans(context).plan_id
    shutil.copyfile(plans(context).database, context.world.directory / "backup.db")


@given("a second plan has run, and the first has a new checkpoint")
def newer_work(context: Context) -> None:
    sandbox = plans(context).sandbox
    plans(context).run()
    context.second_plan = plans(context).plan_id
    (sandbox / "new.txt").write_text("new")
    before = set(refs(context))
    plans(context).prepare("plan", "checkpoint", "create", context.first_plan)
    [context.new_snapshot] = set(refs(context)) - before
    context.second_snapshots = [name for name in before if context.second_plan in name]
    assert context.second_snapshots


@given("the database has been restored from the backup")
def restore(context: Context) -> None:
    for suffix in ("-wal", "-shm"):
        (context.world.home / f"state.db{suffix}").unlink(missing_ok=True)
    shutil.copyfile(context.world.directory / "backup.db", plans(context).database)
    plans(context).chosen = context.first_plan


@given("a third plan has run")
def third(context: Context) -> None:
    plans(context).run()


@when('the user deletes the checkpoint "{label}" for good')
def delete(context: Context, label: str) -> None:
    checkpoint = plans(context).checkpoint(label)["checkpoint_id"]
    plans(context).act("plan", "checkpoint", "delete", context.first_plan, checkpoint, "--yes")


@then("the sandbox and the snapshots of the second plan are still there")
def kept(context: Context) -> None:
    place = context.world.home / "sandboxes" / context.second_plan / "project"
    assert (place / "b.txt").exists()
    missing = set(context.second_snapshots) - set(refs(context))
    assert not missing, missing


@then("the new checkpoint of the first plan has its snapshot")
def new_checkpoint(context: Context) -> None:
    assert context.new_snapshot in refs(context)


@then("the second plan is named")
def named(context: Context) -> None:
    assert context.second_plan in context.world.last.stdout, context.world.last
