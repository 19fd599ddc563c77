"""The undo of an apply, or its redo, killed or failing at each of its stages."""

from __future__ import annotations

from unittest.mock import patch

from features.support.situations.applies import Applies, Project
from features.support.sweeps import fault_sweep as faults
from features.support.sweeps.apply_sweep import from_here
from features.support.sweeps.operation_sweep import Throwing

from cleveragents.application.fault_points import FaultPoint
from cleveragents.container import Container


class ReversalSweep:
    """One undo or redo of an apply, always from the same start."""

    def __init__(self, applies: Applies, act: str, without: Project, applied: Project) -> None:
        """Args: `without` and `applied` are the project before the apply and after it."""
        self._applies = applies
        self._plans = applies.plans
        self._arguments = ("plan", act, self._plans.plan_id, "--yes")
        self._without = without
        self._applied = applied

    def killed(self, point: FaultPoint) -> list[str]:
        """Kills it each time it is at a point, executes the plan, and says where that led."""
        found: list[str] = []
        with from_here(self._applies) as back:
            times = faults.points_of(self._plans, *self._arguments)[point]
            assert times > 0, point
            for number in range(1, times + 1):
                back()
                assert faults.killed_at(self._plans, point, number, *self._arguments)
                self._plans.world.agents_here("plan", "execute", self._plans.plan_id)
                faults.check_stores(self._plans)
                found.append(self._place())
            back()
        return found

    def failed(self, point: FaultPoint) -> list[str]:
        """Has it fail each time it is at a point, and says where that led."""
        found: list[str] = []
        with from_here(self._applies) as back:
            times = faults.points_of(self._plans, *self._arguments)[point]
            assert times > 0, point
            for number in range(1, times + 1):
                back()
                with patch.object(Container, "_faults", Throwing(point, number)):
                    done = self._plans.world.agents_here(*self._arguments, "--format", "json")
                assert done.json["error"]["message"] == "the disk is on fire", done
                faults.check_stores(self._plans)
                found.append(self._place())
            back()
        return found

    def _place(self) -> str:
        seen, status = self._applies.seen(), self._plans.status()
        place = f"{status['phase']}/{status['state']}"
        if place == "apply/applied" and same(seen, self._applied):
            return "in effect"
        is_there = (self._plans.sandbox / "new.txt").is_file()
        if place == "execute/complete" and same(seen, self._without) and is_there:
            return "undone"
        return f"between: {place}, {seen}"


def same(one: Project, other: Project) -> bool:
    """The logs of a repository keep what happened to it, also what was undone."""
    return one._replace(reflogs=()) == other._replace(reflogs=())
