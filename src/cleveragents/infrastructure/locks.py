"""Leases in the database: one process at a time changes a plan, and a dead one blocks nobody."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta

from cleveragents.application.ports import Clock, Database, Locks
from cleveragents.domain.errors import ConflictError
from cleveragents.domain.lease import LEASE_SECONDS, Holder, Lease
from cleveragents.infrastructure.system import is_running


class DatabaseLocks(Locks):
    """Leases held by this process.

    A holder on this host is asked whether it still runs, so a crash never makes
    anyone wait; one on another host keeps its lease until it expires.
    """

    def __init__(self, database: Database, clock: Clock, holder: Holder) -> None:
        self._database = database
        self._clock = clock
        self._holder = holder
        self._held: dict[str, Lease] = {}

    @contextmanager
    def hold(self, plan_id: str) -> Generator[Lease]:
        if plan_id in self._held:
            yield self._held[plan_id]
            return
        lease = self._acquire(plan_id)
        self._held[plan_id] = lease
        try:
            yield lease
        finally:
            del self._held[plan_id]
            with self._database.write() as transaction:
                transaction.leases.release(plan_id, self._holder.owner_id)

    def holder(self, plan_id: str) -> Holder | None:
        with self._database.read() as transaction:
            lease = transaction.leases.get(plan_id)
        return lease.holder if lease is not None and self._blocks(lease) else None

    def _acquire(self, plan_id: str) -> Lease:
        now = self._clock.now()
        with self._database.write() as transaction:
            transaction.plans.get(plan_id)
            present = transaction.leases.get(plan_id)
            if present is not None and self._blocks(present):
                raise ConflictError(
                    f"Plan {plan_id} is held by {present.holder}",
                    hint="Wait until it is done, or end that process",
                    plan_id=plan_id,
                    holder=present.holder.model_dump(mode="json"),
                )
            lease = Lease(
                plan_id=plan_id,
                holder=self._holder,
                fencing=present.fencing + 1 if present else 1,
                acquired_at=now,
                expires_at=now + timedelta(seconds=LEASE_SECONDS),
                released=False,
            )
            transaction.leases.put(lease)
        return lease

    def _blocks(self, present: Lease) -> bool:
        if present.released:
            return False
        running = is_running(present.holder, self._holder.host)
        return present.expires_at > self._clock.now() if running is None else running
