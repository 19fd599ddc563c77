"""Leases: which process may change a plan, and when another one may take over."""

from __future__ import annotations

from datetime import datetime

from cleveragents.domain.record import Record

LEASE_SECONDS = 300


class Holder(Record):
    """One process, described so that its own host can tell whether it still runs."""

    owner_id: str
    host: str
    process_id: int
    process_started: str
    """When the process started: tells it from a later one with the same process id."""
    command: str

    def __str__(self) -> str:
        return f"process {self.process_id} on {self.host} (`{self.command}`)"


class Lease(Record):
    """The right to change one plan."""

    plan_id: str
    holder: Holder
    fencing: int
    """Grows with each acquisition, so that a writer that lost the lease can be refused."""
    acquired_at: datetime
    expires_at: datetime
    released: bool
