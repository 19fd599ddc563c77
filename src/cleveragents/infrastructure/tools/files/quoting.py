"""Names as git writes them: in quotes, with escapes, where a line cannot hold them plainly."""

from __future__ import annotations

import os
import re

_LETTERS = {
    "a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92,
}  # fmt: skip
_NAMES = {code: letter for letter, code in _LETTERS.items()}
_QUOTED = re.compile(rb'"((?:[^"\\]|\\(?:[abtnvfr"\\]|[0-3][0-7]{2}))*)"')
_ESCAPE = re.compile(rb'\\([abtnvfr"\\]|[0-3][0-7]{2})')


def shown(path: str) -> str:
    """Returns a path that is one line of printable text, in quotes where it needs escapes."""
    if path.isprintable() and not path.startswith('"'):
        return path
    return '"' + "".join(_escaped(character) for character in path) + '"'


def unquoted(text: str) -> tuple[str, str] | None:
    """Reads a name in quotes at the start of the text.

    Returns:
        The name and what follows it, or None when there is none.
    """
    data = os.fsencode(text)
    match = _QUOTED.match(data)
    if match is None:
        return None
    name = _ESCAPE.sub(lambda escape: _meant(escape[1]), match[1])
    return os.fsdecode(name), os.fsdecode(data[match.end() :])


def _meant(escape: bytes) -> bytes:
    letter = escape.decode("ascii")
    return bytes([_LETTERS[letter] if letter in _LETTERS else int(letter, 8)])


def _escaped(character: str) -> str:
    code = ord(character)
    if code in _NAMES:
        return f"\\{_NAMES[code]}"
    if character.isprintable():
        return character
    return "".join(f"\\{byte:03o}" for byte in os.fsencode(character))
