from __future__ import annotations

import tempfile
from pathlib import Path
from unittest.mock import patch

from behave import given, then
from behave.runner import Context
from features.support.plans import data


@given("an empty directory for temporary files")
def temporary_directory(context: Context) -> None:
    context.temporary = context.world.directory / "tmp"
    context.temporary.mkdir()
    context.world.environment["TMPDIR"] = str(context.temporary)
    # In this process the place has been decided already.
    place = patch.object(tempfile, "tempdir", str(context.temporary))
    place.start()
    context.add_cleanup(place.stop)


@then("the directory for temporary files is empty")
def temporary_empty(context: Context) -> None:
    left = list(context.temporary.iterdir())
    assert not left, left


@then("the user has no plans and no home directory")
def no_state(context: Context) -> None:
    assert not context.world.home.exists(), list(context.world.home.iterdir())
    assert not list(context.world.project.iterdir())


@then("it made {count:d} checkpoints and went back to the sixth")
def made(context: Context, count: int) -> None:
    checkpoints = data(context)["checkpoints"]
    assert len(checkpoints) == count and data(context)["rolled_back_to"] == checkpoints[5]


@then("it restored {names}")
def restored(context: Context, names: str) -> None:
    expected = [{"file": name, "action": "restored"} for name in names.split(", ")]
    assert data(context)["changes_reverted"] == expected, data(context)


@then("the kept directory has the project, the plan and its checkpoints")
def kept(context: Context) -> None:
    report = data(context)
    place = Path(report["directory"])
    assert {path.name for path in place.iterdir()} == {"project", "home", "plan.yaml"}
    listed = context.world.agents_here(
        "plan",
        "checkpoint",
        "list",
        report["plan_id"],
        "--all",
        "--format",
        "json",
        env={"CLEVERAGENTS_HOME": str(place / "home")},
    ).json["data"]["checkpoints"]
    assert [item["checkpoint_id"] for item in listed][:10] == report["checkpoints"], listed
