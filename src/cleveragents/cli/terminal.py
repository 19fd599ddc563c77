"""Writes to the standard streams: safe characters, colors, closed pipes.

Names come from repositories, and a repository is untrusted data: a character that could move
the cursor, change colors or reorder text on a terminal is written as an escape sequence.
"""

from __future__ import annotations

import contextlib
import os
import unicodedata
from collections.abc import Mapping
from typing import TextIO

# Cc: control characters such as ESC; Cf: bidirectional overrides, zero-width characters;
# Cs: bytes that are not UTF-8; Zl, Zp: line ends that only some terminals obey.
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}

RESET = "\x1b[0m"
BOLD = "\x1b[1m"
RED = "\x1b[31m"
GREEN = "\x1b[32m"
YELLOW = "\x1b[33m"
CYAN = "\x1b[36m"


def visible(text: str) -> str:
    """Returns the text on one line, with every unsafe character escaped."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def visible_lines(text: str) -> str:
    """Like `visible`, but keeps line ends and tabs."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(character if character in "\n\t" else _shown(character) for character in text)


def record(text: str) -> str:
    """Returns the text as a field of a tab-separated record; escapes can be reversed."""
    return visible(text.replace("\\", "\\\\"))


def width(text: str) -> int:
    """Returns how many columns a visible text takes on a terminal."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def paint(text: str, style: str, *, color: bool) -> str:
    return f"{style}{text}{RESET}" if color and text else text


def is_terminal(*streams: TextIO | None) -> bool:
    """Whether all streams are terminals; None is a stream that the caller closed."""
    return all(stream is not None and stream.isatty() for stream in streams)


def wants_color(stream: TextIO | None, asked: str, environ: Mapping[str, str]) -> bool:
    """Decides by `--color`, then by `NO_COLOR`, `FORCE_COLOR` and `TERM`, then by the stream."""
    if asked != "auto":
        return asked == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return environ.get("TERM") != "dumb" and is_terminal(stream)


def write(stream: TextIO | None, text: str) -> None:
    """Writes and flushes. A reader that closed the pipe does not make the command fail.

    Raises:
        OSError: the text could not be written for another reason, such as a full disk.
    """
    if stream is None:
        return
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        silence(stream)
    except OSError:
        silence(stream)
        raise


def write_line(stream: TextIO | None, value: Mapping[str, object]) -> None:
    """Writes a JSON object as one line of ASCII; ignores a stream that cannot be written."""
    import json

    with contextlib.suppress(OSError, ValueError):
        write(stream, f"{json.dumps(value, default=str)}\n")


def silence(stream: TextIO) -> None:
    """Redirects a stream to /dev/null, so that flushing it at exit raises nothing."""
    with contextlib.suppress(OSError, ValueError):
        descriptor = stream.fileno()
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, descriptor)
        os.close(null)


def _shown(character: str) -> str:
    if unicodedata.category(character) not in _UNSAFE:
        return character
    if character in _NAMED:
        return _NAMED[character]
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")
