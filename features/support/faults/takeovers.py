"""Another host that takes a plan over while this process is at a named point."""

from __future__ import annotations

from features.support.faults import plan_faults
from features.support.plans import Plans
from features.support.situations.retention import stored_snapshots
from features.support.trees import Tree, tree

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.system import FaultPoints

ELSEWHERE = "elsewhere.example.org"


class TakeOver(FaultPoints):
    """Takes the plan over when the last of some points is reached, one after the other."""

    def __init__(self, plans: Plans, *points: FaultPoint) -> None:
        self._plans = plans
        self._points = list(points)
        self.found: Tree | None = None
        """What the sandbox held at that moment."""
        self.stored: set[str] | None = None
        """The snapshots of the plan that were stored at that moment."""

    def reach(self, point: FaultPoint) -> None:
        if not self._points or point is not self._points[0]:
            return
        self._points.pop(0)
        if not self._points:
            self.found = tree(self._plans.sandbox)
            self.stored = stored_snapshots(self._plans)
            plan_faults.hold(self._plans, 1, ELSEWHERE)
