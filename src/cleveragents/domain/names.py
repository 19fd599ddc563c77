"""Names that people write in plan files, and a hint for an unknown one."""

from __future__ import annotations

import re
from collections.abc import Iterable

NAME = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
"""Arguments, resources and tools."""

IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)
"""Saved outputs, and parameters of a plan's own tools."""

PLAN_NAME = re.compile(r"(?:[a-z0-9][\w.-]*/)?[a-z0-9][\w.-]*", re.ASCII)
"""`local/add-greeting`, or without the namespace."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Returns a hint: the most similar known name, or else all of them."""
    import difflib

    names = sorted(known)
    if found := difflib.get_close_matches(name, names, n=1):
        return f"Did you mean `{found[0]}`?"
    if not names:
        return "There are none; define one first"
    return "Valid names: " + ", ".join(f"`{item}`" for item in names)
