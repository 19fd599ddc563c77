"""A technique on a checkout of its own, and what has been seen of it."""

from __future__ import annotations

import os
import shutil
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from benchmarks.compare.exactness import Fingerprint, Witness, differences, standing_of
from benchmarks.compare.ours import OursInNewProcess
from benchmarks.compare.results import Measured, Role, Scenario, Standing, Tree
from benchmarks.compare.technique import Technique
from benchmarks.compare.trees import Editor, check_out, furnish

ENOUGH_SECONDS = 10.0
"""A technique that has taken so long in a scenario is not asked again."""
_LONG_SECONDS = 1.0
_FAR_BEHIND = 5

_NO_RESTORE = "was not asked to restore: it writes every file, for minutes"

Change = Callable[[Editor], None]


class Subject:
    """A technique on its checkout, with what has been seen of it."""

    def __init__(self, kind: type[Technique], place: Path, project: Path, tree: Tree) -> None:
        self._kind = kind
        self._place = place / kind.__name__
        self._project = project
        self._tree = tree
        self._rounds = 0
        self._latest: object = None
        """The snapshot of what is there now; None when something has changed since."""
        self.seconds: dict[Scenario, list[float]] = defaultdict(list)
        self.rollback: list[float] = []
        self.standing: Standing | None = None
        self.notes: list[str] = []
        self.technique = self._made()

    def _made(self) -> Technique:
        store = self._place / f"store{self._rounds}"
        if self._kind.role is not Role.PEER:
            technique = self._kind(self._project, store)
            furnish(technique.root, self._tree)
            return technique
        root = self._place / "checkout"
        technique = self._kind(root, store)
        if not root.exists():
            check_out(self._project, root)
            furnish(root, self._tree)
        return technique

    def take_first(self) -> None:
        """Measures the first snapshot; from the second time on of a technique made anew."""
        if self._rounds:
            self.close()
            shutil.rmtree(self._place / f"store{self._rounds - 1}")
            self.technique = self._made()
        self._rounds += 1
        os.sync()
        self._latest = self._measured(Scenario.FIRST, self.technique.first)
        self._editor = Editor(self.technique.root, self._tree)
        self._witness = Witness(self.technique.root)

    def take(self, scenario: Scenario, changed: int) -> None:
        self._settle()
        os.sync()
        if changed:
            self._editor.edit(changed)
        self._latest = self._measured(scenario, self.technique.snapshot)

    def bring_back(self, scenario: Scenario, change: Change) -> None:
        """Measures the way back past a change that was snapshotted too, and looks at the result."""
        if self._tree.files > (self.technique.restores_at_most or self._tree.files):
            if not self.seconds[scenario] and _NO_RESTORE not in self.notes:
                self.notes.append(_NO_RESTORE)
            return
        self._with_way_back(
            change, lambda target: self._measured(scenario, lambda: self.technique.restore(target))
        )

    @property
    def closing(self) -> list[float]:
        """Seconds that processes of ours took to let go of their files."""
        return self.technique.closing if isinstance(self.technique, OursInNewProcess) else []

    def roll_back(self, change: Change) -> None:
        """Measures what a user calls rollback."""
        technique = self.technique
        assert isinstance(technique, OursInNewProcess)
        self._with_way_back(
            change, lambda target: self.rollback.append(technique.roll_back(target))
        )

    def has_had_enough(self, scenario: Scenario, fastest: float) -> bool:
        """Says whether asking again would only take time: the fastest took `fastest` seconds."""
        taken = self.seconds[scenario]
        if not taken or self._kind.role is not Role.PEER:
            return False
        hopeless = sum(taken) > _LONG_SECONDS and min(taken) > _FAR_BEHIND * fastest
        return hopeless or sum(taken) > ENOUGH_SECONDS

    def give_up(self, scenario: str) -> str:
        """Counts an act that failed as a restore that went wrong; returns whose it was."""
        self.standing = Standing.INEXACT
        self.notes.append(f"failed ({scenario})")
        return self._kind.name

    def result(self) -> Measured:
        kind = self._kind
        return Measured(
            kind.name, kind.role, kind.watches, self.standing, dict(self.seconds), self.notes
        )

    def close(self) -> None:
        self.technique.close()

    def _with_way_back(self, change: Change, way_back: Callable[[object], object]) -> None:
        target = self._settle()
        wanted = self._witness.fingerprint()
        change(self._editor)
        if self.technique.snapshots_after_change:
            self.technique.snapshot_unmeasured()
            self.technique.tidy()
        self._latest = None
        os.sync()
        way_back(target)
        self._look(wanted, self._witness.fingerprint())

    def _look(self, wanted: Fingerprint, found: Fingerprint) -> None:
        seen = standing_of(wanted, found)
        if seen is Standing.INEXACT and self.standing is not Standing.INEXACT:
            wrong = differences(wanted, found)
            self.notes.append(f"left {len(wrong):,} paths wrong, such as `{wrong[0]}`")
        self.standing = max(seen, self.standing or Standing.EXACT)

    def _settle(self) -> object:
        """Returns a snapshot of what is there now, taken now if need be."""
        if self._latest is None:
            self._latest = self.technique.snapshot_unmeasured()
            self.technique.tidy()
        return self._latest

    def _measured(self, scenario: Scenario, act: Callable[[], object]) -> object:
        started = time.perf_counter()
        done = act()
        seconds = time.perf_counter() - started
        self.seconds[scenario].append(self.technique.seconds_of_last() or seconds)
        self.technique.tidy()
        return done
