"""Kills `agents` in a child process just before one of its durable actions.

An action is a git that is started, a name on disk that is changed, or a statement that changes
the database; each is described in words that a feature's moment can be matched with.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from features.support.plans import Plans
from features.support.statements import traced

MOMENTS = {
    "while the mirror is made": r"git .*\binit\b",
    "while the sandbox is filled": r"git .*\breset\b",
    "when the sandbox is made and not recorded": r"sql INSERT INTO sandboxes",
    "when a snapshot's bytes are stored and not named": r"os.rename .*/snapshots/",
    "when a snapshot is named and not recorded": r"sql INSERT INTO checkpoint_groups",
    "when a tool is about to start": r"sql INSERT INTO tool_calls",
    "when a tool has run and is not recorded": r"sql UPDATE tool_calls",
    "when the rollback is about to be entered in the journal": r"sql INSERT INTO operations",
    "when the second file is about to be restored": r"^write [^/]+$",
    "when everything is restored and nothing recorded": r"sql UPDATE tool_calls",
}
SAMPLES = 12
_CHANGES = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.symlink")
_TO_WRITE = os.O_WRONLY | os.O_RDWR
_READS = re.compile(r"SELECT|PRAGMA", re.IGNORECASE)


def killed(plans: Plans, pattern: str, number: int, *arguments: str) -> bool:
    """Runs `agents` and kills it before the `number`-th action that fits; says whether it died."""
    child = os.fork()
    if child == 0:
        measure_nothing()
        counted = _die_at(re.compile(pattern), number)
        plans.world.agents_here(*arguments)
        (plans.world.directory / "actions").write_text(str(next(counted)))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def measure_nothing() -> None:
    """Leaves this process out of the coverage: what it finds would die with it."""
    sys.settrace(None)
    threading.settrace(None)


def killed_after(act: Callable[[], object]) -> None:
    """Does something in a process that is killed before it can do anything else."""
    child = os.fork()
    if child == 0:
        measure_nothing()
        act()
        os.kill(os.getpid(), signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), status


def sweep(plans: Plans, arguments: list[str], check: Callable[[], None], *, whole: bool) -> int:
    """Kills the same command at one action after another, each time from the same start.

    `check` looks at what each kill left. Returns how many there were: one at each action, or
    else as many as are quickly made, spread over all of them.
    """
    saved = plans.world.directory / "saved"
    shutil.copytree(plans.world.home, saved, symlinks=True)
    assert not killed(plans, ".", 0, *arguments)
    actions = int((plans.world.directory / "actions").read_text())
    numbers = range(1, actions, 1 if whole else actions // SAMPLES)
    for number in numbers:
        shutil.rmtree(plans.world.home)
        shutil.copytree(saved, plans.world.home, symlinks=True)
        assert killed(plans, ".", number, *arguments), number
        check()
    return len(numbers)


def _die_at(pattern: re.Pattern[str], number: int) -> Iterator[int]:
    """Sets the trap; the number 0 is never reached. Returns the counter of fitting actions."""
    counted = itertools.count(1)

    def tick(description: str) -> None:
        if pattern.search(description) and next(counted) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    def audited(name: str, arguments: tuple[Any, ...]) -> None:
        if name == "subprocess.Popen":
            tick(" ".join(map(str, arguments[1])))
        elif name == "open" and isinstance(arguments[0], str) and arguments[2] & _TO_WRITE:
            tick(f"write {arguments[0]}")
        elif name in _CHANGES:
            tick(" ".join([name, *map(str, arguments)]))

    def statement(sql: str) -> None:
        if not _READS.match(sql):
            tick(f"sql {sql}")

    traced(statement).start()
    sys.addaudithook(audited)
    return counted
