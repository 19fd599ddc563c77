"""Reading stored objects back, each checked against its name.

One resident git process answers for all of them.
"""

from __future__ import annotations

import hashlib
import subprocess  # nosec B404 # started by `Git`, with an argument list
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import IO

from cleveragents.domain.errors import SnapshotCorruptError, SnapshotMissingError
from cleveragents.infrastructure.sandbox.git.command import Git

_CHUNK = 1 << 20
_ASKED_AT_ONCE = 200
"""Fewer than a pipe holds, so that git never waits for us while we wait for it."""

Write = Callable[[bytes], object]


class BlobReader:
    """Answers for the bytes of objects in one repository; starts git at the first question."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._place = str(git.directory)
        self._process: subprocess.Popen[bytes] | None = None

    def close(self) -> None:
        if self._process is not None:
            self._git.end(self._process)
            self._process = None

    def copy(self, object_id: str, write: Write) -> None:
        """Gives the bytes of an object to `write`, piece by piece.

        Raises:
            SnapshotMissingError: the object is not there.
            SnapshotCorruptError: its bytes do not have that name.
        """
        self._ask([object_id])
        self._answer(object_id, write)

    def read(self, object_id: str) -> bytes:
        content = bytearray()
        self.copy(object_id, content.extend)
        return bytes(content)

    def copy_many(self, object_ids: Iterable[str], writer: Callable[[str], Write]) -> None:
        """Like `copy` for each object, asking ahead; `writer` gives what takes its bytes."""
        waiting = iter(object_ids)
        asked: list[str] = []
        while batch := list(islice(waiting, _ASKED_AT_ONCE)):
            self._ask(batch)
            self._answer_all(asked, writer)
            asked = batch
        self._answer_all(asked, writer)

    def check(self, object_ids: Iterable[str]) -> None:
        """Reads every object back; raises like `copy` for the first that is not whole."""
        self.copy_many(object_ids, lambda _: _forget)

    def _ask(self, object_ids: Sequence[str]) -> None:
        questions, _ = self._running()
        try:
            questions.write("".join(f"{object_id}\n" for object_id in object_ids).encode())
            questions.flush()
        except BrokenPipeError as gone:
            self.close()
            raise SnapshotMissingError(object_ids[0], self._place) from gone

    def _answer_all(self, object_ids: Iterable[str], writer: Callable[[str], Write]) -> None:
        for object_id in object_ids:
            self._answer(object_id, writer(object_id))

    def _answer(self, object_id: str, write: Write) -> None:
        _, answers = self._running()
        try:
            head = answers.readline().split()
            if len(head) != 3:
                raise SnapshotMissingError(object_id, self._place)
            digest = hashlib.sha1(head[1] + b" " + head[2] + b"\0", usedforsecurity=False)
            left = int(head[2])
            while left:
                chunk = answers.read(min(left, _CHUNK))
                if not chunk:
                    raise SnapshotMissingError(object_id, self._place)
                digest.update(chunk)
                write(chunk)
                left -= len(chunk)
            answers.read(1)
            if digest.hexdigest() != object_id:
                raise SnapshotCorruptError(
                    f"Object {object_id} in {self._place} is damaged", object_id=object_id
                )
        except BaseException:
            self.close()  # What is left of the answers belongs to nobody.
            raise

    def _running(self) -> tuple[IO[bytes], IO[bytes]]:
        if self._process is None:
            self._process = self._git.start("cat-file", "--batch")
        return Git.pipes(self._process)


def _forget(_: bytes) -> None:
    return None


@contextmanager
def blob_reader(git: Git) -> Generator[BlobReader]:
    reader = BlobReader(git)
    try:
        yield reader
    finally:
        reader.close()


def missing_objects(git: Git, object_ids: Iterable[str]) -> set[str]:
    """Returns those of the ids that the repository does not hold."""
    asked = "".join(f"{object_id}\n" for object_id in object_ids)
    if not asked:
        return set()
    answers = git.run("cat-file", "--batch-check", "--buffer", stdin=asked.encode())
    lines = answers.splitlines()
    return {line.split()[0].decode() for line in lines if line.endswith(b" missing")}


def object_sizes(git: Git, object_ids: Iterable[str]) -> dict[str, int]:
    """Returns the bytes of those objects that the repository holds."""
    asked = "".join(f"{object_id}\n" for object_id in object_ids)
    if not asked:
        return {}
    answers = git.run("cat-file", "--batch-check", "--buffer", stdin=asked.encode())
    fields = (line.decode().split() for line in answers.splitlines())
    return {found[0]: int(found[2]) for found in fields if len(found) == 3}
