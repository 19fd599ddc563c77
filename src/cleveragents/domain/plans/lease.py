"""Leases: which process may change a plan, and when another may take over."""

from __future__ import annotations

from datetime import datetime

from cleveragents.domain.record import Record

LEASE_SECONDS = 300


class Holder(Record):
    """One process, so that a dead one can be recognised on its own host."""

    owner_id: str
    host: str
    process_id: int
    process_started: str
    """Tells a process from a later one with the same number."""
    command: str

    def __str__(self) -> str:
        return f"process {self.process_id} on {self.host} (`{self.command}`)"


class Lease(Record):
    """The right to change one plan."""

    plan_id: str
    holder: Holder
    fencing: int
    """Grows with each acquisition, so that a late writer can be told from the present one."""
    acquired_at: datetime
    expires_at: datetime
    released: bool
