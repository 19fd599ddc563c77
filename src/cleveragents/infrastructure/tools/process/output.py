"""Keeps the beginning and the end of a tool's output, and counts the bytes between them."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cleveragents.application.ports.system import EventSink
    from cleveragents.domain.tools.tool import ToolResult

HEAD_BYTES = 64 * 1024
TAIL_BYTES = 192 * 1024


class BoundedOutput:
    """Takes any number of bytes and returns a text of limited size.

    Bytes that are not UTF-8 become the replacement character, because the text is stored
    as JSON and later steps may use it.
    """

    def __init__(self) -> None:
        self._head = _Pieces()
        self._tail = _Pieces()
        self._dropped = 0

    def feed(self, data: bytes, *, stderr: bool = False) -> None:
        room = HEAD_BYTES - self._head.size
        self._head.add(data[:room], stderr=stderr)
        self._tail.add(data[room:], stderr=stderr)
        excess = self._tail.size - TAIL_BYTES
        # Cut rarely: cutting after each small piece would take quadratic time.
        if excess > TAIL_BYTES:
            self._cut(excess)

    def add_note(self, note: str) -> None:
        """Adds a line in brackets that is not from the tool."""
        last = self._tail if self._tail.size else self._head
        separator = "\n" if last.size and not last.ends_line else ""
        self.feed(f"{separator}[{note}]\n".encode())

    @property
    def is_truncated(self) -> bool:
        """Whether bytes were left out. Ask after `text`."""
        return self._dropped > 0

    def text(self) -> str:
        return "".join(text for text, _ in self._texts())

    def stderr(self) -> tuple[tuple[int, int], ...]:
        """Returns which characters of the text came from standard error: ranges, end excluded."""
        ranges: list[tuple[int, int]] = []
        position = 0
        for text, stderr in self._texts():
            if stderr and text:
                ranges.append((position, position + len(text)))
            position += len(text)
        return tuple(ranges)

    def result(self) -> ToolResult:
        # Slow to import, and a process that only searches files does without it.
        from cleveragents.domain.tools.tool import ToolResult

        return ToolResult(output=self.text(), stderr=self.stderr(), truncated=self.is_truncated)

    def _texts(self) -> list[tuple[str, bool]]:
        """Returns the text in pieces, and whether each came from standard error."""
        self._cut(self._tail.size - TAIL_BYTES)
        if not self._dropped:
            return _joined(self._head, self._tail).texts()
        left_out = f"\n[{self._dropped} bytes left out]\n"
        return [*self._head.texts(), (left_out, False), *self._tail.texts()]

    def _cut(self, excess: int) -> None:
        if excess > 0:
            self._tail.drop(excess)
            self._dropped += excess


class _Pieces:
    """Bytes in the order they were read; a new piece begins where the stream changes."""

    def __init__(self) -> None:
        self._pieces: list[tuple[bytearray, bool]] = []
        self.size = 0

    def add(self, data: bytes | bytearray, *, stderr: bool) -> None:
        if not data:
            return
        if self._pieces and self._pieces[-1][1] is stderr:
            self._pieces[-1][0].extend(data)
        else:
            self._pieces.append((bytearray(data), stderr))
        self.size += len(data)

    def drop(self, count: int) -> None:
        """Removes bytes from the start."""
        self.size -= count
        whole = 0
        while count >= len(self._pieces[whole][0]):
            count -= len(self._pieces[whole][0])
            whole += 1
        del self._pieces[:whole]
        del self._pieces[0][0][:count]

    @property
    def ends_line(self) -> bool:
        return self._pieces[-1][0].endswith(b"\n")

    def texts(self) -> list[tuple[str, bool]]:
        return [
            (data.decode(errors="replace").replace("\0", "\ufffd"), stderr)
            for data, stderr in self._pieces
        ]

    def extend(self, other: _Pieces) -> None:
        for data, stderr in other._pieces:
            self.add(data, stderr=stderr)


def _joined(head: _Pieces, tail: _Pieces) -> _Pieces:
    """Returns both as one, so that a character that is split between them stays whole."""
    both = _Pieces()
    both.extend(head)
    both.extend(tail)
    return both


class LiveOutput:
    """Tells what a program prints while it runs."""

    def __init__(self, plan_id: str | None, events: EventSink) -> None:
        self._plan_id = plan_id
        self._events = events
        decoder = codecs.getincrementaldecoder("utf-8")
        self._decoders = {stderr: decoder(errors="replace") for stderr in (False, True)}

    def __call__(self, data: bytes, stderr: bool) -> None:
        from cleveragents.application.events import ToolPrinted

        text = self._decoders[stderr].decode(data)
        if text:
            self._events.emit(ToolPrinted(self._plan_id, text, stderr=stderr))
