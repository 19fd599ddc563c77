"""Leases: which process may change a plan, and when another one may take over."""

from __future__ import annotations

from datetime import datetime

from cleveragents.domain.record import Record

LEASE_SECONDS = 300.0
SHORTEST_LEASE_SECONDS = 5.0
"""A holder that cannot renew has half of the time to end its tool, which takes two seconds."""
LONGEST_LEASE_SECONDS = 3600.0


class Holder(Record):
    """One process, described for people; only `owner_id` decides whether it still runs."""

    owner_id: str
    """Random, and new in each process."""
    host: str
    process_id: int
    process_started: str
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
