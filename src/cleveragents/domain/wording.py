"""Counts, lists and sizes as messages print them."""

from __future__ import annotations

from collections.abc import Sequence

_UNITS = ("KB", "MB", "GB", "TB")


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Returns `1 file` or `3 files`; `plural` is for nouns that do not just add an s."""
    return f"{count} {noun}" if count == 1 else f"{count} {plural or noun + 's'}"


def listed(items: Sequence[str], most: int = 5) -> str:
    """Returns up to `most` items, and how many there are beyond: `a, b and 3 more`."""
    more = len(items) - most
    return ", ".join(items[:most]) + (f" and {more} more" if more > 0 else "")


def joined(parts: Sequence[str]) -> str:
    """Returns the parts as a sentence lists them: `a, b and c`."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def first_lines(items: Sequence[str], most: int = 20) -> list[str]:
    """Returns up to `most` indented lines, and a line saying how many items are left out."""
    lines = [f"  {item}" for item in items[:most]]
    more = len(items) - most
    return [*lines, f"  … and {more} more"] if more > 0 else lines


def size(count: int) -> str:
    """Returns a number of bytes in the largest unit that keeps it at 1 or above.

    Units are powers of 1024, everywhere.
    """
    if count < 1024:
        return f"{count} B"
    amount = count / 1024
    for unit in _UNITS[:-1]:
        if amount < 1024:
            return f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} {_UNITS[-1]}"
