"""Snapshots through CheckpointManager, without the records, and the making of sandboxes."""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from itertools import count
from pathlib import Path

from benchmarks.compare.ours import Ours
from benchmarks.worktrees import Bench, make_repository, path_of
from cleveragents.testing.workspace import single_acts

_START = 0.1
"""Seconds that a child's process takes at least to start, in which nothing is measured."""


class Snapshot:
    """The bytes alone: looking at the sandbox, storing what is new, bringing it back."""

    params = ([100, 1000], [1])
    param_names = ("files", "changed")
    number = 1
    timeout = 120

    def setup(self, files: int, changed: int) -> None:
        self.bench = Bench(files)
        self.sandbox = self.bench.sandbox
        self.acts = single_acts(self.bench.manager, self.sandbox)
        self.stored = self.acts.snapshot()
        self.bench.change(changed, generation=1)

    def teardown(self, files: int, changed: int) -> None:
        self.bench.close()

    def time_create_checkpoint(self, files: int, changed: int) -> None:
        self.acts.snapshot()

    def time_rollback_to(self, files: int, changed: int) -> None:
        self.acts.restore(self.stored.snapshot_id)


class Sandbox:
    """A further plan of a project that has its mirror: refresh it, check out, run one step."""

    params = ([100, 1000],)
    param_names = ("files",)
    number = 1
    timeout = 120

    def setup(self, files: int) -> None:
        self.bench = Bench(files)

    def teardown(self, files: int) -> None:
        self.bench.close()

    def time_plan_in_a_new_sandbox(self, files: int) -> None:
        self.bench.run_a_plan()


class Fork:
    """The sandbox of a child plan with its first snapshot; to be seen beside `Sandbox`."""

    params = ([100, 1000],)
    param_names = ("files",)
    number = 1
    timeout = 120

    def setup(self, files: int) -> None:
        self.bench = Bench(files)
        self.source = self.bench.sandbox
        self.snapshot = single_acts(self.bench.manager, self.source).snapshot().snapshot_id
        self.numbers = count()

    def teardown(self, files: int) -> None:
        self.bench.close()

    def time_fork_and_first_checkpoint(self, files: int) -> None:
        fork = self.bench.fork(f"CHILD{next(self.numbers)}", self.source, self.snapshot)
        single_acts(self.bench.manager, fork).snapshot()


class ForkBesideFirst:
    """A child's sandbox beside its parent's, each with the first snapshot: the part it costs."""

    params = ([1000, 10000],)
    param_names = ("files",)
    timeout = 600
    unit = "of a first sandbox"
    _ROUNDS = 3

    def setup(self, files: int) -> None:
        self.place = Path(tempfile.mkdtemp(prefix="cleveragents-bench-"))
        make_repository(self.place / "project", [path_of(number) for number in range(files)])

    def teardown(self, files: int) -> None:
        shutil.rmtree(self.place)

    def track_part(self, files: int) -> float:
        rounds = [self._measured(self.place / f"home{number}") for number in range(self._ROUNDS)]
        firsts, forks = zip(*rounds, strict=True)
        return statistics.median(forks) / statistics.median(firsts)

    def _measured(self, store: Path) -> tuple[float, float]:
        """Returns the seconds of a first sandbox, its mirror included, and of a fork of it."""
        started = time.perf_counter()
        ours = Ours(self.place / "project", store)
        ours.first()
        first = time.perf_counter() - started
        try:
            return first, self._seconds_of_fork(ours)
        finally:
            ours.close()

    def _seconds_of_fork(self, ours: Ours) -> float:
        manager, sandboxes = ours.container.checkpoint_manager(), ours.container._sandboxes
        snapshot = single_acts(manager, ours.sandbox).snapshot().snapshot_id
        with ours.container.database().read() as transaction:
            (resource,) = transaction.sandboxes.resources(ours.plan_id)
        started = time.perf_counter()
        fork = sandboxes.fork("SANDBOX", "CHILD", resource, ours.sandbox, snapshot)
        made = time.perf_counter() - started
        time.sleep(_START)
        started = time.perf_counter()
        single_acts(manager, fork).snapshot()
        return made + time.perf_counter() - started
