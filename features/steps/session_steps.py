from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from behave import given, then, when
from behave.runner import Context
from features.support.manifests import manifest
from features.support.sweeps.fault_sweep import Deadly, ended_in_child
from features.support.terminals import at_terminal
from features.support.world import Outcome, World

from cleveragents.application.fault_points import FaultPoint

_COMMIT = "git -c user.name=A -c user.email=a@b commit -q"
_FILES = (
    "printf 'one\\n' > a.txt; mkdir -p src empty; printf 'x\\n' > src/x.py; chmod 750 src; "
    "printf 'run\\n' > run.sh; chmod 755 run.sh; ln -s a.txt link; "
)
_REPOSITORY = (
    "git init -q -b main .; printf '*.log\\nnode_modules/\\n' > .gitignore; "
    f"{_FILES} printf 'kept\\n' > tracked.log; git add -f .; {_COMMIT} -m one; "
    "printf 'not committed\\n' >> a.txt; mkdir node_modules; printf 'm\\n' > node_modules/m"
)
WORK_OF_EVERY_KIND = (
    "printf 'two\\n' > a.txt; rm -r src; mkdir -p new/dir; printf 'n\\n' > new/n; "
    "chmod 600 run.sh; rm link; mkdir link; rmdir empty; printf 'l\\n' > tracked.log"
)


def shell(world: World, script: str, directory: Path | None = None) -> str:
    done = subprocess.run(
        ["/bin/sh", "-ec", script],
        cwd=directory or world.project,
        env=world.environment,
        check=True,
        capture_output=True,
    )
    return done.stdout.decode()


def _git(world: World) -> dict[str, object]:
    """Everything in `.git`, with times: reading must not even touch the index."""
    top = world.project / ".git"
    return {
        str(path): (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else None)
        for path in sorted(top.rglob("*"))
    }


def remember(context: Context) -> None:
    context.files_before, context.git_before = manifest(context.world.project), _git(context.world)


@given("a project of the kind `{kind}`")
def project_of_kind(context: Context, kind: str) -> None:
    world: World = context.world
    more = {
        "git": _REPOSITORY,
        "plain directory": _FILES,
        "submodule": f"{_REPOSITORY}; git init -q ../s; cd ../s; echo s > s; git add s; "
        f"{_COMMIT} -m s; cd -; git -c protocol.file.allow=always submodule --quiet add ../s sub; "
        f"{_COMMIT} -m sub",
        "LFS": f"{_REPOSITORY}; echo '*.bin filter=lfs' > .gitattributes; git add .; "
        f"{_COMMIT} -m lfs",
        "SHA-256": _REPOSITORY.replace("init -q", "init -q --object-format=sha256"),
        "sparse checkout": f"{_REPOSITORY}; git sparse-checkout set --no-cone '/*' '!run.sh'",
        "no commits": f"git init -q -b main .; {_FILES}",
        "detached HEAD": f"{_REPOSITORY}; git checkout -q --detach",
    }[kind]
    shell(world, more)
    remember(context)


@given("a session `{options}` has run `{script}`")
@when("a session `{options}` runs `{script}`")
def run_session(context: Context, options: str, script: str) -> None:
    work = WORK_OF_EVERY_KIND if script == "changes of every kind" else script
    context.world.agents("run", *shlex.split(options), "--", "sh", "-c", work)


@given("the project was rolled back to the start")
@when("the project is rolled back to the start")
def roll_back(context: Context) -> None:
    outcome = context.world.agents("rollback", "@first", "--yes", "--format", "json")
    assert outcome.exit_code == 0, outcome
    assert outcome.json["data"]["verified"], outcome
    context.rolled_back = outcome.json["data"]


@then("the files of the project are as before")
def files_as_before(context: Context) -> None:
    now = manifest(context.world.project)
    assert now == context.files_before, (now, context.files_before)


@given("the files of the project have changed")
@then("the files of the project have changed")
def files_have_changed(context: Context) -> None:
    assert manifest(context.world.project) != context.files_before


@then("nothing in its git was touched")
def git_untouched(context: Context) -> None:
    now = _git(context.world)
    differing = {
        path
        for path in now.keys() | context.git_before.keys()
        if now.get(path) != context.git_before.get(path)
    }
    assert not differing, differing


@then("`{command}` in the project prints `{text}`")
def command_prints(context: Context, command: str, text: str) -> None:
    said = shell(context.world, command).strip()
    assert said == text, said


@then("the report `{name}` has")
def report_has(context: Context, name: str) -> None:
    document = json.loads((context.world.project / name).read_text())
    for row in context.table or ():
        value = document
        for key in row["field"].split("."):
            value = value[key]
        assert value == json.loads(row["value"]), (row["field"], value)


@then("the session is `{place}`, with the exit code `{code}`")
def session_is(context: Context, place: str, code: str) -> None:
    data = context.world.agents("status", "--format", "json").json["data"]
    found = f"{data['phase']}/{data['state']}"
    assert (found, data["exit_code"]) == (place, json.loads(code)), data


@then("its checkpoints are `{triggers}`")
def checkpoints_are(context: Context, triggers: str) -> None:
    data = context.world.agents("checkpoints", "--format", "json").json["data"]
    found = ", ".join(item["trigger"] for item in data["checkpoints"])
    assert found == triggers, found


@then("the rollback names {count:d} commit that it kept")
def commits_kept(context: Context, count: int) -> None:
    assert len(context.rolled_back["commits_kept"]) == count, context.rolled_back


@when("somebody tries to get rid of its sandbox by `{command}`")
def get_rid(context: Context, command: str) -> None:
    program, *arguments = shlex.split(command)
    assert program == "agents"
    context.files_then = manifest(context.world.project)
    context.world.agents(*arguments)


@when("a session is sent {name} while its command waits for it")
def send_signal(context: Context, name: str) -> None:
    world: World = context.world
    number = signal.Signals[name]
    script = f"trap 'echo {name} >> got; exit 7' {name.removeprefix('SIG')}; echo up > up; " + (
        "while :; do sleep 0.05; done"
    )
    process = start(world, "run", "-i", "--", "sh", "-c", script)
    await_file(process, world.project / "up")
    process.send_signal(number)
    finish(world, process)


@when("the command of a session stops itself, and the session is continued")
def stop_and_continue(context: Context) -> None:
    world: World = context.world
    script = "echo up > up; kill -STOP $$; echo on > on"
    process = start(world, "run", "-i", "--", "sh", "-c", script)
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    context.stopped_by = os.WSTOPSIG(status) if os.WIFSTOPPED(status) else None
    process.send_signal(signal.SIGCONT)
    finish(world, process)


@then("the session had stopped with its command")
def had_stopped(context: Context) -> None:
    assert context.stopped_by == signal.SIGSTOP, context.stopped_by


@when("the user types Ctrl-C into a session whose command survives it")
def type_interrupt(context: Context) -> None:
    script = "trap 'echo survived >> got' INT; echo ready; n=0; " + (
        "while ! test -e got; do sleep 0.05; done; echo end"
    )
    typed = [("ready", "\x03")]
    at_terminal(context.world, "run", "-i", "--", "sh", "-c", script, typed=typed)


@given("`agents run` was killed while its command went on and wrote `{name}`")
@when("`agents run` is killed while its command keeps running and writes `{name}`")
def kill_run(context: Context, name: str) -> None:
    world: World = context.world
    script = f"echo up > up; while ! test -e go; do sleep 0.05; done; echo late > {name}"
    process = start(world, "run", "-i", "--", "sh", "-c", script)
    await_file(process, world.project / "up")
    process.kill()
    process.wait()
    (world.project / "go").write_text("")
    while not (world.project / name).exists():
        time.sleep(0.01)
    # The process that records the session ends it, and then it is nobody's.
    while session_status(world)["held_by"] is not None:
        time.sleep(0.05)


@given("`agents run {options}` was killed at {point}")
@when("`agents run {options}` is killed at {point}")
def killed_at(context: Context, options: str, point: str) -> None:
    arguments = ("run", *shlex.split(options), "--", "sh", "-c", "echo two > a.txt")
    assert ended_in_child(context, Deadly(FaultPoint(point), 1), arguments), point


@then("the session has no sandbox of its own")
def no_own_sandbox(context: Context) -> None:
    found = list((context.world.home / "sandboxes").glob("*/*"))
    assert not found, found


def session_status(world: World) -> dict[str, Any]:
    """Returns the data of the newest session's status."""
    data: dict[str, Any] = world.agents("status", "--format", "json").json["data"]
    return data


def start(
    world: World, *arguments: str, stderr: int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        # Under `nohup` the signal would stay ignored, in the command too.
        ["env", "--default-signal=HUP", sys.executable, "-m", "cleveragents", *arguments],
        cwd=world.project,
        env=world.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
    )


def await_file(process: subprocess.Popen[bytes], path: Path) -> None:
    while not path.exists():
        assert process.poll() is None, "the session ended before its command was ready"
        time.sleep(0.01)


def finish(world: World, process: subprocess.Popen[bytes]) -> None:
    said, errors = process.communicate()
    world.outcome = Outcome(process.returncode, said.decode(), (errors or b"").decode())


@given("a file on the path that cannot be executed")
def not_executable(context: Context) -> None:
    world: World = context.world
    place = world.directory / "bin"
    place.mkdir()
    (place / "sleeper").write_text("")
    world.environment["PATH"] = f"{place}{os.pathsep}{world.environment['PATH']}"


@then("the error output does not mention the sandbox")
def no_sandbox(context: Context) -> None:
    said = context.world.last.stderr + context.world.last.stdout
    assert "sandbox" not in said, said


@given("the project was moved away")
def move_away(context: Context) -> None:
    world: World = context.world
    world.project.rename(world.directory / "moved")


@when('the user runs "{command}" elsewhere')
def run_elsewhere(context: Context, command: str) -> None:
    world: World = context.world
    plan = world.agents("plan", "list", "--format", "json", cwd=world.directory)
    (found,) = plan.json["data"]["plans"]
    arguments = [found["id"] if word == "@latest" else word for word in shlex.split(command)[1:]]
    world.agents(*arguments, cwd=world.directory)


@then("the project was not made again")
def not_made_again(context: Context) -> None:
    assert not context.world.project.exists()


@then("the newest plan is cancelled")
def newest_is_cancelled(context: Context) -> None:
    data = context.world.agents("status", "--format", "json").json["data"]
    assert data["state"] == "cancelled", data


@then("the files of the project are as they were then")
def files_as_then(context: Context) -> None:
    assert manifest(context.world.project) == context.files_then


@then("the project can still be rolled back to the start")
def can_be_rolled_back(context: Context) -> None:
    roll_back(context)
    files_as_before(context)


@then("the last checkpoint before the rollback is `{trigger}`")
def last_checkpoint(context: Context, trigger: str) -> None:
    plan = context.rolled_back["rollback_summary"]["plan"]
    listed = context.world.agents("plan", "checkpoint", "list", plan, "--all", "--format", "json")
    found = [item["trigger"] for item in listed.json["data"]["checkpoints"]]
    assert trigger in found, found


@when("a session lists the plans while it runs")
def list_while_running(context: Context) -> None:
    listing = f"{shlex.quote(sys.executable)} -m cleveragents plan list --format json > list.json"
    context.world.process_agents("run", "-i", "--", "sh", "-c", listing)


@then("the list says that it is processing, and which process records it")
def list_names_process(context: Context) -> None:
    document = json.loads((context.world.project / "list.json").read_text())
    (plan,) = document["data"]["plans"]
    assert (plan["kind"], plan["state"]) == ("session", "processing"), plan
    assert plan["recorder"]["pid"] > 0, plan


@given("the project has the ignored files `small.log`, `large.log` and `build.log/o`")
def ignored_files(context: Context) -> None:
    large = "x" * 30
    shell(
        context.world,
        f"echo small > small.log; echo {large} > large.log; mkdir build.log; echo o > build.log/o",
    )
    remember(context)
