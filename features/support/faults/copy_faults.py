"""What can happen while several processes copy a directory."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from unittest.mock import patch

from features.support.sandboxes.sandbox_bench import SandboxBench
from features.support.sandboxes.strategy_bench import StrategyBench

from cleveragents.infrastructure.sandbox.create import copy_processes

Process = subprocess.Popen[bytes]
_started = copy_processes._started


def _starting(start: Callable[[list[str]], Process]) -> AbstractContextManager[object]:
    return patch.object(copy_processes, "_started", start)


def counted(helpers: list[Process]) -> AbstractContextManager[object]:
    def start(command: list[str]) -> Process:
        helpers.append(_started(command))
        return helpers[-1]

    return _starting(start)


def none_starts() -> AbstractContextManager[object]:
    def start(_: list[str]) -> Process:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    return _starting(start)


def _killed(_: StrategyBench) -> AbstractContextManager[object]:
    def start(command: list[str]) -> Process:
        process = _started(["/bin/sh", "-c", "head -c 1 > /dev/null; kill -9 $$"])
        assert command
        return process

    return _starting(start)


def _in_the_way(_: StrategyBench) -> AbstractContextManager[object]:
    """The copy of a file is there before it is made."""

    def start(command: list[str]) -> Process:
        Path(command[-2], "d", "f").touch()
        return _started(command)

    return _starting(start)


@contextmanager
def _closed(work: StrategyBench) -> Iterator[None]:
    """A file that may be read when the room is measured, and not any more when it is copied."""

    def start(command: list[str]) -> Process:
        (work.data / "d" / "f").chmod(0)
        return _started(command)

    with SandboxBench(work.world).as_ordinary_user(), _starting(start):
        yield
    (work.data / "d" / "f").chmod(0o600)


HAPPENING: dict[str, Callable[[StrategyBench], AbstractContextManager[object]]] = {
    "a process that helps is killed": _killed,
    "a process that helps finds a file": _in_the_way,
    "a file is closed when it is copied": _closed,
}
