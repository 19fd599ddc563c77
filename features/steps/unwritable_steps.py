from __future__ import annotations

import os
import subprocess
from pathlib import Path
from unittest.mock import patch

from behave import given, then, when
from behave.runner import Context
from features.support.faults import plan_faults
from features.support.plans import plans
from features.support.situations.applies import applies

from cleveragents.domain.errors import TargetRefusedError
from cleveragents.infrastructure.sandbox.apply.directory_target import DirectoryTarget

REFUSED = TargetRefusedError("files", "the disk is on fire")


@given("the directory can only be read while it is applied to")
def read_only(context: Context) -> None:
    place, real = str(context.world.directory / "files"), os.access

    def access(path: object, mode: int, **options: bool) -> bool:
        return not str(path).startswith(place) and real(path, mode, **options)

    plan_faults.install(context, patch.object(os, "access", access))


@given("the directory fails and cannot be undone while it is applied to")
def fails_twice(context: Context) -> None:
    for act in ("write", "undo"):
        plan_faults.install(context, patch.object(DirectoryTarget, act, side_effect=REFUSED))


@given("the directory has failed and could not be undone when the plan was applied")
def failed_twice(context: Context) -> None:
    with (
        patch.object(DirectoryTarget, "write", side_effect=REFUSED),
        patch.object(DirectoryTarget, "undo", side_effect=REFUSED),
    ):
        plans(context).prepare("plan", "apply", plans(context).plan_id, "--yes", exit_code=7)


@when("the user applies the plan while {what} is immutable")
def immutable(context: Context, what: str) -> None:
    beside = context.world.directory
    place = {
        "the directory": beside / "files",
        "a file of the directory": beside / "files" / "b.txt",
        "the project": context.world.project,
        "the database": beside / "app.db",
    }[what]
    if not _set(place, "+i"):
        context.scenario.skip("the system lets nobody make a file immutable")
        return
    try:
        applies(context).apply()
    finally:
        _set(place, "-i")


def _set(place: Path, flag: str) -> bool:
    done = subprocess.run(["chattr", flag, place], capture_output=True, check=False)
    return done.returncode == 0


@then("nothing of an apply is pending")
def nothing_pending(context: Context) -> None:
    assert not plans(context).query("SELECT * FROM operations WHERE status = 'pending'")
    assert not list((context.world.directory / "files").glob(".cleveragents*"))


@then("the project is as before the apply")
def as_before(context: Context) -> None:
    assert applies(context).seen() == context.before_apply


@then("the plan's state is {one} or {other}")
def state_is(context: Context, one: str, other: str) -> None:
    found = plans(context).status()
    assert f"{found['phase']}/{found['state']}" in (one, other), found


@then("the hint of the error is {hint}")
def hint_is(context: Context, hint: str) -> None:
    found = context.world.last.json["error"]["hint"]
    assert found == plans(context).filled(hint), found
