from __future__ import annotations

import shlex
from pathlib import Path

from behave import given, then, when
from behave.runner import Context
from features.steps.recorder_steps import is_running, kill, notes_of, wait_until
from features.steps.session_steps import remember, session_status
from features.support.world import World

_LEFT = (
    "echo early > early; "
    "(trap '' HUP; while ! test -e {notes}/go; do sleep 0.05; done; echo late > late) "
    "> /dev/null 2>&1 & echo $! > {notes}/left"
)


@given("a session `-i` has left a process that waits")
@when("a session `-i` leaves a process that waits")
def leave_process(context: Context) -> None:
    world: World = context.world
    remember(context)
    notes = notes_of(context)
    script = _LEFT.format(notes=shlex.quote(str(notes)))
    world.process_agents("run", "-i", "--", "sh", "-c", script)
    assert world.last.exit_code == 0, world.last
    context.left = int((notes / "left").read_text())
    world.on_close.callback(_end_all, context)


def _end_all(context: Context) -> None:
    """Has the recorder end by itself: it waits for the process."""
    kill(context.left)
    nobody_records(context)


@when("the process that it left writes `late` and ends")
def let_left_end(context: Context) -> None:
    (notes_of(context) / "go").write_text("")
    nobody_records(context)


@then("nobody records the session")
def nobody_records(context: Context) -> None:
    outcome = context.world.outcome
    wait_until(lambda: session_status(context.world)["held_by"] is None)
    context.world.outcome = outcome


@then("the process that it left still runs")
def left_runs(context: Context) -> None:
    assert is_running(context.left)


@given("the earlier session is known")
def know_earlier(context: Context) -> None:
    context.earlier = session_status(context.world)["plan_id"]


@when("the user rolls the earlier session back")
def roll_back_earlier(context: Context) -> None:
    context.world.agents("plan", "rollback", context.earlier, "@first", "--yes")


@given("a home directory with a path of {count:d} characters")
def long_home(context: Context, count: int) -> None:
    world: World = context.world
    name = "h" * 60
    place = Path(world.directory)
    while len(str(place)) < count:
        place = place / name
    world.home = place
    world.environment["CLEVERAGENTS_HOME"] = str(place)


@then("no socket is left")
def no_socket(context: Context) -> None:
    left = [place.name for place in (context.world.home / "run").glob("*.sock")]
    assert not left, left
