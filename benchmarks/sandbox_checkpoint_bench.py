"""Snapshots through CheckpointManager, without the records, and the making of sandboxes."""

from __future__ import annotations

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
