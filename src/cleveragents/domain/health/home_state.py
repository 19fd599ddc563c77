"""Whether a home directory is where its identity says."""

from __future__ import annotations

from enum import StrEnum


class HomeState(StrEnum):
    """What the identity says about where the home is."""

    NEW = "new"
    """It has no identity yet: an earlier version made it, or nobody used it."""
    SETTLED = "settled"
    MOVED = "moved"
    COPIED = "copied"
    """The home that it was copied from still exists."""
