"""Leases in the database: one process at a time changes a plan, and a dead one blocks nobody.

A lease that is held is renewed in the background. Whoever lost one, because it was
stopped or cut off for longer than the lease lasts, cannot write any more
(docs/internals/concurrency.md).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from cleveragents.application.ports.locks import Locks, PlanLease
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.system import Clock
from cleveragents.domain.errors import CleverAgentsError, ConflictError
from cleveragents.domain.plans.lease import LEASE_SECONDS, Holder, Lease
from cleveragents.infrastructure.heartbeat import Heartbeat
from cleveragents.infrastructure.system import is_running

_BEATS_PER_LEASE = 3


@dataclass
class _Held:
    """A lease of this process, and how many blocks rely on it."""

    lease: Lease
    blocks: int = 0
    lost: bool = False
    """Whether another process took it over; that is never mended."""
    process_id: int = field(default_factory=os.getpid)


class _HeldPlan(PlanLease):
    """A lease as whoever holds it sees it."""

    def __init__(self, locks: DatabaseLocks, plan_id: str) -> None:
        self._locks = locks
        self._plan_id = plan_id

    @property
    def plan_id(self) -> str:
        return self._plan_id

    def check(self) -> None:
        self._locks.check(self._plan_id)


class DatabaseLocks(Locks):
    """Leases held by this process.

    A holder on this host is asked whether it still runs, so a crash never makes
    anyone wait; one on another host keeps its lease until it expires. Threads may
    share this; processes may not, as they may not share the database.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        holder: Holder,
        *,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        """Takes a database that does not itself ask `verify`."""
        self._database = database
        self._clock = clock
        self._holder = holder
        self._lease_time = timedelta(seconds=lease_seconds)
        self._heartbeat = Heartbeat(self._renew, lease_seconds / _BEATS_PER_LEASE)
        self._changing = threading.Lock()
        # Replaced and never changed, so that it can be read without the lock: whoever
        # has the lock may be waiting for the database, and `verify` runs inside it.
        self._held: Mapping[str, _Held] = {}

    @contextmanager
    def hold(self, plan_id: str) -> Generator[PlanLease]:
        held = self._take(plan_id)
        try:
            yield _HeldPlan(self, plan_id)
        finally:
            self._give_back(held)

    def check(self, plan_id: str) -> None:
        held = self._held.get(plan_id)
        if held is None:
            raise ConflictError(f"Plan {plan_id} is not held by this process", plan_id=plan_id)
        with self._database.read() as transaction:
            self._verify_one(transaction, held)

    def verify(self, transaction: Transaction) -> None:
        """Raises ConflictError if a lease that this process holds is not its own any more."""
        for held in self._held.values():
            self._verify_one(transaction, held)

    def holder(self, plan_id: str) -> Holder | None:
        with self._database.read() as transaction:
            lease = transaction.leases.get(plan_id)
        return lease.holder if lease is not None and self._blocks(lease) else None

    def close(self) -> None:
        """Ends the renewing, so that the database can be closed; gives nothing back."""
        with self._changing:
            self._heartbeat.stop()

    def _take(self, plan_id: str) -> _Held:
        with self._changing:
            held = self._held.get(plan_id)
            if held is None:
                held = _Held(self._acquire(plan_id))
                self._held = {**self._held, plan_id: held}
                self._heartbeat.start()
            else:
                self.check(plan_id)
            held.blocks += 1
        return held

    def _give_back(self, held: _Held) -> None:
        if held.process_id != os.getpid():
            return  # A fork has left the block; the lease is its parent's.
        plan_id = held.lease.plan_id
        with self._changing:
            held.blocks -= 1
            if held.blocks:
                return
            self._held = {key: other for key, other in self._held.items() if key != plan_id}
            if not self._held:
                self._heartbeat.stop()
        with self._database.write() as transaction:
            transaction.leases.release(plan_id, self._holder.owner_id)

    def _renew(self) -> bool:
        """Puts off the end of all that is held; returns whether the database let it."""
        renewed = [self._renew_one(held) for held in self._held.values() if not held.lost]
        return all(renewed)

    def _renew_one(self, held: _Held) -> bool:
        try:
            with self._database.write() as transaction:
                until = self._clock.now() + self._lease_time
                current = transaction.leases.renew(held.lease, until)
        except CleverAgentsError:
            return False
        held.lost = held.lost or not current
        return True

    def _verify_one(self, transaction: Transaction, held: _Held) -> None:
        held.lost = held.lost or not transaction.leases.is_current(held.lease)
        if not held.lost:
            return
        plan_id = held.lease.plan_id
        present = transaction.leases.get(plan_id)
        raise ConflictError(
            f"Plan {plan_id} was taken over by {present.holder if present else 'nobody known'}",
            hint="Nothing more was changed here; "
            f"run `agents plan status {plan_id}` to see how it goes on",
            plan_id=plan_id,
            holder=present.holder.model_dump(mode="json") if present else None,
        )

    def _acquire(self, plan_id: str) -> Lease:
        with self._database.write() as transaction:
            transaction.plans.get(plan_id)
            present = transaction.leases.get(plan_id)
            # One of our own is left in the table when it could not be given back.
            own = present is not None and present.holder.owner_id == self._holder.owner_id
            if present is not None and not own and self._blocks(present):
                raise ConflictError(
                    f"Plan {plan_id} is held by {present.holder}",
                    hint="Wait until it is done, or end that process",
                    plan_id=plan_id,
                    holder=present.holder.model_dump(mode="json"),
                )
            now = self._clock.now()
            lease = Lease(
                plan_id=plan_id,
                holder=self._holder,
                fencing=present.fencing + 1 if present else 1,
                acquired_at=now,
                expires_at=now + self._lease_time,
                released=False,
            )
            transaction.leases.put(lease)
        return lease

    def _blocks(self, present: Lease) -> bool:
        if present.released:
            return False
        running = is_running(present.holder, self._holder.host)
        return present.expires_at > self._clock.now() if running is None else running
