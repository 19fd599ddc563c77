"""A process that copies directories for another, until that closes the pipe or ends.

It is asked with a path and a zero byte for each directory. It answers with records that
a zero byte ends, of a word, a number and a path where the word needs them, and an empty
record at the end of each answer.
"""

from __future__ import annotations

import os

from cleveragents.infrastructure.sandbox.create.directory_copy import CopyResult, DirectoryCopy

_END = b"\0"
_PIECE = 1 << 16
_KINDS = ("fifo", "socket", "device")


def main(source: str, target: str, *, share: bool, streams: tuple[int, int] = (0, 1)) -> None:
    """Serves whoever started this process.

    Args:
        source: The top of what is copied.
        target: The top of the copy.
        share: Whether copies may share the bytes of the source.
        streams: Where requests come from and answers go to.
    """
    parent = os.getppid()

    def go_on() -> None:
        """What is being copied belongs to the next process if ours has been killed."""
        if os.getppid() != parent:
            raise SystemExit

    copy = DirectoryCopy(source, target, can_share=lambda _: share, before_each=go_on)
    requests, answers = streams
    asked = b""
    while piece := os.read(requests, _PIECE):
        *whole, asked = (asked + piece).split(_END)
        for relative in whole:
            answer = _answer(copy, os.fsdecode(relative))
            while answer:
                answer = answer[os.write(answers, answer) :]


def _answer(copy: DirectoryCopy, relative: str) -> bytes:
    try:
        return told(copy.copy(relative))
    except OSError as error:
        return b"failed %d " % (error.errno or 0) + os.fsencode(relative) + _END + _END


def told(copied: CopyResult) -> bytes:
    """Returns the answer that tells what became of a directory."""
    records = [b"copied %d %d" % (copied.files, copied.written_bytes)]
    records += [] if copied.all_shared else [b"unshared 0 "]
    records += [b"inside 0 " + os.fsencode(path) for path in copied.inside]
    records += [b"later %d " % mode + os.fsencode(path) for path, mode in copied.later]
    records += [
        b"special %d " % _KINDS.index(kind) + os.fsencode(path)
        for path, kind in copied.special.items()
    ]
    records += [
        b"unreadable %d " % number + os.fsencode(path) for path, number in copied.unreadable.items()
    ]
    return b"".join(record + _END for record in records) + _END


def understood(answer: bytes) -> CopyResult:
    """Returns what an answer, without its last record, says.

    Raises:
        OSError: the copy could not be written.
    """
    copied = CopyResult()
    for record in answer.split(_END)[:-1]:
        word, number, rest = record.split(b" ", 2)
        path = os.fsdecode(rest)
        match word:
            case b"copied":
                copied.files, copied.written_bytes = int(number), int(rest)
            case b"unshared":
                copied.all_shared = False
            case b"inside":
                copied.inside.append(path)
            case b"later":
                copied.later.append((path, int(number)))
            case b"special":
                copied.special[path] = _KINDS[int(number)]
            case b"unreadable":
                copied.unreadable[path] = int(number)
            case _:
                raise OSError(int(number), os.strerror(int(number)), path)
    return copied
