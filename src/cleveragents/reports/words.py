"""Small wordings that every view shares."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

SHORT_HASH = 12


def moment(time: datetime | None) -> str | None:
    """Returns a time as documents print it: `2026-01-31T09:30:00.000000Z`."""
    if time is None:
        return None
    return time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


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
