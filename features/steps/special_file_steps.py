from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

from behave import given, then, when
from behave.runner import Context
from features.steps.apply_overlay_steps import unmount_all
from features.support.faults.strategy_faults import can_mount_in
from features.support.plans import Plans, plans
from features.support.situations.applies import applies
from features.support.sweeps.operation_sweep import Throwing
from features.support.trees import tree

from cleveragents.application.fault_points import FaultPoint
from cleveragents.container import Container

START = "echo 1 > f; mkdir -p d/in; echo 2 > d/in/x"
SOCKET = (
    f"socket() {{ {sys.executable} -c "
    "'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' \"$1\"; }; "
)
DIRECTORY = {"files": {"type": "fs-directory", "path": "../files"}}


def _shell(place: Path, command: str) -> None:
    subprocess.run(["/bin/sh", "-ec", SOCKET + command], cwd=place, check=True)


def _seen(context: Context) -> dict[str, object]:
    return dict(tree(context.place, without=frozenset({".git"})))


def _plan_on(context: Context, strategy: str, work: str) -> Plans:
    """Makes a resource of the kind, and a plan that does some work on it."""
    work_on, project = plans(context), context.world.project
    applies(context)
    if strategy == "git_worktree":
        _shell(project, f"{START}; git add -A; git -c user.name=x -c user.email=x@y commit -qm s")
        context.original = project
    else:
        context.original = context.world.directory / "files"
        context.original.mkdir()
        _shell(context.original, START)
        work_on.definition["resources"] = {"files": {**DIRECTORY["files"], "strategy": strategy}}
        context.world.on_close.callback(lambda: unmount_all(context.world.home))
    work_on.define([{"step": "work", "does": f"runs `{work}`"}])
    work_on.run()
    name = "project" if strategy == "git_worktree" else "files"
    context.place = context.world.home / "sandboxes" / work_on.plan_id / name
    return work_on


@given("a plan on a directory in a sandbox made by {strategy}")
def plan_in_sandbox(context: Context, strategy: str) -> None:
    if strategy == "overlay" and not can_mount_in(context.world.directory):
        context.scenario.skip("overlays cannot be mounted here")
        return
    _plan_on(context, strategy, "true")
    context.then, context.checkpoint = _seen(context), "@first"


@given("the agent has then run `{command}`")
def agent_ran(context: Context, command: str) -> None:
    _shell(context.place, command)
    context.now = _seen(context)


@given("the user has made a checkpoint of it")
def checkpoint_made(context: Context) -> None:
    made = context.world.process_agents(
        *("plan", "checkpoint", "create", plans(context).plan_id, "--format", "json")
    )
    assert made.exit_code == 0, made
    context.then, context.checkpoint = _seen(context), "@latest"


def _rollback(context: Context, *options: str) -> tuple[str, ...]:
    return ("plan", "rollback", plans(context).plan_id, context.checkpoint, *options)


@when("the user rolls back to the first checkpoint, and then undoes that")
@when("the user rolls back to the checkpoint, and then undoes that")
def back_and_undone(context: Context) -> None:
    world = context.world
    context.preview = world.process_agents(*_rollback(context, "--dry-run", "--format", "json"))
    assert _seen(context) == context.now
    context.rollback = world.process_agents(*_rollback(context, "--yes", "--format", "json"))
    context.found = [_seen(context)]
    undone = world.process_agents("plan", "undo", plans(context).plan_id, "--yes")
    assert undone.exit_code == 0, undone
    context.found.append(_seen(context))


@when("the rollback to the first checkpoint fails after the files are restored")
def rollback_fails(context: Context) -> None:
    with patch.object(Container, "_faults", Throwing(FaultPoint.RESOURCE_RESTORED, 1)):
        context.world.agents_here(*_rollback(context, "--yes"))
    assert "the disk is on fire" in context.world.last.stderr, context.world.last


@when('the user answers "{answer}" when asked for a rollback to the first checkpoint')
def asked(context: Context, answer: str) -> None:
    plans(context).converse(answer, *_rollback(context))


@then("the sandbox was as at the first checkpoint, and then as the agent left it")
@then("the sandbox was as at the checkpoint, and then as the agent left it")
def as_then_and_now(context: Context) -> None:
    assert context.rollback.exit_code == 0, context.rollback
    assert context.found == [context.then, context.now], context.found


@then("the sandbox was as at the first checkpoint, and then without {path}")
def as_then_and_now_without(context: Context, path: str) -> None:
    assert context.rollback.exit_code == 0, context.rollback
    del context.now[path]
    assert context.found == [context.then, context.now], context.found


@then("the agent's special files are still there")
def as_left(context: Context) -> None:
    assert _seen(context) == context.now, _seen(context)


@then("the rollback named {path} as replaced")
def named_replaced(context: Context, path: str) -> None:
    for outcome in (context.preview, context.rollback):
        found = [item["path"] for item in outcome.json["data"]["special_files_replaced"]]
        assert found == [path], outcome


@then("the preview said `{text}`")
def preview_said(context: Context, text: str) -> None:
    said = context.preview.json["messages"]
    assert text in [line.replace("`", "") for line in said], said
    assert context.preview.json["status"] == "warn", context.preview


@given("a plan on {target} that wrote `f` and `new`")
def plan_that_wrote(context: Context, target: str) -> None:
    strategy = "git_worktree" if target == "a repository" else "filesystem_copy"
    _plan_on(context, strategy, "echo 5 > f; echo 6 > new")


@given("the user has since run `{command}` there")
def user_ran_there(context: Context, command: str) -> None:
    _shell(context.original, command)
    context.place = context.original
    context.now, context.state = _seen(context), applies(context).seen()


@then("everything there is as the user left it")
def all_as_left(context: Context) -> None:
    assert _seen(context) == context.now, _seen(context)
    assert applies(context).seen() == context.state
