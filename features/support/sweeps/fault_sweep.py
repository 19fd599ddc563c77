"""Kills `agents` at the named points between its durable steps, and looks at what follows.

The process that dies is a child of this one, with the whole command line in it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from features.support.faults.crash import measure_nothing
from features.support.plans import Plans
from features.support.trees import Tree, tree

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.system import FaultPoints
from cleveragents.container import Container

_UNDER_WAY = ("execute", "processing")


class Deadly(FaultPoints):
    """Counts the fault points it reaches, and kills the process at one of them."""

    def __init__(self, point: FaultPoint | None, number: int) -> None:
        self._point = point
        self._number = number
        self.counted: Counter[str] = Counter()

    def reach(self, point: FaultPoint) -> None:
        self.counted[point] += 1
        if point is self._point and self.counted[point] == self._number:
            os.kill(os.getpid(), signal.SIGKILL)


class End(NamedTuple):
    """Where a plan got to, without ids and times."""

    sandboxes: dict[str, Tree]
    decisions: list[tuple[object, ...]]
    calls: list[tuple[object, ...]]
    changes: list[tuple[object, ...]]
    checkpoints: list[tuple[object, ...]]


def killed_at(plans: Plans, point: FaultPoint, number: int, *arguments: str) -> bool:
    """Runs `agents` and kills it when it is at the point for the `number`-th time."""
    return ended_in_child(plans, Deadly(point, number), arguments)


def points_of(plans: Plans, *arguments: str) -> Counter[str]:
    """Runs `agents` to its end in a child; returns how often it was at each point."""
    assert not ended_in_child(plans, Deadly(None, 0), arguments)
    return Counter(json.loads((plans.world.directory / "points").read_text()))


def ended_in_child(plans: Plans, faults: FaultPoints, arguments: tuple[str, ...]) -> bool:
    """Runs `agents` in a child that counts every fault point; returns whether it was killed."""
    child = os.fork()
    if child == 0:
        status = 70
        measure_nothing()
        try:
            with patch.object(Container, "_faults", faults):
                plans.world.agents_here(*arguments)
            counted = faults.counted if isinstance(faults, Deadly) else Counter[str]()
            (plans.world.directory / "points").write_text(json.dumps(counted))
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, status
    return os.WIFSIGNALED(status)


@contextmanager
def from_here(plans: Plans) -> Iterator[Callable[[], None]]:
    """Gives a function that brings the home directory back to what it is now."""
    saved = plans.world.directory / "saved-home"
    shutil.copytree(plans.world.home, saved, symlinks=True)

    def back() -> None:
        shutil.rmtree(plans.world.home)
        shutil.copytree(saved, plans.world.home, symlinks=True)

    yield back
    shutil.rmtree(saved)


def sweep(
    plans: Plans, point: FaultPoint, arguments: tuple[str, ...], check: Callable[[int], None]
) -> int:
    """Kills the command at the point, each time it is there, always from the same start.

    Returns how often that was.
    """
    with from_here(plans) as back:
        times = points_of(plans, *arguments)[point]
        for number in range(1, times + 1):
            back()
            assert killed_at(plans, point, number, *arguments), (point, number)
            check(number)
        back()
    return times


def end_of(plans: Plans) -> End:
    """Returns where the plan got to."""
    plan = plans.plan_id
    root = plans.world.home / "sandboxes" / plan
    return End(
        sandboxes={
            place.name: _readable(place) for place in sorted(root.iterdir()) if place.is_dir()
        },
        decisions=plans.query(
            "SELECT d.decision_type, d.question, d.chosen_option, d.alternatives_considered,"
            " d.step_index, d.place, p.question FROM decisions d"
            " LEFT JOIN decisions p ON p.decision_id = d.parent_decision_id"
            " WHERE d.plan_id = ? AND d.superseded_by IS NULL ORDER BY d.sequence",
            plan,
        ),
        calls=plans.query(
            "SELECT step_index, tool, resource, input_json, status, output FROM tool_calls"
            " WHERE plan_id = ? AND undone_by IS NULL ORDER BY sequence",
            plan,
        ),
        changes=plans.query(
            "SELECT t.step_index, c.resource, c.path, c.operation, c.before_hash, c.after_hash"
            " FROM changes c JOIN tool_calls t ON t.tool_call_id = c.tool_call_id"
            " WHERE t.plan_id = ? AND t.undone_by IS NULL ORDER BY t.sequence, c.resource, c.path",
            plan,
        ),
        checkpoints=[
            (
                *(item["label"], item["trigger"], item["checkpoint_type"], item["step_index"]),
                *(item["resource"], item["state_hash"], item["decision_id"] is not None),
            )
            for item in plans.checkpoints()
            if item["checkpoint_type"] != "safety" and item["trigger"] != "on_error"
        ],
    )


def _readable(place: Path) -> Tree:
    """Returns what a directory holds; a database as SQL, for its bytes count its changes too."""
    found = tree(place)
    for name, node in found.items():
        if node.content.startswith(b"SQLite format 3"):
            with closing(sqlite3.connect(place / name)) as connection:
                said = "\n".join(connection.iterdump())
            found[name] = node._replace(content=said.encode())
    return found


def check_status(plans: Plans) -> dict[str, Any]:
    """Has `plan status` tell the truth: nobody works on it, and what is done is done."""
    status = plans.status()
    under_way = (status["phase"], status["state"]) == _UNDER_WAY
    assert status["held_by"] is None, status
    assert status["interrupted"] is under_way, status
    done = plans.query(
        "SELECT max(step_index) FROM tool_calls WHERE plan_id = ? AND undone_by IS NULL"
        " AND status = 'succeeded'",
        plans.plan_id,
    )[0][0]
    assert status["last_completed_step"] == (-1 if done is None else done), (status, done)
    return status


def check_stores(plans: Plans) -> None:
    """Every record has its snapshot, nothing is pending, and every store is whole."""
    refs: set[str] = set()
    for mirror in (plans.world.home / "mirrors").glob("*.git"):
        listing = _git(mirror, "for-each-ref", "--format=%(refname)", "refs/cleveragents")
        refs |= {name.rpartition("/")[2] for name in listing.split()}
        _git(mirror, "fsck", "--connectivity-only", "--no-dangling")
    stored = {ref for (ref,) in plans.query("SELECT sandbox_ref FROM checkpoint_metadata")}
    assert stored <= refs, (stored, refs)
    assert not plans.query("SELECT * FROM operations WHERE status = 'pending'")


def _git(mirror: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=mirror, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done
    return done.stdout
