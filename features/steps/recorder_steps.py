from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from behave import given, then, when
from behave.runner import Context
from features.steps.session_steps import await_file, finish, remember, session_status, start
from features.support.manifests import manifest
from features.support.world import SOURCE, World

_COMMAND = (
    "echo early > early; echo $$ > {notes}/command; "
    "while ! test -e {notes}/go; do sleep 0.05; done; {work} exit 7"
)


_DEADLY = """\
import os, signal
from cleveragents.infrastructure import system

class Deadly(system.NoFaults):
    counted = 0

    def reach(self, point):
        if point != {point!r}:
            return
        Deadly.counted += 1
        if Deadly.counted == {number}:
            try:
                os.close(os.open({mark!r}, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return
            os.kill(os.getpid(), signal.SIGKILL)

system.NoFaults = Deadly
"""


def notes_of(context: Context) -> Path:
    """A directory outside the project where the command and the scenario meet."""
    place: Path = context.world.directory / "notes"
    place.mkdir(exist_ok=True)
    return place


def wait_until(fulfilled: Callable[[], Any]) -> Any:
    """Waits until something is true, and returns it."""
    while not (found := fulfilled()):
        time.sleep(0.02)
    return found


def _start(context: Context, options: str, work: str) -> None:
    world: World = context.world
    remember(context)
    notes = notes_of(context)
    script = _COMMAND.format(notes=shlex.quote(str(notes)), work=work)
    arguments = ("run", *shlex.split(options), "--", "sh", "-c", script)
    context.run = start(world, *arguments, stderr=subprocess.PIPE)
    world.on_close.callback(kill_all, context)
    await_file(context.run, notes / "command")


def kill_all(context: Context) -> None:
    """Leaves nothing of the scenario running."""
    context.run.kill()
    for number in (_recorder_or_none(context), int((notes_of(context) / "command").read_text())):
        if number is not None:
            kill(number)
    context.run.communicate()


def kill(number: int) -> None:
    try:
        os.kill(number, signal.SIGKILL)
    except ProcessLookupError:
        return
    wait_until(lambda: not is_running(number))


def is_running(number: int) -> bool:
    """Whether any thread of a process is left; until then its files are open."""
    try:
        states = [
            (task / "stat").read_text().rpartition(")")[2].split()[0]
            for task in Path(f"/proc/{number}/task").iterdir()
        ]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return any(state not in "ZX" for state in states)


def _recorder_or_none(context: Context) -> int | None:
    recorder = session_status(context.world)["recorder"]
    return recorder["pid"] if recorder else None


def recorder_of(context: Context) -> int:
    """Waits until somebody records the session, and returns the process."""
    number: int = wait_until(lambda: _recorder_or_none(context))
    return number


def let_go(context: Context) -> None:
    (notes_of(context) / "go").write_text("")


@given("a session `{options}` whose command writes `early` and waits")
def start_waiting(context: Context, options: str) -> None:
    _start(context, options, "echo late > late;")


@when("the recorder is killed, and the command writes `late` and ends")
def kill_recorder(context: Context) -> None:
    kill_recorder_often(context, 1)


@when("the recorder is killed {count:d} times, and the command writes `late` and ends")
def kill_recorder_often(context: Context, count: int) -> None:
    for _ in range(count):
        number = wait_until(lambda: _recorder_or_none(context) or _is_given_up(context))
        if number is True:
            break
        kill(number)
    let_go(context)
    finish(context.world, context.run)


def _is_given_up(context: Context) -> bool:
    """Whether `agents run` has no child left but the command."""
    number = context.run.pid
    children = Path(f"/proc/{number}/task/{number}/children").read_text().split()
    return children == [(notes_of(context) / "command").read_text().strip()]


@given("`agents run` and the recorder were killed, and the command wrote `late` and ended")
def kill_both(context: Context) -> None:
    recorder = recorder_of(context)
    context.run.kill()
    context.run.wait()
    kill(recorder)
    let_go(context)
    wait_until((context.world.project / "late").exists)


@given("everything was killed at once")
def kill_everything(context: Context) -> None:
    recorder = recorder_of(context)
    context.run.kill()
    kill(int((notes_of(context) / "command").read_text()))
    kill(recorder)
    context.run.wait()


@then("its last checkpoint has `{first}` and `{second}`")
def last_has(context: Context, first: str, second: str) -> None:
    data = context.world.agents("diff", "--format", "json").json["data"]
    found = {item["path"] for item in data["files"]}
    assert {first, second} <= found, data


@when("the user looks at the recorder")
def look_at_recorder(context: Context) -> None:
    context.recorder = recorder_of(context)


@then("it leads a session of its own")
def leads_session(context: Context) -> None:
    assert os.getsid(context.recorder) == context.recorder
    assert os.getsid(context.recorder) != os.getsid(context.run.pid)


@then("its streams are no terminal")
def no_terminal(context: Context) -> None:
    given, *said = [Path(f"/proc/{context.recorder}/fd/{number}").readlink() for number in range(3)]
    assert str(given) == os.devnull, given
    assert all(place.suffix == ".log" for place in said), said


@then("it uses no time while nothing happens")
def no_time(context: Context) -> None:
    # Whatever it still had to do is done once the checkpoint of `early` is there.
    wait_until(lambda: len(session_status(context.world)["checkpoints"]) > 1)
    wait_until(lambda: _waits(context.recorder))
    before, switches = _used(context.recorder)
    later = time.monotonic() + 1.5
    wait_until(lambda: time.monotonic() > later)
    after, switched = _used(context.recorder)
    assert after == before, (before, after)
    assert switched == switches, (switches, switched)


def _waits(number: int) -> bool:
    """Whether a process sleeps now and a moment later, without having run in between."""
    first = _used(number)
    time.sleep(0.3)
    return _used(number) == first


def _used(number: int) -> tuple[int, int]:
    """Returns the ticks that a process has used, and how often it went to sleep."""
    fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    text = Path(f"/proc/{number}/status").read_text()
    switches = int(text.partition("voluntary_ctxt_switches:")[2].split()[0])
    return int(fields[11]) + int(fields[12]), switches


@given("the session still runs")
@then("the session still runs")
def still_runs(context: Context) -> None:
    outcome = context.world.outcome
    recorder_of(context)
    status = session_status(context.world)
    assert (status["phase"], status["state"]) == ("execute", "processing"), status
    assert context.run.poll() is None
    context.world.outcome = outcome


@given('the user has run "{command}"')
def has_run(context: Context, command: str) -> None:
    outcome = context.world.agents(*shlex.split(command)[1:])
    assert outcome.exit_code == 0, outcome


@then("`{label}` is one of its checkpoints")
def has_checkpoint(context: Context, label: str) -> None:
    data = context.world.agents("checkpoints", "--format", "json").json["data"]
    assert label in [item["label"] for item in data["checkpoints"]], data


@given("the command has written `late` and ended")
@when("the command writes `late` and ends")
def let_end(context: Context) -> None:
    let_go(context)
    finish(context.world, context.run)
    assert context.world.last.exit_code == 7, context.world.last


@then("its last checkpoint has `{there}` and not `{gone}`")
def last_has_only(context: Context, there: str, gone: str) -> None:
    data = context.world.agents("diff", "--format", "json").json["data"]
    found = {item["path"] for item in data["files"]}
    assert there in found, data
    assert gone not in found, data


@when("{count:d} terminals ask for a checkpoint at the same time")
def ask_together(context: Context, count: int) -> None:
    asked = [
        start(context.world, "plan", "checkpoint", "create", "@latest", "--label", f"label {n}")
        for n in range(count)
    ]
    for process in asked:
        process.communicate()
    context.codes = [process.returncode for process in asked]


@then("all of them succeeded")
def all_succeeded(context: Context) -> None:
    assert set(context.codes) == {0}, context.codes


def _ask_for_rollback(context: Context) -> subprocess.Popen[bytes]:
    return start(context.world, "rollback", "@first", "--yes")


def _duration(context: Context) -> float:
    """How long a rollback takes here and now."""
    began = time.monotonic()
    process = _ask_for_rollback(context)
    process.communicate()
    assert process.returncode == 0
    return time.monotonic() - began


@when("a terminal that asks for a rollback is killed at several moments")
def kill_clients(context: Context) -> None:
    whole = _duration(context)
    for part in range(6):
        (context.world.project / "more").write_text(str(part))
        process = _ask_for_rollback(context)
        _wait(whole * (part + 4) / 10)
        process.kill()
        process.communicate()


@when("the recorder is killed at several moments of a rollback")
def kill_recorder_in_rollback(context: Context) -> None:
    whole = _duration(context)
    for part in range(6):
        (context.world.project / "more").write_text(str(part))
        number = recorder_of(context)
        process = _ask_for_rollback(context)
        _wait(whole * (part + 4) / 10)
        kill(number)
        process.communicate()


def _wait(seconds: float) -> None:
    until = time.monotonic() + seconds
    wait_until(lambda: time.monotonic() >= until)


@then("a rollback to the start is exact")
def rollback_is_exact(context: Context) -> None:
    recorder_of(context)
    outcome = context.world.agents("rollback", "@first", "--yes", "--format", "json")
    assert outcome.exit_code == 0, outcome
    assert manifest(context.world.project) == context.files_before


@given("the first process that is at {point} for the time number {number:d} is killed there")
def kill_at(context: Context, point: str, number: int) -> None:
    world: World = context.world
    place = world.directory / "customized"
    place.mkdir()
    context.killed_mark = notes_of(context) / "killed"
    program = _DEADLY.format(point=point, number=number, mark=str(context.killed_mark))
    (place / "sitecustomize.py").write_text(program)
    world.environment["PYTHONPATH"] = f"{place}:{SOURCE}"
    world.runner = "process"  # So the process that is killed is not this one.


@then("that process was killed")
def was_killed(context: Context) -> None:
    assert context.killed_mark.exists()
