from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from typing import NamedTuple

from behave import given, then, when
from behave.runner import Context
from features.support.plans import plans
from features.support.situations.applies import applies
from features.support.sweeps.apply_sweep import without_ids
from features.support.sweeps.disk_sweep import DiskSweep, mounted

from cleveragents.application.fault_points import FaultPoint

WORK = (
    "for i in 1 2 3 4; do head -c 9000 /dev/urandom > n$i; done; rm src/app.py; echo 1 >> list.txt"
)
POINTS = [
    *(FaultPoint.TARGET_PLANNED, FaultPoint.APPLY_JOURNALED, FaultPoint.TARGET_LOCKED),
    *(FaultPoint.OBJECTS_BROUGHT, FaultPoint.FILES_STAGED, FaultPoint.FILE_PLACED),
    *(FaultPoint.TARGET_WRITTEN, FaultPoint.BRANCH_MOVED, FaultPoint.TARGET_SETTLED),
]


_ONLY_FORWARD = (FaultPoint.TARGET_PLANNED, FaultPoint.OBJECTS_BROUGHT)
"""An undo brings nothing into the project that was not there."""


class Situation(NamedTuple):
    """What a command is given, and what it may change."""

    arguments: tuple[str, ...]
    seen: Callable[[], object]


def _apply(context: Context) -> Situation:
    def seen() -> object:
        found, state = applies(context).seen(), plans(context).status()["state"]
        is_applied = state == "applied"
        return (without_ids(applies(context), found) if is_applied else found), is_applied

    return Situation(("plan", "apply", plans(context).plan_id, "--yes"), seen)


def _sandbox(context: Context) -> object:
    status = plans(context).status()
    return plans(context).found(), status["state"], status["last_completed_step"]


def _checkpoint(context: Context) -> Situation:
    (plans(context).sandbox / "more").write_bytes(bytes(range(256)) * 99)
    arguments = ("plan", "checkpoint", "create", plans(context).plan_id)

    def seen() -> object:
        return _sandbox(context), plans(context).labels()

    return Situation(arguments, seen)


def _rollback(context: Context) -> Situation:
    arguments = ("plan", "rollback", plans(context).plan_id, "@first", "--yes")
    return Situation(arguments, lambda: _sandbox(context))


def _undo(context: Context) -> Situation:
    plans(context).prepare(*_rollback(context).arguments)
    arguments = ("plan", "undo", plans(context).plan_id, "--yes")
    return Situation(arguments, lambda: _sandbox(context))


def _undo_of_apply(context: Context) -> Situation:
    without = applies(context).seen()
    plans(context).prepare(*_apply(context).arguments)

    def seen() -> object:
        found, state = applies(context).seen(), plans(context).status()["state"]
        # The logs keep that something was applied; nothing else does.
        found = found._replace(reflogs=())
        is_there = (plans(context).sandbox / "n1").is_file()
        return found, state, found == without._replace(reflogs=()) and is_there

    return Situation(("plan", "undo", plans(context).plan_id, "--yes"), seen)


def _collection(context: Context) -> Situation:
    plan = plans(context).plan_id
    for number in range(6):
        (plans(context).sandbox / "more").write_bytes(bytes([number]) * 5000)
        plans(context).prepare("plan", "checkpoint", "create", plan)
    deleted = ("plan", "checkpoint", "delete", plan, "@-2", "--yes")
    for _ in range(4):
        plans(context).prepare(*deleted)

    def seen() -> object:
        counted = subprocess.run(
            ["git", "count-objects", "-v"],
            cwd=plans(context).mirror,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        return _sandbox(context), plans(context).labels(), re.findall("in-pack: .*", counted)

    return Situation(("gc",), seen)


SITUATIONS = {
    "a plan whose result will be applied": _apply,
    "a plan that a checkpoint is made of": _checkpoint,
    "a plan that is rolled back": _rollback,
    "a plan whose rollback is undone": _undo,
    "a plan whose apply is undone": _undo_of_apply,
    "a plan whose deleted checkpoints are reclaimed": _collection,
}


RESTORE_POINTS = [
    *(FaultPoint.PRESENT_STATE_SAVED, FaultPoint.ROLLBACK_JOURNALED),
    *(FaultPoint.RESOURCE_RESTORED, FaultPoint.ROLLBACK_RECORDED),
]


@given("{situation}, and {place} on a small disk")
def small_disk(context: Context, situation: str, place: str) -> None:
    _on_disk(context, situation, place, "tmpfs")


@given("{situation}, and {place} on a small disk with {kind}")
def small_disk_of_kind(context: Context, situation: str, place: str, kind: str) -> None:
    _on_disk(context, situation, place, kind)


def _on_disk(context: Context, situation: str, place: str, kind: str) -> None:
    world = context.world
    applies(context).prepare("true", WORK)
    disk, other = world.project, world.home
    if place == "the home directory":
        disk, other = other, disk
    if mounted(context, disk, kind):
        plans(context).run()
        given_ = SITUATIONS[situation](context)
        context.sweep = DiskSweep(plans(context), disk, [other], *given_)


@when("the command is tried with ever more free {unit}, until it succeeds")
def tried(context: Context, unit: str) -> None:
    whole = context.config.userdata.get("sweep") == "whole"
    context.found = context.sweep.at_each(unit, whole=whole)


@when("the disk fills when the apply is at each of its points, and the apply {goes}")
def filled(context: Context, goes: str) -> None:
    context.found = context.sweep.at_each_point(POINTS, fails=goes == "fails")


@when("the disk fills when the undo of the apply is at each of its points, and it {goes}")
def filled_while_undoing(context: Context, goes: str) -> None:
    points = [point for point in POINTS if point not in _ONLY_FORWARD]
    context.found = context.sweep.at_each_point(points, fails=goes == "fails")


@when("the disk fills when the restore is at each of its points")
def filled_while_restoring(context: Context) -> None:
    context.found = context.sweep.at_each_point(RESTORE_POINTS, fails=False, may_stop=True)


@then("nothing was lost in any try, and the command succeeded when there was room")
def nothing_lost(context: Context) -> None:
    """Each try has checked that; what is left to check is that the disk was really full."""
    assert any("exit" in line for line in context.found), context.found
    print("\n".join(context.found))
