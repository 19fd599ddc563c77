"""Writes to the standard streams: safe characters, colors, closed pipes.

Names come from repositories, and a repository is untrusted data: a character that could move
the cursor, change colors or reorder text on a terminal is written as an escape sequence.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import unicodedata
from collections.abc import Mapping
from typing import TextIO

# Cc: control characters such as ESC; Cf: bidirectional overrides, zero-width characters;
# Cs: bytes that are not UTF-8; Zl, Zp: line ends that only some terminals obey.
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}

_ESCAPE = re.compile(r"\\(?:[ntr]|x[0-9a-f]{2}|u[0-9a-f]{4}|U0010[0-9a-f]{4}|U000[0-9a-f]{5})")
USUAL_WIDTH = 80
# A word, or code in backquotes with what touches it; and the spaces before it.
_WORD = re.compile(r"(\s*)((?:`[^`]*`|[^\s`]|`)+)")

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


def unescaped(text: str) -> str:
    """Returns the text whose visible form this is, as far as that can be known."""
    return _ESCAPE.sub(lambda found: _unescaped(found[0]), text)


def _unescaped(escape: str) -> str:
    named = {shown: character for character, shown in _NAMED.items()}
    if escape in named:
        return named[escape]
    code = int(escape[2:], 16)
    is_byte = escape[1] == "x" and code > 0x7F  # A byte that is not UTF-8.
    return chr(0xDC00 + code if is_byte else code)


def record(text: str) -> str:
    """Returns the text as a field of a tab-separated record; escapes can be reversed."""
    return visible(text.replace("\\", "\\\\"))


def width(text: str) -> int:
    """Returns how many columns a visible text takes on a terminal."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def shortened(text: str, room: int, *, at_start: bool = False) -> str:
    """Returns a visible text of at most `room` columns; an ellipsis marks what is left out."""
    if width(text) <= room:
        return text
    kept, left = "", room - 1
    for character in reversed(text) if at_start else text:
        left -= width(character)
        if left < 0:
            break
        kept += character
    return f"…{kept[::-1]}" if at_start else f"{kept.rstrip()}…"


def filled(text: str, room: int) -> list[str]:
    """Wraps lines at words; code in backquotes stays in one piece, and so does any longer word."""
    return [part for line in text.splitlines() for part in _wrapped(line, room)]


def _wrapped(line: str, room: int) -> list[str]:
    if width(line) <= room:
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    lines, current = list[str](), indent
    for space, word in _WORD.findall(line.lstrip()):
        longer = current + space + word
        if current.strip() and width(longer) > room:
            lines.append(current)
            longer = indent + word
        current = longer
    return [*lines, current]


def screen_width(stream: TextIO | None, environ: Mapping[str, str]) -> int | None:
    """Returns how many columns a screen has; None if the stream is not a terminal.

    `COLUMNS` overrides the terminal, and sets the width of the output without one.
    """
    asked = environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    if stream is None or not is_terminal(stream):
        return None
    with contextlib.suppress(OSError, ValueError):
        return os.get_terminal_size(stream.fileno()).columns or USUAL_WIDTH
    return USUAL_WIDTH


def for_stderr(text: str, environ: Mapping[str, str]) -> str:
    """Returns safe text, wrapped at words if a person reads it on a terminal."""
    safe = visible_lines(text)
    room = screen_width(sys.stderr, environ)
    if room is None or not is_terminal(sys.stderr):
        return safe
    return "\n".join(filled(safe, room))


def paint(text: str, style: str, *, color: bool) -> str:
    return f"{style}{text}{RESET}" if color and style and text else text


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
