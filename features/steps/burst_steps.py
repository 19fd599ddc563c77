from __future__ import annotations

import shlex
import subprocess
import sys
from typing import Any

from behave import given, then, when
from behave.runner import Context
from features.steps.recorder_steps import kill_all, let_go, notes_of, wait_until
from features.steps.session_steps import await_file, finish, remember, session_status, start
from features.support.world import SOURCE, World

_WRITER = (
    "echo $$ > {notes}/command; n=0; "
    "while ! test -e {notes}/go; do n=$((n + 1)); echo $n > count; done"
)
_MAPPING = """\
import mmap, os, pathlib, sys, time
notes = pathlib.Path(sys.argv[1])
path = pathlib.Path("mapped")
path.write_bytes(b"a" * 4096)
with path.open("r+b") as stream:
    memory = mmap.mmap(stream.fileno(), 4096)
memory[0:1] = b"b"
(notes / "ready").write_text("")
while not (notes / "more").exists():
    time.sleep(0.01)
memory[0:1] = b"c"
(notes / "command").write_text(str(os.getpid()))
while not (notes / "go").exists():
    time.sleep(0.01)
"""
_NO_WATCH = """\
from cleveragents.infrastructure.sandbox.files import inotify

def unavailable(*_):
    raise inotify.WatchUnavailableError("no watches left")

inotify.Watch.add = unavailable
"""


def _checkpoints(context: Context) -> list[dict[str, Any]]:
    outcome = context.world.agents("checkpoints", "--format", "json")
    assert outcome.exit_code == 0, outcome
    data = outcome.json["data"]
    found: list[dict[str, Any]] = data["checkpoints"]
    return found


@given("the session has {count:d} checkpoints")
def has_checkpoints(context: Context, count: int) -> None:
    wait_until(lambda: len(session_status(context.world)["checkpoints"]) >= count)


@then("their labels begin with `{labels}`")
def labels_are(context: Context, labels: str) -> None:
    wanted = labels.split("; ")
    found = [item["label"] for item in _checkpoints(context)]
    assert found[: len(wanted)] == wanted, found


@then("the last one is the end of the session")
def last_is_end(context: Context) -> None:
    found = [item["trigger"] for item in _checkpoints(context)]
    assert found[-1] == "session_end", found


@then("its first checkpoints are `{triggers}`")
def first_are(context: Context, triggers: str) -> None:
    wanted = triggers.split(", ")
    found = [item["trigger"] for item in _checkpoints(context)]
    assert found[: len(wanted)] == wanted, found


def _start_command(context: Context, command: list[str]) -> None:
    remember(context)
    context.run = start(context.world, "run", "-i", "--", *command, stderr=subprocess.PIPE)
    context.world.on_close.callback(kill_all, context)


@given("a session `-i` whose command writes without a pause")
def start_writer(context: Context) -> None:
    notes = notes_of(context)
    _start_command(context, ["sh", "-c", _WRITER.format(notes=shlex.quote(str(notes)))])
    await_file(context.run, notes / "command")


@when("the command ends")
def end(context: Context) -> None:
    let_go(context)
    finish(context.world, context.run)


@given("`early` was written again as it was, and then `other` was written")
def write_again(context: Context) -> None:
    world: World = context.world
    early = world.project / "early"
    early.write_bytes(early.read_bytes())
    (world.project / "other").write_text("other")


@given("a system that does not report changes")
def without_watch(context: Context) -> None:
    world: World = context.world
    place = world.directory / "customized"
    place.mkdir()
    (place / "sitecustomize.py").write_text(_NO_WATCH)
    world.environment["PYTHONPATH"] = f"{place}:{SOURCE}"


@given("the session has written `one`, `two` and `three`, each with a checkpoint")
def write_three(context: Context) -> None:
    has_checkpoints(context, 2)  # Of the start, and of what the command wrote.
    for name in ("one", "two", "three"):
        (context.world.project / name).write_text(name)
        label = f"1 file changed: {name}"
        wait_until(lambda label=label: label in [it["label"] for it in _checkpoints(context)])


@given("a session in place whose command maps `mapped` into memory and has changed it there")
def start_mapping(context: Context) -> None:
    notes = notes_of(context)
    _start_command(context, [sys.executable, "-c", _MAPPING, str(notes)])
    await_file(context.run, notes / "ready")
    # The first change is in a checkpoint; the page stays writable, and the next change is silent.
    has_checkpoints(context, 2)
    (notes / "more").write_text("")
    await_file(context.run, notes / "command")


@then("`{name}` is in the checkpoint as it is in memory")
def is_in_checkpoint(context: Context, name: str) -> None:
    world: World = context.world
    in_memory = (world.project / name).read_bytes()
    assert in_memory[:1] == b"c", in_memory[:1]
    (world.project / name).write_bytes(b"gone")
    outcome = world.agents("rollback", "mapped", "--yes")
    assert outcome.exit_code == 0, outcome
    assert (world.project / name).read_bytes() == in_memory
