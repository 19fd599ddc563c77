"""How much a snapshot may take, and what is captured beyond the usual."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What the user allows; None means no limit."""

    max_file_bytes: int | None = None
    max_plan_bytes: int | None = None
    """How much all snapshots of one resource of a plan may add to the store."""
    deadline_seconds: float | None = None
    include_ignored: tuple[str, ...] = ()
    """Patterns of ignored paths that are captured anyway; `all` for every one."""
    ignored_max_bytes: int | None = None
    """Ignored files up to this size are captured where the sandbox is the project itself."""
    rebuildable: tuple[str, ...] = ()
    """Patterns of what a tool can make again: no result of a plan."""
