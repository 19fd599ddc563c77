"""Checkpoints and rollbacks through CheckpointService: files, records and journal durable."""

from __future__ import annotations

from benchmarks.worktrees import Bench


class Checkpoint:
    """A checkpoint of a sandbox in which some files have changed since the last one."""

    params = ([100, 1000], [0, 1, 100])
    param_names = ("files", "changed")
    number = 1
    timeout = 120

    def setup(self, files: int, changed: int) -> None:
        self.bench = Bench(files)
        self.bench.checkpoint()
        self.bench.change(changed, generation=1)

    def teardown(self, files: int, changed: int) -> None:
        self.bench.close()

    def time_create(self, files: int, changed: int) -> None:
        self.bench.checkpoint()


class Stored:
    """What a checkpoint adds to the mirror, in bytes: the objects of one pack and its index."""

    params = ([1000], [0, 1, 100])
    param_names = ("files", "changed")
    unit = "bytes"
    timeout = 120

    def setup(self, files: int, changed: int) -> None:
        self.bench = Bench(files)
        self.bench.change(changed, generation=1)

    def teardown(self, files: int, changed: int) -> None:
        self.bench.close()

    def track_bytes(self, files: int, changed: int) -> int:
        return self.bench.checkpoint().size_bytes


class Rollback:
    """A verified rollback that brings some files back."""

    params = ([100, 1000], [1, 100])
    param_names = ("files", "changed")
    number = 1
    timeout = 120

    def setup(self, files: int, changed: int) -> None:
        self.bench = Bench(files)
        self.target = self.bench.checkpoint("target")
        self.bench.change(changed, generation=1)

    def teardown(self, files: int, changed: int) -> None:
        self.bench.close()

    def time_rollback(self, files: int, changed: int) -> None:
        self.bench.service.rollback_to_checkpoint(self.bench.plan_id, self.target)


class Listing:
    """The list of checkpoints, at the number that a plan keeps."""

    timeout = 120

    def setup(self) -> None:
        self.bench = Bench(100)
        for _ in range(50):
            self.bench.checkpoint()

    def teardown(self) -> None:
        self.bench.close()

    def time_list(self) -> None:
        self.bench.service.list_checkpoints(self.bench.plan_id)
