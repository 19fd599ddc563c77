"""Small wordings that every report shares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import Enum
from typing import cast

SHORT_HASH = 12


def shown(value: object) -> str:
    """Returns a value as people read it; nothing for None."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case Enum():
            return str(value.value)
        case datetime():
            return readable(value)
        case list() | tuple():
            return ", ".join(map(shown, cast("Iterable[object]", value)))
        case _:
            return str(value)


def readable(time: datetime) -> str:
    """Returns a time as people read it."""
    return time.strftime("%Y-%m-%d %H:%M:%S")


def size(count: int) -> str:
    """Returns a number of bytes in the largest unit that keeps it above one."""
    amount = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if amount < 1024 or unit == "GB":
            return f"{count} B" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    raise AssertionError("unreachable")  # pragma: no cover


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def joined(parts: Sequence[str]) -> str:
    """Returns the parts as a sentence lists them: `a, b and c`."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def with_article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"
