from __future__ import annotations

from unittest.mock import patch

from behave import given, then
from behave.runner import Context
from features.support.faults import plan_faults
from features.support.faults.apply_faults import make_database
from features.support.plans import data, plans
from features.support.situations.applies import applies
from features.support.sweeps import fault_sweep as faults

from cleveragents.application.fault_points import FaultPoint
from cleveragents.infrastructure.sandbox.files import uncaptured_files
from cleveragents.infrastructure.sandbox.git.objects import ObjectChangedError


@given("a plan on a database that also left notes.txt beside it")
def notes_beside(context: Context) -> None:
    make_database(context.world.directory / "app.db")
    plans(context).definition["resources"] = {"base": {"type": "sqlite", "path": "../app.db"}}
    plans(context).define([{"step": "work", "does": "runs `echo 22 > notes.txt`"}])
    plans(context).run()


@given("a plan on a directory with the file `large` of 2000 bytes that ran `{run}`")
def large_from_start(context: Context, run: str) -> None:
    place = context.world.directory / "files"
    place.mkdir()
    (place / "large").write_bytes(bytes(2000))
    plans(context).definition["resources"] = {"files": {"type": "fs-directory", "path": "../files"}}
    plans(context).define([{"step": "work", "does": f"runs `{run}`"}])
    plans(context).run()


@given("the unsaved apply was killed at {point}")
def unsaved_killed(context: Context, point: str) -> None:
    arguments = ("plan", "apply", plans(context).plan_id, "--yes")
    assert faults.killed_at(plans(context), FaultPoint(point), 1, *arguments)


@given("the user has tried it with `{options}`")
def tried(context: Context, options: str) -> None:
    plans(context).prepare("plan", "apply", plans(context).plan_id, *options.split())


@given("the plan has been applied with something left out")
def applied_with_rest(context: Context) -> None:
    plans(context).prepare("plan", "apply", plans(context).plan_id, "--yes", exit_code=3)


@given("files change while they are read")
def changing(context: Context) -> None:
    error = ObjectChangedError("it")
    plan_faults.install(context, patch.object(uncaptured_files, "hash_file", side_effect=error))


@then("left out, with {size:d} bytes, are {files}")
def left_out(context: Context, size: int, files: str) -> None:
    found = data(context)["left_out"]
    named = "; ".join(f"{item['path']} ({item['reason']})" for item in found["files"])
    assert (named, found["size_bytes"], found["count"]) == (files, size, len(found["files"])), found


@then("its sandbox holds `{name}`")
def sandbox_holds(context: Context, name: str) -> None:
    assert (plans(context).sandbox / name).exists()


@then("the status of the answer is {status}")
def answer_status(context: Context, status: str) -> None:
    assert context.world.last.json["status"] == status, context.world.last


@then('the answer\'s messages include "{text}"')
def messages_include(context: Context, text: str) -> None:
    assert text in context.world.last.json["messages"], context.world.last


@then("the difference is {path} {status}")
def difference_is(context: Context, path: str, status: str) -> None:
    found = context.world.last.json["data"]
    assert [(item["path"], item["status"]) for item in found["files"]] == [(path, status)], found
    assert "diff --git" not in str(found), found


@then("the project has {names}")
def project_has(context: Context, names: str) -> None:
    assert context.world.last.exit_code in (0, 3), context.world.last
    sandbox, project = plans(context).sandbox, applies(context).project
    wanted = names.split()
    for name in ("a.log", "out/d/b.log", "out/l"):
        place = project / name
        assert (place.is_symlink() or place.exists()) == (name in wanted), name
    if "a.log" in wanted:
        assert (project / "a.log").stat().st_mode & 0o777 == 0o600
    assert sandbox.exists() == (len(wanted) < 3)
