"""Reading stored objects back, each checked against its name.

One resident git process answers for all of them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import IO

from cleveragents.domain.errors import SnapshotCorruptError, SnapshotMissingError
from cleveragents.infrastructure.sandbox.git.command import Git, GitProcess

_CHUNK = 1 << 20
_ASKED_AT_ONCE = 200
"""Fewer than a pipe holds, so that git never waits for us while we wait for it."""

Write = Callable[[bytes], object]


@dataclass(eq=False)
class BlobReader:
    """Answers for the bytes of objects in one repository; starts git at the first question."""

    _git: Git
    _process: GitProcess | None = None

    def close(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None

    def copy(self, object_id: str, write: Write) -> None:
        """Gives the bytes of an object to `write`, piece by piece.

        Raises:
            SnapshotMissingError: the object is not there.
            SnapshotCorruptError: its bytes do not have that name.
        """
        self._answer(self._ask([object_id]), object_id, write)

    def read(self, object_id: str) -> bytes:
        content = bytearray()
        self._answer(self._ask([object_id]), object_id, content.extend)
        return bytes(content)

    def copy_many(self, object_ids: Iterable[str], writer: Callable[[str], Write]) -> None:
        """Like `copy` for each object, asking ahead; `writer` gives what takes its bytes."""
        waiting = iter(object_ids)
        asked = list(islice(waiting, _ASKED_AT_ONCE))
        answers = self._ask(asked) if asked else None
        while answers is not None:
            following = list(islice(waiting, _ASKED_AT_ONCE))
            later = self._ask(following) if following else None
            for object_id in asked:
                self._answer(answers, object_id, writer(object_id))
            asked, answers = following, later

    def check(self, object_ids: Iterable[str]) -> None:
        """Reads every object back; raises like `copy` for the first that is not whole."""
        self.copy_many(object_ids, lambda _: _forget)

    def _ask(self, object_ids: Sequence[str]) -> IO[bytes]:
        """Asks for objects, and returns where the answers come in the same order."""
        process = self._process = self._process or self._git.start("cat-file", "--batch")
        try:
            process.stdin.write("".join(f"{object_id}\n" for object_id in object_ids).encode())
            process.stdin.flush()
        except BrokenPipeError as gone:
            self.close()
            raise self._missing(object_ids[0]) from gone
        return process.stdout

    def _answer(self, answers: IO[bytes], object_id: str, write: Write) -> None:
        try:
            head = answers.readline().split()
            if len(head) != 3:
                raise self._missing(object_id)
            digest = hashlib.sha1(head[1] + b" " + head[2] + b"\0", usedforsecurity=False)
            left = int(head[2])
            while left:
                chunk = answers.read(min(left, _CHUNK))
                if not chunk:
                    raise self._missing(object_id)
                digest.update(chunk)
                write(chunk)
                left -= len(chunk)
            answers.read(1)
            if digest.hexdigest() != object_id:
                raise SnapshotCorruptError(
                    f"The stored object {object_id} in {self._place()} is damaged",
                    object_id=object_id,
                )
        except BaseException:
            self.close()  # What is left of the answers belongs to nobody.
            raise

    def _missing(self, object_id: str) -> SnapshotMissingError:
        return SnapshotMissingError(None, self._place(), object_id=object_id)

    def _place(self) -> str:
        """Returns the repository that holds the objects; a private directory only links there."""
        return os.path.realpath(self._git.directory / "objects").removesuffix("/objects")


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
