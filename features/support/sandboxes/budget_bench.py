"""Budgets of snapshots as scenarios speak of them, each program with its own."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

from features.support.sandboxes.sandbox_bench import SandboxBench

from cleveragents.domain.settings.values import byte_count, patterns, seconds
from cleveragents.infrastructure.sandbox.checkpoint import CheckpointManager
from cleveragents.infrastructure.sandbox.store.limits import Limits

READ: dict[str, tuple[str, Any]] = {
    "max-file-size": ("max_file_bytes", byte_count),
    "max-size-per-plan": ("max_plan_bytes", byte_count),
    "deadline": ("deadline_seconds", seconds),
    "include-ignored": ("include_ignored", patterns),
}


def allow(work: SandboxBench, words: str) -> None:
    """Has the programs from now on work under a limit, or under `no limit`."""
    name, _, value = words.partition(" ")
    given = {} if words == "no limit" else {READ[name][0]: READ[name][1](value)}
    work.make_store = lambda git: CheckpointManager(git, Limits(**given))


@contextlib.contextmanager
def nearly_full_disk() -> Iterator[None]:
    """The disk says that it has a few blocks left."""
    real = os.statvfs

    def statvfs(path: str) -> Any:
        found = list(real(path))
        found[4] = 100
        return os.statvfs_result(found)

    with patch.object(os, "statvfs", statvfs):
        yield


def left_out(work: SandboxBench, moment: str) -> list[str]:
    made = work.moments[moment].checkpoint
    return [f"{item.path} ({item.reason})" for item in made.not_captured]
