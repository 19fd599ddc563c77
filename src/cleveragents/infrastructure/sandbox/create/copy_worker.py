"""A process that copies directories for another, until that closes the pipe or ends.

Both sides send Python objects: the parent a path for each directory, the worker a `CopyResult` or
an OSError for each of these. Starting a worker must be cheap, so this module imports little; what
the parent needs is in `copy_processes`.
"""

from __future__ import annotations

import os
import pickle  # nosec B403 # both ends of the pipe are this program

from cleveragents.infrastructure.sandbox.create.directory_copy import DirectoryCopy

_LENGTH = 4
_PIECE = 1 << 16


def main(source: str, target: str, *, share: bool, streams: tuple[int, int] = (0, 1)) -> None:
    """Serves the process that started this one.

    Args:
        source: The top of what is copied.
        target: The top of the copy.
        share: Whether copies may share the bytes of the source.
        streams: Where requests come from and answers go to.
    """
    parent = os.getppid()

    def stop_without_parent() -> None:
        # If the parent was killed, the next command owns the copy and may be removing it.
        if os.getppid() != parent:
            raise SystemExit

    copy = DirectoryCopy(source, target, can_share=lambda _: share, before_each=stop_without_parent)
    requests, answers = streams
    while (relative := receive(requests)) is not None:
        try:
            send(answers, copy.copy(str(relative)))
        except OSError as error:
            send(answers, error)


def send(descriptor: int, message: object) -> None:
    """Writes an object to a pipe, with its length before it."""
    content = pickle.dumps(message)
    data = len(content).to_bytes(_LENGTH) + content
    while data:
        data = data[os.write(descriptor, data) :]


def receive(descriptor: int) -> object | None:
    """Reads an object from a pipe, not a byte more; None at its end.

    Nothing is buffered, so a pipe is readable whenever an answer is left.
    """
    head = _read(descriptor, _LENGTH)
    content = _read(descriptor, int.from_bytes(head)) if head else b""
    return pickle.loads(content) if content else None  # nosec B301


def _read(descriptor: int, count: int) -> bytes:
    """Returns that many bytes, or none where the pipe ends before."""
    content = bytearray()
    while len(content) < count:
        piece = os.read(descriptor, min(count - len(content), _PIECE))
        if not piece:
            return b""
        content += piece
    return bytes(content)
