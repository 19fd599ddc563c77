"""Reading stored objects back through one resident git, each checked against its name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import IO

from cleveragents.domain.errors import SnapshotCorruptError, SnapshotMissingError
from cleveragents.infrastructure.sandbox.git import Git

_CHUNK = 1 << 20


class BlobReader:
    """Answers for the bytes of objects in one repository."""

    def __init__(self, questions: IO[bytes], answers: IO[bytes], place: str) -> None:
        self._questions = questions
        self._answers = answers
        self._place = place

    def copy(self, object_id: str, write: Callable[[bytes], object]) -> None:
        """Gives the bytes of an object to `write`, piece by piece.

        Raises:
            SnapshotMissingError: the object is not there.
            SnapshotCorruptError: its bytes do not have that name.
        """
        try:
            self._questions.write(object_id.encode() + b"\n")
            self._questions.flush()
        except BrokenPipeError as gone:
            raise SnapshotMissingError(object_id, self._place) from gone
        head = self._answers.readline().split()
        if len(head) != 3:
            raise SnapshotMissingError(object_id, self._place)
        digest = hashlib.sha1(head[1] + b" " + head[2] + b"\0", usedforsecurity=False)
        left = int(head[2])
        while left:
            chunk = self._answers.read(min(left, _CHUNK))
            if not chunk:
                raise SnapshotMissingError(object_id, self._place)
            digest.update(chunk)
            write(chunk)
            left -= len(chunk)
        self._answers.read(1)
        if digest.hexdigest() != object_id:
            raise SnapshotCorruptError(
                f"Object {object_id} in {self._place} is damaged", object_id=object_id
            )

    def read(self, object_id: str) -> bytes:
        content = bytearray()
        self.copy(object_id, content.extend)
        return bytes(content)

    def check(self, object_ids: Iterable[str]) -> None:
        """Reads every object back; raises like `copy` for the first that is not whole."""
        for object_id in object_ids:
            self.copy(object_id, _forget)


def _forget(_: bytes) -> None:
    return None


@contextmanager
def blob_reader(git: Git) -> Generator[BlobReader]:
    with git.session("cat-file", "--batch") as (questions, answers):
        yield BlobReader(questions, answers, str(git.directory))


def missing_objects(git: Git, object_ids: Iterable[str]) -> set[str]:
    """Returns those of the ids that the repository does not hold."""
    asked = "".join(f"{object_id}\n" for object_id in object_ids)
    if not asked:
        return set()
    answers = git.run("cat-file", "--batch-check", "--buffer", stdin=asked.encode())
    return {line.split()[0].decode() for line in answers.splitlines() if line.endswith(b" missing")}
