"""An apply that is killed, or fails, at each of its stages, always from the same start."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from features.support.situations.applies import Applies, Project
from features.support.sweeps import fault_sweep as faults
from features.support.sweeps.operation_sweep import Throwing

from cleveragents.application.fault_points import FaultPoint
from cleveragents.container import Container


class FailingThenDying(Throwing):
    """Fails at one point, and kills the process at another one that comes after it."""

    def __init__(self, fails: FaultPoint, dies: FaultPoint) -> None:
        super().__init__(fails, 1)
        self._dies = dies

    def reach(self, point: FaultPoint) -> None:
        if point is self._dies:
            os.kill(os.getpid(), signal.SIGKILL)
        super().reach(point)


class ApplySweep:
    """One apply, and the project before and after it."""

    def __init__(self, applies: Applies, *options: str) -> None:
        self.applies = applies
        self.plans = applies.plans
        self.arguments = ("plan", "apply", self.plans.plan_id, "--yes", *options)
        self.before = applies.seen()
        with from_here(self.applies) as back:
            done = self.plans.world.agents_here(*self.arguments)
            assert done.exit_code == 0, done
            self.after = without_ids(applies, applies.seen())
            back()
            assert applies.seen() == self.before

    def killed(self, point: FaultPoint, *then: str) -> list[str]:
        """Kills it each time it is at a point, runs a command, and says where that led."""
        found: list[str] = []
        with from_here(self.applies) as back:
            times = faults.points_of(self.plans, *self.arguments)[point]
            assert times > 0, point
            for number in range(1, times + 1):
                back()
                assert faults.killed_at(self.plans, point, number, *self.arguments)
                found.append(self._led_to(*(then or self.arguments)))
            back()
        return found

    def failed(self, point: FaultPoint) -> list[str]:
        """Has it fail each time it is at a point, and says where that led."""
        found: list[str] = []
        with from_here(self.applies) as back:
            times = faults.points_of(self.plans, *self.arguments)[point]
            assert times > 0, point
            for number in range(1, times + 1):
                back()
                with patch.object(Container, "_faults", Throwing(point, number)):
                    outcome = self.plans.world.agents_here(*self.arguments, "--format", "json")
                assert outcome.json["error"]["message"] == "the disk is on fire", outcome
                faults.check_stores(self.plans)
                found.append(self._place())
            back()
        return found

    def killed_while_undoing(self, fails: FaultPoint, then: str) -> str:
        """Has it fail at a point, kills it when it has undone a resource, and runs a command."""
        with from_here(self.applies) as back:
            deadly = FailingThenDying(fails, FaultPoint.TARGET_UNDONE)
            assert faults.ended_in_child(self.plans, deadly, self.arguments)
            found = self._led_to("plan", then, self.plans.plan_id)
            back()
        return found

    def _led_to(self, *arguments: str) -> str:
        self.plans.world.agents_here(*arguments)
        place = self._place()
        faults.check_stores(self.plans)
        return place

    def _place(self) -> str:
        """Says whether project and plan are both as before, or both as after."""
        seen, state = self.applies.seen(), self.plans.status()
        applied = state["state"] == "applied"
        if seen == self.before and not applied:
            return "before"
        if without_ids(self.applies, seen) == self.after and applied:
            return "after"
        return f"between: {state['phase']}/{state['state']}, {seen}"


@contextmanager
def from_here(applies: Applies) -> Iterator[Callable[[], None]]:
    """Gives a function that brings home directory and project back to what they are now."""
    places = [applies.project, *applies.others]
    saved = applies.plans.world.directory / "saved"
    saved.mkdir()
    for place in places:
        _copy(place, saved / place.name)
    with faults.from_here(applies.plans) as home_back:

        def back() -> None:
            home_back()
            for place in places:
                _remove(place)
                _copy(saved / place.name, place)

        yield back
    shutil.rmtree(saved)


def without_ids(applies: Applies, seen: Project) -> Project:
    """A commit has a date, so its id differs each time; its tree and its parents do not."""
    tree = applies.shell("git for-each-ref --format='%(tree) %(subject) %(refname)'")
    first = applies.shell("git log -1 --format=%P HEAD | cut -c-40") if "Apply plan" in tree else ""
    logs = tuple(None if log is None else str(log.count(b"\n")).encode() for log in seen.reflogs)
    return seen._replace(refs=tree + first, reflogs=logs)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
    else:
        shutil.copy2(source, target)


def _remove(place: Path) -> None:
    """Removes a file, or what is in a directory: that may be a disk of its own."""
    if not place.is_dir():
        place.unlink(missing_ok=True)
        return
    for child in place.iterdir():
        if child.is_dir() and not child.is_symlink():
            shutil.rmtree(child)
        else:
            child.unlink()
