"""Operations on three resources that are killed, or fail, at each of their stages."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any
from unittest.mock import patch

from features.support.plans import Plans
from features.support.sweeps import fault_sweep as faults
from features.support.world import Outcome

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.system import FaultPoints
from cleveragents.container import Container
from cleveragents.domain.errors import SnapshotError

ADD = (
    "import os, sqlite3; c = sqlite3.connect(os.environ['CLEVERAGENTS_RESOURCE_BASE']); "
    "c.execute('insert into goods values ({number})'); c.commit()"
)


def change(number: int) -> dict[str, Any]:
    """A step that changes all three resources."""
    add = ADD.format(number=number)
    command = f"""echo {number} >> a.txt; echo {number} >> "$CLEVERAGENTS_RESOURCE_FILES/b.txt"; \
git -c user.name=A -c user.email=a@b commit -qam {number}; python3 -c "{add}" """
    return {"name": f"change {number}", "tool": "shell", "with": {"command": command}}


def decide(chosen: str) -> dict[str, Any]:
    options = {"two": {"steps": [change(2)]}, "three": {"steps": [change(3)]}}
    return {
        "name": "which",
        "decision": {"question": "Which?", "chosen": chosen, "options": options},
    }


def prepare(plans: Plans) -> None:
    """Has a plan change a repository, a directory and a database."""
    outside = plans.world.directory
    (outside / "files").mkdir()
    (outside / "files" / "b.txt").write_text("b\n")
    with closing(sqlite3.connect(outside / "app.db")) as connection:
        connection.execute("CREATE TABLE goods(number)")
    plans.definition.update(
        resources={
            "project": {"type": "git-checkout", "path": "."},
            "files": {"type": "fs-directory", "path": str(outside / "files")},
            "base": {"type": "sqlite", "path": str(outside / "app.db")},
        },
        steps=[change(1), decide("two"), change(4)],
    )
    plans.write()
    done(plans, "plan", "run", str(plans.file))


def done(plans: Plans, *arguments: str) -> None:
    outcome = plans.world.agents_here(*arguments)
    assert outcome.exit_code == 0, outcome


class Throwing(FaultPoints):
    """Fails at a point, as a disk or a program could there."""

    def __init__(self, point: FaultPoint, number: int) -> None:
        self._point = point
        self._left = number

    def reach(self, point: FaultPoint) -> None:
        if point is self._point:
            self._left -= 1
            if self._left == 0:
                raise SnapshotError("the disk is on fire")


class Sweep:
    """One operation, and where the plan is before and after it."""

    def __init__(self, plans: Plans, arguments: tuple[str, ...]) -> None:
        self.plans = plans
        self.arguments = arguments
        self.before = self.state()
        with faults.from_here(plans) as back:
            done(plans, *arguments)
            self.after = self.state()
            back()

    def state(self) -> object:
        status = self.plans.status()
        standing = {name: status[name] for name in ("phase", "state", "last_completed_step")}
        return standing, faults.end_of(self.plans)

    def again(self) -> Outcome:
        return self.plans.world.agents_here(*self.arguments, "--format", "json")

    def killed(self, point: FaultPoint, *first: str) -> list[object]:
        """Kills it each time it is at a point, asks again, and returns where that led.

        Args:
            point: The point.
            first: A command that is run before asking again.
        """
        found: list[object] = []

        def check(_: int) -> None:
            if first:
                done(self.plans, *first)
            self.again()
            faults.check_stores(self.plans)
            found.append(self.state())

        assert faults.sweep(self.plans, point, self.arguments, check) > 0, point
        return found

    def failed(self, point: FaultPoint) -> list[object]:
        """Has it fail each time it is at a point, and returns where that led."""
        found: list[object] = []
        with faults.from_here(self.plans) as back:
            times = faults.points_of(self.plans, *self.arguments)[point]
            for number in range(1, times + 1):
                back()
                with patch.object(Container, "_faults", Throwing(point, number)):
                    outcome = self.plans.world.agents_here(*self.arguments, "--format", "json")
                assert outcome.exit_code != 0, outcome
                assert outcome.json["error"]["message"] == "the disk is on fire", outcome
                faults.check_stores(self.plans)
                found.append(self.state())
            back()
        return found
