"""Leases in the database: one process at a time changes a plan, and a dead one blocks nobody.

A lock that lasts forever would block the plan after its holder crashed on another host, where
nobody can ask whether it still runs. So a lease expires, and its holder renews it from a
background thread while it works.

Renewing alone is not enough: a process can be suspended (laptop lid, SIGSTOP, a long disk
stall) for longer than its lease lasts, lose the plan to another process, and wake up in the
middle of its work. Therefore every lease carries a fencing number that grows with each holder,
and every write transaction of this process first asks, in that same transaction, whether the
numbers it holds are still the current ones. What a late process writes is then rolled back by
the database (docs/internals/concurrency.md).
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
from cleveragents.infrastructure.system import is_running

_RENEWALS_PER_LEASE = 3
"""Two renewals may fail before the lease expires."""
_RETRIES_PER_RENEWAL = 10
"""How often a failed renewal is tried again before the next one would be due."""


@dataclass
class _Held:
    """A lease of this process, and how many blocks rely on it."""

    lease: Lease
    blocks: int = 0
    lost: bool = False
    """Whether another process took it over; a lost lease stays lost."""
    process_id: int = field(default_factory=os.getpid)


@dataclass
class _HeldPlan(PlanLease):
    """A lease from the side of its holder."""

    plan_id: str
    _locks: DatabaseLocks

    def check(self) -> None:
        self._locks.check(self.plan_id)


class DatabaseLocks(Locks):
    """Leases held by this process.

    If the holder is on this host, its process is looked up, so nobody waits after a crash.
    A holder on another host keeps its lease until it expires. Threads may share this object;
    processes may not, just as they may not share the database.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        holder: Holder,
        *,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        """Args: `database` must not itself call `verify`, or the calls would never end."""
        self._database = database
        self._clock = clock
        self._holder = holder
        self._lease_time = timedelta(seconds=lease_seconds)
        self._renewal_seconds = lease_seconds / _RENEWALS_PER_LEASE
        self._heartbeat: tuple[threading.Thread, threading.Event] | None = None
        """The thread that renews the leases while there are any, and what ends it.

        It is a daemon, so a process that ends does not wait for it.
        """
        self._changing = threading.Lock()
        # Replaced, never modified, so that it can be read without the lock. `verify` runs
        # inside a write transaction: if it waited for a thread that has the lock and itself
        # waits for the database, neither would ever continue.
        self._held: Mapping[str, _Held] = {}

    @contextmanager
    def hold(self, plan_id: str) -> Generator[PlanLease]:
        with self._changing:
            held = self._held.get(plan_id)
            if held is None:
                held = _Held(self._acquire(plan_id))
                self._held = {**self._held, plan_id: held}
                if self._heartbeat is None:
                    ended = threading.Event()
                    thread = threading.Thread(
                        target=self._keep_renewing, args=(ended,), name="heartbeat", daemon=True
                    )
                    thread.start()
                    self._heartbeat = thread, ended
            else:
                self.check(plan_id)
            held.blocks += 1
        try:
            yield _HeldPlan(plan_id, self)
        finally:
            # A forked child leaves the block too, but the lease belongs to its parent.
            if held.process_id == os.getpid():
                self._give_back(held)

    def check(self, plan_id: str) -> None:
        held = self._held.get(plan_id)
        if held is None:
            raise ConflictError(f"Plan {plan_id} is not held by this process", plan_id=plan_id)
        with self._database.read() as transaction:
            if held.lost or not transaction.leases.is_current(held.lease):
                raise _lost(held, transaction)

    def verify(self, transaction: Transaction) -> None:
        """Raises ConflictError if this process no longer has a lease that it relies on.

        Every write transaction calls this before it writes: the check counts only if nobody
        can take the lease between it and the commit.
        """
        for held in self._held.values():
            if held.lost or not transaction.leases.is_current(held.lease):
                raise _lost(held, transaction)

    def holder(self, plan_id: str) -> Holder | None:
        with self._database.read() as transaction:
            lease = transaction.leases.get(plan_id)
        return lease.holder if lease is not None and self._blocks(lease) else None

    def close(self) -> None:
        """Stops renewing, so that the database can be closed; releases no lease."""
        with self._changing:
            self._stop_renewing()

    def _give_back(self, held: _Held) -> None:
        plan_id = held.lease.plan_id
        with self._changing:
            held.blocks -= 1
            if held.blocks:
                return
            self._held = {key: other for key, other in self._held.items() if key != plan_id}
            if not self._held:
                self._stop_renewing()
        with self._database.write() as transaction:
            transaction.leases.release(plan_id, self._holder.owner_id)

    def _keep_renewing(self, ended: threading.Event) -> None:
        seconds = self._renewal_seconds
        while not ended.wait(seconds):
            seconds = self._renewal_seconds
            if not self._renew():
                seconds /= _RETRIES_PER_RENEWAL

    def _stop_renewing(self) -> None:
        """Ends the thread, after a renewal that is running; the database can then be closed."""
        if self._heartbeat is not None:
            thread, ended = self._heartbeat
            self._heartbeat = None
            ended.set()
            thread.join()

    def _renew(self) -> bool:
        """Extends every lease that is held; returns False if the database refused one.

        One transaction for each lease: a plan whose lease cannot be renewed must not cost the
        others theirs. A busy database is not an error here, since the next try comes soon.
        """
        succeeded = True
        for held in self._held.values():
            if held.lost:
                continue
            try:
                with self._database.write() as transaction:
                    until = self._clock.now() + self._lease_time
                    current = transaction.leases.renew(held.lease, until)
            except CleverAgentsError:
                succeeded = False
            else:
                held.lost = held.lost or not current
        return succeeded

    def _acquire(self, plan_id: str) -> Lease:
        with self._database.write() as transaction:
            transaction.plans.get(plan_id)
            present = transaction.leases.get(plan_id)
            # A lease of this process stays in the table if it could not be released.
            own = present is not None and present.holder.owner_id == self._holder.owner_id
            if present is not None and not own and self._blocks(present):
                raise ConflictError(
                    f"Plan {plan_id} is held by {present.holder}",
                    hint="Wait until it is done, or stop that process",
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
        """Returns whether the lease keeps other processes out."""
        if present.released:
            return False
        running = is_running(present.holder, self._holder.host)
        return present.expires_at > self._clock.now() if running is None else running


def _lost(held: _Held, transaction: Transaction) -> ConflictError:
    """Marks the lease as lost, and returns the error that names the new holder."""
    held.lost = True
    plan_id = held.lease.plan_id
    present = transaction.leases.get(plan_id)
    return ConflictError(
        f"Plan {plan_id} was taken over by {present.holder}"
        if present
        else f"The lease on plan {plan_id} was lost",
        hint="This process changed nothing more; "
        f"run `agents plan status {plan_id}` to see the plan's state",
        plan_id=plan_id,
        holder=present.holder.model_dump(mode="json") if present else None,
    )
