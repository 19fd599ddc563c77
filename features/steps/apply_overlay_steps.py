from __future__ import annotations

import subprocess
from pathlib import Path
from unittest.mock import patch

from behave import given, then
from behave.runner import Context
from features.support.faults import plan_faults
from features.support.faults.strategy_faults import can_mount_in
from features.support.plans import plans
from features.support.situations.applies import Watching, applies
from features.support.trees import tree

from cleveragents.application.fault_points import FaultPoint
from cleveragents.container import Container
from cleveragents.infrastructure.sandbox.files.overlay_mounts import is_overlay, unmount

RESULT = {"a.txt": b"1\n", "d/b.txt": b"2\n", "new.txt": b"3\n"}


@given("a plan that changed a directory in an overlay")
def overlay_plan(context: Context) -> None:
    if not can_mount_in(context.world.directory):
        context.scenario.skip("overlays cannot be mounted here")
        return
    files = context.world.directory / "files"
    (files / "d").mkdir(parents=True)
    for name in ("a.txt", "d/b.txt", "gone.txt"):
        (files / name).write_text("0\n")
    plans(context).definition["resources"] = {
        "files": {"type": "fs-directory", "path": str(files), "strategy": "overlay"}
    }
    work = "echo 1 > a.txt; echo 2 > d/b.txt; echo 3 > new.txt; rm gone.txt"
    plans(context).define([{"step": "work", "does": f"runs `{work}`"}])
    context.applies = applies(context)
    context.world.on_close.callback(lambda: unmount_all(context.world.home))
    plans(context).run()


def unmount_all(home: Path) -> None:
    for place in home.glob("sandboxes/*/files"):
        while is_overlay(place):
            unmount(place)


def overlay_of(context: Context) -> Path:
    return plans(context).sandbox.parent / "files"


def contents(place: Path) -> dict[str, bytes]:
    return {name: node.content for name, node in tree(place).items() if node.kind == "file"}


@given("it is watched whether the overlay is mounted")
def watched(context: Context) -> None:
    place = overlay_of(context)
    context.watching = Watching(FaultPoint.FILE_PLACED, lambda: is_overlay(place))
    plan_faults.install(context, patch.object(Container, "_faults", context.watching))


@given("a process works in the overlay")
def busy(context: Context) -> None:
    process = subprocess.Popen(["sleep", "600"], cwd=overlay_of(context))
    context.world.on_close.callback(process.wait)
    context.world.on_close.callback(process.kill)


@then("the directory holds the result")
def directory_has_result(context: Context) -> None:
    found = contents(context.world.directory / "files")
    assert found == RESULT, found


@then("the overlay was not mounted when files were placed")
def was_not_mounted(context: Context) -> None:
    seen = context.watching.seen
    assert seen and not any(seen), seen


@then("the sandbox is mounted and holds the result")
def mounted_again(context: Context) -> None:
    assert is_overlay(overlay_of(context)) and contents(overlay_of(context)) == RESULT


@then("nothing of the overlay is left")
def nothing_of_overlay(context: Context) -> None:
    assert not is_overlay(overlay_of(context))
    assert not overlay_of(context).parent.exists(), list(overlay_of(context).parent.iterdir())
