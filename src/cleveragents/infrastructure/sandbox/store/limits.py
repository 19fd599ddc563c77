"""How much a snapshot may take, and what is to be captured beyond the usual."""

from __future__ import annotations

from dataclasses import dataclass

from cleveragents.domain.errors import SnapshotError
from cleveragents.domain.wording import size

_RESERVE = 32 << 20
"""Bytes that stay free: the records need room too."""


@dataclass(frozen=True)
class Limits:
    """What the user allows; None means no limit."""

    max_file_bytes: int | None = None
    max_plan_bytes: int | None = None
    """Of all that the snapshots of one resource of a plan have added to the store."""
    deadline_seconds: float | None = None
    include_ignored: tuple[str, ...] = ()
    """Patterns of ignored paths that are captured all the same; `all` for every one."""

    @property
    def includes_everything(self) -> bool:
        return "all" in self.include_ignored


def require_room(free_bytes: int, needed_bytes: int) -> None:
    """Raises SnapshotError unless so many bytes can be written and the rest can go on working."""
    if free_bytes < needed_bytes + _RESERVE:
        raise SnapshotError(
            f"There is not enough room for the snapshot: it needs {size(needed_bytes)}, "
            f"{size(free_bytes)} are free",
            hint="Make room in the home directory of CleverAgents; `agents gc` may reclaim some",
        )
