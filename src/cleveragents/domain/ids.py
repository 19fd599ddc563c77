"""Ids as people type them: full, shortened, prefixed with `cp_`, or relative.

A plan or checkpoint is named by its 26-character ULID, by any unique prefix of
it, by `cp_` and either of these, or by its position: `@latest`, `@first`, `@-1`
(the newest), `@-2` (the one before) and so on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cleveragents.domain.errors import AmbiguousIdError

_ULID_ALPHABET = re.compile(r"[0-9A-HJKMNP-TV-Z]{1,26}")
_RELATIVE = re.compile(r"@(latest|first|-[1-9][0-9]{0,5})")


def normalise(text: str) -> str | None:
    """Returns the upper-case id or prefix meant by `text`, or None if it cannot be one."""
    bare = text[3:] if text[:3].lower() == "cp_" else text
    bare = bare.upper()
    return bare if _ULID_ALPHABET.fullmatch(bare) else None


def choose(text: str, noun: str, ids: Sequence[str]) -> str | None:
    """Returns the one id of `ids` (oldest first) that `text` names, or None.

    Raises:
        AmbiguousIdError: several ids start with the given text.
    """
    if text.startswith("@"):
        index = position(text, len(ids))
        return None if index is None else ids[index]
    prefix = normalise(text)
    if prefix is None:
        return None
    found = [candidate for candidate in ids if candidate.startswith(prefix)]
    if len(found) > 1:
        raise AmbiguousIdError(noun, text, found)
    return found[0] if found else None


def position(text: str, count: int) -> int | None:
    """Returns the index that `@latest`, `@first` or `@-1` names among `count`, or None."""
    relative = _RELATIVE.fullmatch(text)
    if relative is None:
        return None
    index = {"latest": -1, "first": 0}.get(relative.group(1))
    index = int(relative.group(1)) if index is None else index
    return index if -count <= index < count else None
