"""Copying the directories of a tree in several processes.

Making a file is work of the system: two processes do nearly twice as much of it as one. Threads
do not, because each waits for the other after every call. `copy_worker` is what they run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, cast

import cleveragents
from cleveragents.infrastructure.descriptors import readable
from cleveragents.infrastructure.sandbox.create.copy_worker import receive, send
from cleveragents.infrastructure.sandbox.create.directory_copy import CopyResult

_PACKAGES = Path(cleveragents.__file__).parents[1]
_PROGRAM = """\
import sys
_, packages, source, target, share = sys.argv
sys.path.insert(0, packages)
from cleveragents.infrastructure.sandbox.create.copy_worker import main
main(source, target, share=share == "share")
"""
_PROCESSORS = os.cpu_count() or 1
_AT_MOST = 4 if _PROCESSORS > 1 else 0
_AHEAD = 2
"""Directories that a process has been asked for: it need not wait for the next."""
_ENDED = "A process that copies files has ended early"


class _Worker:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.requests = cast("IO[bytes]", process.stdin)
        self.answers = cast("IO[bytes]", process.stdout)
        self.waited_for = 0

    def ask(self, relative: str) -> None:
        self.waited_for += 1
        try:
            send(self.requests.fileno(), relative)
        except BrokenPipeError as error:
            raise ChildProcessError(_ENDED) from error

    def answer(self) -> CopyResult:
        """Waits for one answer; raises the OSError that the process met."""
        self.waited_for -= 1
        answer = receive(self.answers.fileno())
        if isinstance(answer, OSError):
            raise answer
        if not isinstance(answer, CopyResult):
            raise ChildProcessError(_ENDED)
        return answer

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.answers.close()
        self.requests.close()


class CopyWorkers(AbstractContextManager["CopyWorkers"]):
    """Processes that copy directories of one tree; none is left after the block."""

    def __init__(self, source: Path, target: Path, *, share: bool) -> None:
        """Starts as many as are of use; that can be none.

        Args:
            source: The top of what is copied.
            target: The top of the copy.
            share: Whether copies may share the bytes of the source.
        """
        options = ["-I", "-S", "-c", _PROGRAM, str(_PACKAGES)]
        command = [sys.executable, *options, str(source), str(target), "share" if share else ""]
        self._workers: list[_Worker] = []
        with suppress(OSError):  # Fewer will do.
            while len(self._workers) < _AT_MOST:
                self._workers.append(_Worker(_started(command)))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for worker in self._workers:
            worker.end()

    @property
    def are_there(self) -> bool:
        return bool(self._workers)

    def copy(self, waiting: list[str]) -> Generator[CopyResult]:
        """Copies directories and all in them; yields the result of each.

        Args:
            waiting: Directories that are made and still empty.

        Raises:
            OSError: the copy cannot be written, or a process has ended.
        """
        by_answers = {worker.answers.fileno(): worker for worker in self._workers}
        while True:
            for worker in self._workers:
                while waiting and worker.waited_for < _AHEAD:
                    worker.ask(waiting.pop())
            busy = [number for number, worker in by_answers.items() if worker.waited_for]
            if not busy:
                return
            for ready in readable(busy):
                copied = by_answers[ready].answer()
                waiting += copied.inside
                yield copied


def _started(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # Ctrl-C reaches this process only, which then ends them.
        start_new_session=True,
    )
