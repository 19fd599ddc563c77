"""Matches paths with patterns: `*`, `?` and `[…]` in a name, `**` for any directories."""

from __future__ import annotations

from fnmatch import fnmatchcase

_ANY_DEPTH = "**"


def glob_matches(pattern: str, path: str) -> bool:
    """Returns whether the path matches. A pattern without `/` is for its last component."""
    names = path.split("/")
    if "/" not in pattern:
        return fnmatchcase(names[-1], pattern)
    # How many names the parts of the pattern so far can match. This is never exponential.
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
