"""Patterns for paths: `*`, `?` and `[…]` inside a name, `**` for any number of directories."""

from __future__ import annotations

from fnmatch import fnmatchcase

_ANY_DEPTH = "**"


def glob_matches(pattern: str, path: str) -> bool:
    """Says whether the path fits; a pattern without `/` is compared with its last component."""
    names = path.split("/")
    if "/" not in pattern:
        return fnmatchcase(names[-1], pattern)
    # Which numbers of names the parts of the pattern so far can stand for: never exponential.
    reached = {0}
    for part in pattern.strip("/").split("/"):
        if part == _ANY_DEPTH:
            reached = set(range(min(reached), len(names) + 1))
        else:
            reached = {
                count + 1
                for count in reached
                if count < len(names) and fnmatchcase(names[count], part)
            }
        if not reached:
            return False
    return len(names) in reached
