from __future__ import annotations

import json
import subprocess
import sys
from unittest.mock import patch

from behave import given, then, when
from behave.runner import Context
from features.steps.process_steps import start
from features.support.plans import plans

from cleveragents.infrastructure import file_locks

_HOLDER = """
import fcntl, os, sys
from contextlib import ExitStack, nullcontext
from cleveragents.infrastructure import file_locks
place = sys.argv[1]
is_directory = os.path.isdir(place)
opened = nullcontext(os.open(place, os.O_RDONLY)) if is_directory else file_locks.lock_file(place)
held = ExitStack()
descriptor = held.enter_context(opened)
fcntl.flock(descriptor, fcntl.LOCK_EX)
with nullcontext() if is_directory else file_locks.signed(descriptor):
    print(flush=True)
    sys.stdin.read()
"""


@given("another process has locked {what}")
def locked(context: Context, what: str) -> None:
    mirror = plans(context).mirror
    place = {
        "the mirror of the project": mirror.with_suffix(".lock"),
        "the snapshots of the mirror": mirror.with_suffix(".use"),
        "the directory of the configuration": context.world.home,
    }[what]
    context.holder = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(place)],
        env=context.world.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    context.world.on_close.callback(context.holder.communicate)
    context.holder.stdout.readline()


@given("nobody waits for long")
def impatient(context: Context) -> None:
    for name, seconds in (("WAIT_SECONDS", 0.1), ("_QUIET_SECONDS", 0.0)):
        context.world.on_close.enter_context(patch.object(file_locks, name, seconds))


@given("a third process runs the plan")
def third(context: Context) -> None:
    context.third = start(context, "plan", "run", str(plans(context).file))


@when("the user {does}, watched")
def watched(context: Context, does: str) -> None:
    arguments = {
        "runs the plan once more": ("plan", "run", str(plans(context).file)),
        "takes a checkpoint": ("plan", "checkpoint", "create", plans(context).plan_id),
    }[does]
    context.world.agents_here(*arguments)


@when("the lock is released once the third process waits for it")
def release(context: Context) -> None:
    for line in context.third.stderr:
        if f"Waiting for process {context.holder.pid} " in json.loads(line)["data"].get("name", ""):
            break
    context.holder.communicate()


@then("the third process ends well")
def ends_well(context: Context) -> None:
    said, complained = context.third.communicate()
    assert context.third.returncode == 0, (said, complained)


@then("the user was told that it waits for the other process, and then that it is busy")
def told(context: Context) -> None:
    stderr = context.world.last.stderr + context.world.last.stdout
    waits = stderr.find(f"Waiting for process {context.holder.pid} ")
    busy = stderr.find(f"is locked by process {context.holder.pid} ")
    assert 0 <= waits < busy, stderr
