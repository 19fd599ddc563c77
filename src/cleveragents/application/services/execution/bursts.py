"""When a burst of writes has ended: after some quiet time, or when it lasts for too long."""

from __future__ import annotations


class BurstTimer:
    """Decides when a checkpoint is due. All times are seconds of one monotonic clock."""

    def __init__(self, quiet: float, longest: float) -> None:
        self._quiet = quiet
        self._longest = longest
        self._first: float | None = None
        self._last = 0.0

    def changed(self, now: float) -> None:
        """Notes that something was written."""
        self._first = now if self._first is None else self._first
        self._last = now

    def due_at(self) -> float | None:
        """Returns when a checkpoint is due; None if nothing was written."""
        if self._first is None:
            return None
        return min(self._last + self._quiet, self._first + self._longest)

    def take(self) -> None:
        """Notes that a checkpoint is being taken."""
        self._first = None
