"""Writing to the standard streams: safe characters, colours, closed pipes.

Names come from repositories, and a repository is data: what could move the cursor, change
colours or reorder the text on a terminal is shown as an escape, never sent.
"""

from __future__ import annotations

import contextlib
import os
import unicodedata
from collections.abc import Mapping
from typing import TextIO

# Cc: ESC and its kin; Cf: bidirectional overrides, zero-width; Cs: bytes that are not UTF-8;
# Zl, Zp: line ends that only some terminals obey.
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}

RESET = "\x1b[0m"
BOLD = "\x1b[1m"
RED = "\x1b[31m"
GREEN = "\x1b[32m"
YELLOW = "\x1b[33m"
CYAN = "\x1b[36m"


def visible(text: str) -> str:
    """Returns the text on one line, with every unsafe character shown as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def visible_lines(text: str) -> str:
    """Like `visible`, but keeps the line ends and tabs of text that is meant to have them."""
    return "".join(character if character in "\n\t" else _shown(character) for character in text)


def record(text: str) -> str:
    """Returns the text as one field of a tab-separated record; the escapes are unambiguous."""
    return visible(text.replace("\\", "\\\\"))


def width(text: str) -> int:
    """Counts the columns a visible text takes on a terminal."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def paint(text: str, style: str, *, color: bool) -> str:
    return f"{style}{text}{RESET}" if color and text else text


def is_terminal(*streams: TextIO | None) -> bool:
    """Whether all of them are terminals; a stream the caller closed is none."""
    return all(stream is not None and stream.isatty() for stream in streams)


def wants_color(stream: TextIO | None, asked: str, environ: Mapping[str, str]) -> bool:
    """Decides by `--color`, then `NO_COLOR`, `FORCE_COLOR`, `TERM`, then the stream."""
    if asked != "auto":
        return asked == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return environ.get("TERM") != "dumb" and is_terminal(stream)


def write(stream: TextIO | None, text: str) -> None:
    """Writes and flushes; a reader that went away is no failure of the command.

    Raises:
        OSError: the stream cannot be written for another reason, such as a full disk.
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
    """Writes a JSON object as one line of ASCII; a stream that takes none is no failure."""
    import json

    with contextlib.suppress(OSError, ValueError):
        write(stream, f"{json.dumps(value, default=str)}\n")


def silence(stream: TextIO) -> None:
    """Sends what is still buffered nowhere, so that Python does not complain at exit."""
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
