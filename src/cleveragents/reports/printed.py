"""What tools printed, as people read it."""

from __future__ import annotations

from collections.abc import Iterable

_STDERR_MARK = "! "
_STDOUT_MARK = "  "


def marked_lines(pieces: Iterable[tuple[str, bool]]) -> list[str]:
    """Returns the lines of an output; those from standard error are marked.

    Each piece is a text, and whether it came from standard error.
    """
    return [
        f"{_STDERR_MARK if stderr else _STDOUT_MARK}{line}"
        for text, stderr in pieces
        for line in text.splitlines()
    ]
