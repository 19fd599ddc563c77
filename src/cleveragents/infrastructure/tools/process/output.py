"""Keeps the beginning and the end of a tool's output, and counts the bytes between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cleveragents.domain.tools.tool import ToolResult

HEAD_BYTES = 64 * 1024
TAIL_BYTES = 192 * 1024


class BoundedOutput:
    """Takes any number of bytes and returns a text of limited size.

    Bytes that are not UTF-8 become the replacement character, because the text is stored
    as JSON and later steps may use it.
    """

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def feed(self, data: bytes) -> None:
        room = HEAD_BYTES - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        excess = len(self._tail) - TAIL_BYTES
        # Cut rarely: cutting after each small piece would take quadratic time.
        if excess > TAIL_BYTES:
            self._cut(excess)

    def add_note(self, note: str) -> None:
        """Adds a line in brackets that is not from the tool."""
        last = self._tail or self._head
        separator = "\n" if last and not last.endswith(b"\n") else ""
        self.feed(f"{separator}[{note}]\n".encode())

    @property
    def is_truncated(self) -> bool:
        """Whether bytes were left out. Ask after `text`."""
        return self._dropped > 0

    def text(self) -> str:
        self._cut(len(self._tail) - TAIL_BYTES)
        between = f"\n[{self._dropped} bytes left out]\n".encode() if self._dropped else b""
        text = (bytes(self._head) + between + bytes(self._tail)).decode(errors="replace")
        return text.replace("\0", "\ufffd")

    def result(self) -> ToolResult:
        # Slow to import, and a process that only searches files does without it.
        from cleveragents.domain.tools.tool import ToolResult

        return ToolResult(output=self.text(), truncated=self.is_truncated)

    def _cut(self, excess: int) -> None:
        if excess > 0:
            del self._tail[:excess]
            self._dropped += excess
