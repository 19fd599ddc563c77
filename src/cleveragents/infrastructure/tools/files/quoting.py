"""Writes and reads file names as git does: in quotes, with escapes, if that is necessary."""

from __future__ import annotations

import os
import re

_LETTERS = {
    "a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92,
}  # fmt: skip
_NAMES = {code: letter for letter, code in _LETTERS.items()}
_QUOTED = re.compile(rb'"((?:[^"\\]|\\(?:[abtnvfr"\\]|[0-3][0-7]{2}))*)"')
_ESCAPE = re.compile(rb'\\([abtnvfr"\\]|[0-3][0-7]{2})')


def quote_if_needed(path: str) -> str:
    """Returns a path as one line of printable text, in quotes if it needs escapes."""
    if path.isprintable() and not path.startswith('"'):
        return path
    return '"' + "".join(_escape(character) for character in path) + '"'


def read_quoted(text: str) -> tuple[str, str] | None:
    """Reads a name in quotes at the start of the text.

    Returns:
        The name and the text after it, or None if the text does not start with a quote.
    """
    data = os.fsencode(text)
    match = _QUOTED.match(data)
    if match is None:
        return None
    name = _ESCAPE.sub(lambda escape: _byte_of(escape[1]), match[1])
    return os.fsdecode(name), os.fsdecode(data[match.end() :])


def _byte_of(escape: bytes) -> bytes:
    letter = escape.decode("ascii")
    return bytes([_LETTERS[letter] if letter in _LETTERS else int(letter, 8)])


def _escape(character: str) -> str:
    code = ord(character)
    if code in _NAMES:
        return f"\\{_NAMES[code]}"
    if character.isprintable():
        return character
    return "".join(f"\\{byte:03o}" for byte in os.fsencode(character))
