from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unittest.mock import patch

from behave import given, then, when
from behave.runner import Context
from features.support.faults import copy_faults
from features.support.sandboxes.strategy_bench import strategy_bench

from cleveragents.infrastructure.sandbox.create import copy_worker
from cleveragents.infrastructure.sandbox.create.copy_processes import CopyWorkers

_HELPED = f"""\
import sys, time
from pathlib import Path
from {CopyWorkers.__module__} import CopyWorkers
with CopyWorkers(Path(sys.argv[1]), Path(sys.argv[2]), share=False) as workers:
    print(*(worker.process.pid for worker in workers._workers), flush=True)
    time.sleep(3600)
"""


@given("a large directory made by `{command}`")
def large(context: Context, command: str) -> None:
    work = strategy_bench(context)
    work.make_directory(f"for i in $(seq 600); do : > many$i; done; {command}")
    context.helpers = []
    work.surroundings = lambda: copy_faults.counted(context.helpers)


@given("the processes that help cannot be started")
def cannot_start(context: Context) -> None:
    strategy_bench(context).surroundings = copy_faults.none_starts


@given("it will happen that {fault}")
def will_happen(context: Context, fault: str) -> None:
    work = strategy_bench(context)
    work.surroundings = lambda: copy_faults.HAPPENING[fault](work)


@given("processes that help somebody to copy")
def helping(context: Context) -> None:
    place = strategy_bench(context).world.directory
    context.helped = subprocess.Popen(
        [sys.executable, "-c", _HELPED, str(place), str(place)], stdout=subprocess.PIPE, text=True
    )
    context.helpers = [int(number) for number in context.helped.stdout.readline().split()]
    assert context.helpers


@when("that one is killed")
def killed(context: Context) -> None:
    context.helped.kill()
    context.helped.wait()
    context.helped.stdout.close()


@when("a process that helps is asked for it after its own was killed")
def asked_too_late(context: Context) -> None:
    work = strategy_bench(context)
    context.target = work.world.directory / "target"
    (context.target / "d").mkdir(parents=True)
    parents = iter([os.getpid(), 1])
    with tempfile.TemporaryFile() as requests, tempfile.TemporaryFile() as answers:
        requests.write(b"d/\0")
        requests.seek(0)
        streams = (requests.fileno(), answers.fileno())
        with patch.object(os, "getppid", lambda: next(parents)):
            try:
                copy_worker.main(str(work.data), str(context.target), share=False, streams=streams)
                context.ended = False
            except SystemExit:
                context.ended = True


@then("other processes have helped")
def have_helped(context: Context) -> None:
    assert context.helpers
    assert all(process.returncode is not None for process in context.helpers)


@then("the processes that helped end too")
def end_too(context: Context) -> None:
    while any(_is_at_work(number) for number in context.helpers):
        time.sleep(0.01)


@then("it has ended, and nothing was copied")
def nothing_copied(context: Context) -> None:
    assert context.ended
    assert not list((context.target / "d").iterdir())


def _is_at_work(number: int) -> bool:
    try:
        status = Path(f"/proc/{number}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
