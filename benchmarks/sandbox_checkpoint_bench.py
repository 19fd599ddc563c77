"""Snapshots through CheckpointManager, without the records, and the making of sandboxes."""

from __future__ import annotations

from itertools import count

from benchmarks.worktrees import Bench


class Snapshot:
    """The bytes alone: looking at the sandbox, storing what is new, bringing it back."""

    params = ([100, 1000], [1])
    param_names = ("files", "changed")
    number = 1
    timeout = 120

    def setup(self, files: int, changed: int) -> None:
        self.bench = Bench(files)
        self.sandbox = self.bench.sandbox
        self.stored = self.bench.manager.create_checkpoint(self.sandbox)
        self.bench.change(changed, generation=1)

    def teardown(self, files: int, changed: int) -> None:
        self.bench.close()

    def time_create_checkpoint(self, files: int, changed: int) -> None:
        self.bench.manager.create_checkpoint(self.sandbox)

    def time_rollback_to(self, files: int, changed: int) -> None:
        self.bench.manager.rollback_to(self.sandbox, self.stored.snapshot_id)


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
        self.snapshot = self.bench.manager.create_checkpoint(self.source).snapshot_id
        self.numbers = count()

    def teardown(self, files: int) -> None:
        self.bench.close()

    def time_fork_and_first_checkpoint(self, files: int) -> None:
        fork = self.bench.fork(f"CHILD{next(self.numbers)}", self.source, self.snapshot)
        self.bench.manager.create_checkpoint(fork)
