from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

from behave import given, then, when
from behave.runner import Context
from features.support.sandboxes.sandbox_bench import bench

from cleveragents.infrastructure import files
from cleveragents.infrastructure.sandbox.files.scan import SLACK_NANOSECONDS


class Cost(NamedTuple):
    """What one checkpoint took."""

    processes: int
    syncs: int
    objects: int


@contextmanager
def _counted(owner: Any, name: str, count: list[int]) -> Iterator[None]:
    real: Callable[..., Any] = getattr(owner, name)

    def counting(*arguments: Any, **named: Any) -> Any:
        count[0] += 1
        return real(*arguments, **named)

    with patch.object(owner, name, counting):
        yield


def _stored(context: Context) -> int:
    counted = subprocess.run(
        ["git", "count-objects", "-v"],
        cwd=bench(context).mirror,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return int(re.findall(r"in-pack: (\d+)", counted)[0])


def _cost(context: Context) -> Cost:
    """Makes a checkpoint, when nothing is so new that it could change without a trace."""
    time.sleep(2 * SLACK_NANOSECONDS / 1e9)
    before, processes, syncs = _stored(context), [0], [0]
    with (
        _counted(subprocess.Popen, "__init__", processes),
        _counted(os, "fsync", syncs),
        _counted(os, "fdatasync", syncs),
        _counted(files, "sync_file_system", syncs),
        context.store.open(bench(context).sandbox) as sandbox,
    ):
        sandbox.snapshot()
    return Cost(processes[0], syncs[0], _stored(context) - before)


@given("a watched sandbox")
def watched_sandbox(context: Context) -> None:
    stack = ExitStack()
    context.add_cleanup(stack.close)
    context.store = bench(context).store
    stack.enter_context(context.store.watched([bench(context).sandbox]))
    bench(context).agent("echo 0 > new")  # For new names git is asked, by a process that stays.
    _cost(context)


@when("the agent commits one file after the other, with a checkpoint after each")
def commits(context: Context) -> None:
    context.costs = []
    for number in range(4):
        bench(context).agent(f"echo {number} > f{number}; git add -A; git commit -qm {number}")
        context.costs.append(_cost(context))
    del context.costs[0]  # It also starts a process that stays, and brings the file from before.


@when("there is a checkpoint of a changed file before the agent commits, and another one after")
def with_and_without(context: Context) -> None:
    bench(context).agent("echo 1 > f")
    context.costs = [_cost(context)]
    bench(context).agent("echo 2 > g; git add g; git commit -qm g")
    _cost(context)
    bench(context).agent("echo 2 > f")
    context.costs.append(_cost(context))


@when("there is a checkpoint of nothing new after the agent committed")
def nothing_new(context: Context) -> None:
    bench(context).agent("echo 2 > g; git add g; git commit -qm g")
    _cost(context)
    context.costs = [_cost(context)]


@then("the checkpoints cost the same processes, syncs and objects")
def same(context: Context) -> None:
    assert len(set(context.costs)) == 1, context.costs


@then("no process was started for them")
def no_process(context: Context) -> None:
    assert not any(cost.processes for cost in context.costs), context.costs


@then("it cost nothing")
def nothing(context: Context) -> None:
    assert context.costs == [Cost(0, 0, 0)], context.costs
