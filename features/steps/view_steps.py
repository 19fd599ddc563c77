from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from behave import given, then, when
from behave.runner import Context
from features.steps.session_steps import WORK_OF_EVERY_KIND
from features.support.sandboxes.view_look import shown
from features.support.world import World

from cleveragents.infrastructure.sandbox.files.overlay_mounts import bind, unmount

_NOBODY = "65534"
_GIT = {
    "GIT_AUTHOR_NAME": "agent",
    "GIT_AUTHOR_EMAIL": "agent@example.invalid",
    "GIT_COMMITTER_NAME": "agent",
    "GIT_COMMITTER_EMAIL": "agent@example.invalid",
}
_MORE = (
    "mkdir many; for i in 1 2 3 4 5; do echo $i > many/f$i; done; mkdir many/sub; "
    "echo s > many/sub/s; echo h > hard1; ln hard1 hard2; echo .env > .gitignore; "
    "echo secret > .env; mkdir -p empty"
)


@cache
def _refusal() -> str:
    """Returns why private views are not possible here, or nothing."""
    program = "from cleveragents.infrastructure.sandbox.files.views import prepare; prepare()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    return done.stderr.decode().strip().rpartition("\n")[2]


def _require_views(context: Context) -> World:
    world: World = context.world
    world.runner = "process"  # A process that entered a view stays in it.
    if _refusal():
        context.scenario.skip(f"private views are not permitted here: {_refusal()}")
    return world


def _look(world: World, script: str | None = None) -> subprocess.CompletedProcess[bytes]:
    (place,) = world.home.glob("sandboxes/*/project/view")
    extra = [] if script is None else [script]
    module = "features.support.sandboxes.view_look"
    done = subprocess.run(
        [sys.executable, "-m", module, str(place), *extra],
        env={**world.environment, **_GIT, "PYTHONPATH": str(Path.cwd())},
        capture_output=True,
        check=False,
    )
    assert script is not None or done.returncode == 0, done
    return done


def _shown(world: World) -> dict[str, Any]:
    return json.loads(_look(world).stdout)


def _run(world: World, script: str) -> None:
    work = WORK_OF_EVERY_KIND if script == "changes of every kind" else script
    command = ("--isolation", "private", "--", "sh", "-c", work)
    world.agents("run", *command, env={**world.environment, **_GIT})


@given("the project has hard links, a large directory and the ignored file `.env`")
def more_files(context: Context) -> None:
    world: World = context.world
    subprocess.run(["sh", "-ec", _MORE], cwd=world.project, check=True)
    context.before = shown(world.project)


@given("a session in a private view has run `{script}`")
def view_has_run(context: Context, script: str) -> None:
    world = _require_views(context)
    context.before = shown(world.project)
    _run(world, script.replace("\\\\", "\\"))
    assert world.outcome.exit_code == 0, world.outcome


@when("a session in a private view runs `{script}`")
def view_runs(context: Context, script: str) -> None:
    _run(_require_views(context), script)


@given("the view is remembered")
def remember_view(context: Context) -> None:
    context.remembered = _shown(context.world)


@given("somebody in the view runs `{script}`")
def run_in_view(context: Context, script: str) -> None:
    done = _look(context.world, script)
    assert done.returncode == 0, done


@given("the view was rolled back to the start")
@when("the view is rolled back to the start")
def roll_view_back(context: Context) -> None:
    _roll_back(context, "@first")


@when("the view is rolled back to `{checkpoint}`")
def roll_view_back_to(context: Context, checkpoint: str) -> None:
    _roll_back(context, checkpoint)


def _roll_back(context: Context, checkpoint: str) -> None:
    outcome = context.world.agents("rollback", checkpoint, "--yes", "--format", "json")
    assert outcome.exit_code == 0, outcome
    assert outcome.json["data"]["verified"], outcome
    context.rolled_back = outcome.json["data"]


@when("the user undoes that")
def undo_that(context: Context) -> None:
    outcome = context.world.agents("undo", "--yes", "--format", "json")
    assert outcome.exit_code == 0, outcome
    assert outcome.json["data"]["verified"], outcome


def _same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert found["files"] == wanted["files"], (found["files"], wanted["files"])
    differing = {
        path
        for path in found["git"].keys() | wanted["git"].keys()
        if found["git"].get(path) != wanted["git"].get(path)
    }
    assert not differing, differing


@given("the view shows the project as it was")
@then("the view shows the project as it was")
def view_as_project(context: Context) -> None:
    _same(_shown(context.world), context.before)


@then("the view is as remembered")
def view_as_remembered(context: Context) -> None:
    _same(_shown(context.world), context.remembered)


@given("the git of the view is whole and says what the project's says")
def git_of_view(context: Context) -> None:
    world: World = context.world
    git_is_whole(context)
    question = "git log --all --format=%H%d; git status --porcelain; git stash list; git config -l"
    said = _look(world, question)
    wanted = subprocess.run(
        ["sh", "-c", question],
        cwd=world.project,
        env={**world.environment, **_GIT, "GIT_OPTIONAL_LOCKS": "0"},
        capture_output=True,
        check=True,
    )
    assert said.stdout == wanted.stdout, (said, wanted)


@then("the git of the view is whole")
def git_is_whole(context: Context) -> None:
    done = _look(context.world, "git fsck --full --strict --no-dangling")
    assert done.returncode == 0 and b"missing" not in done.stderr, done


@then("it left alone what was changed outside: `{paths}`")
def left_alone_outside(context: Context, paths: str) -> None:
    left = context.rolled_back["left_alone"]
    found = [item["path"] for item in left if item["reason"] == "changed outside"]
    assert ", ".join(found) == paths, left


@then('the output of "agents doctor" says "{text}"')
def doctor_says(context: Context, text: str) -> None:
    outcome = context.world.agents("doctor")
    assert text in outcome.stdout, outcome


@then("no sandbox is left")
def no_sandbox(context: Context) -> None:
    found = [*context.world.home.glob("sandboxes/*/*")]
    assert not found, found


@given("something is mounted at `{place}` in the project")
def mounted_in_project(context: Context, place: str) -> None:
    world = _require_views(context)
    if os.geteuid() != 0:
        context.scenario.skip("only root can mount something for everybody")
        return
    target = world.project / place
    bind(target, target)
    world.on_close.callback(unmount, target)


@given("the git of the project is elsewhere")
def linked_worktree(context: Context) -> None:
    world: World = context.world
    command = (
        "mv .git ../real; git --git-dir=../real config core.bare false; "
        'printf "gitdir: %s\\n" "$(cd ../real; pwd)" > .git'
    )
    subprocess.run(["sh", "-ec", command], cwd=world.project, env=world.environment, check=True)


@then("the output says the path of the project")
def says_project(context: Context) -> None:
    world: World = context.world
    assert str(world.project) in world.outcome.stdout.splitlines(), world.outcome


@when("the promises of snapshot stores are proved on private views, as {user}")
def prove_on_views(context: Context, user: str) -> None:
    _require_views(context)
    module = "features.support.sandboxes.view_contract"
    as_user = [] if user == "root" else [_NOBODY]
    if os.geteuid() != 0 and as_user:
        as_user = []
    done = subprocess.run(
        [sys.executable, "-m", module, *as_user], capture_output=True, check=False
    )
    assert done.returncode == 0, done
    context.proved = json.loads(done.stdout)
    if "skipped" in context.proved:
        context.scenario.skip(f"private views are not permitted here: {context.proved['skipped']}")


@then("none is broken")
def none_is_broken(context: Context) -> None:
    assert context.proved["count"] and not context.proved["failed"], context.proved
