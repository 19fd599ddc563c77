"""Reading plan files, and running child plans in processes of their own."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Protocol

from cleveragents.domain.plans.plan_file import PlanDefinition


class ChildRun(Protocol):
    """A plan that runs in a process of its own."""

    @property
    def plan_id(self) -> str: ...

    @property
    def has_ended(self) -> bool: ...

    def stop(self) -> None:
        """Asks it to end where that is safe. MUST be repeatable."""
        ...

    def kill(self) -> None:
        """Ends it at once. MUST be repeatable."""
        ...

    def close(self) -> None:
        """Releases a finished run; its output is no longer available. MUST be repeatable."""
        ...

    def warnings(self) -> Sequence[str]:
        """Returns what the user must not miss of an ended run."""
        ...

    def said(self) -> str:
        """Returns why an ended run did not run the plan to its end, if it said so."""
        ...


class ChildPlans(Protocol):
    """Runs plans beside this process.

    A run MUST end by itself when this process has ended, for whatever reason. The
    outcome is in the record of the plan.
    """

    def start(self, plan_id: str, *, repeat_effects: bool) -> ChildRun:
        """Has another process execute the plan."""
        ...

    def wait(self, runs: Collection[ChildRun], seconds: float) -> Sequence[ChildRun]:
        """Waits until one has ended, or for some time; returns those that have ended."""
        ...


class PlanFiles(Protocol):
    """Reads plan files."""

    def load(self, path: Path) -> PlanDefinition:
        """Raises PlanFileError with the line of the first problem."""
        ...
