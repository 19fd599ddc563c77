"""Leases in the database: one process at a time changes a plan, and a dead one blocks nobody.

A lock that lasts forever would block the plan after its holder crashed on another host, where
nobody can ask whether it still runs. So a lease expires, and its holder renews it from a
background thread while it works. Processes of the same home need not wait for that: they see
from its `Presence` whether the holder runs.

Renewing alone is not enough: a process can be suspended (laptop lid, SIGSTOP, a long disk
stall) for longer than its lease lasts, lose the plan to another process, and wake up in the
middle of its work. Therefore every lease carries a fencing number that grows with each holder,
and every write transaction of this process first asks, in that same transaction, whether the
numbers it holds are still the current ones. What a late process writes is then rolled back by
the database. Tools write files, which no transaction can roll back: `must_stop` tells when a
tool has to end, before its lease can pass to another process (docs/internals/concurrency.md).
"""

from __future__ import annotations

import fcntl
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cleveragents.application.ports.locks import Locks, PlanLease
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.system import Clock
from cleveragents.domain.errors import (
    CleverAgentsError,
    ConflictError,
    DatabaseError,
    OtherHomeError,
)
from cleveragents.domain.plans.lease import LEASE_SECONDS, Holder, Lease
from cleveragents.domain.plans.plan import Plan
from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import SandboxRef, SandboxState
from cleveragents.domain.wording import counted
from cleveragents.infrastructure.file_locks import (
    Presence,
    lock_file,
    lock_holder,
    one_of,
    signed,
    take_lock,
)
from cleveragents.infrastructure.system import announce_wait, is_this_machine

_RENEWALS_PER_LEASE = 3
"""Two renewals may fail before the lease expires."""
_RETRIES_PER_RENEWAL = 10
"""How often a failed renewal is tried again before the next one would be due."""
_POLL_SECONDS = 0.05
_STOPPING_SECONDS = 60.0
"""How long a process has to stop; ending its tool and storing the state may take a while."""
_STOP_AFTER = 0.5
"""The part of a lease after which a holder that cannot renew it stops its tool."""


@dataclass
class _HeldLease(PlanLease):
    """A lease of this process, and how many blocks rely on it."""

    plan_id: str
    lease: Lease
    renewed: float
    """When the last renewal that succeeded was sent, by the monotonic clock."""
    database: Database
    blocks: int = 0
    lost: bool = False
    """Whether another process took it over, or may have; a lost lease stays lost."""
    trying_since: float | None = None
    """When the renewing began that has not succeeded yet."""
    process_id: int = field(default_factory=os.getpid)

    def check(self, transaction: Transaction | None = None) -> None:
        if not self.blocks:
            raise ConflictError(
                f"Plan {self.plan_id} is not held by this process", plan_id=self.plan_id
            )
        if self.lost and self.trying_since is not None:
            raise _not_renewed(self.plan_id)
        with self.database.read() if transaction is None else nullcontext(transaction) as found:
            self.verify(found)

    def verify(self, transaction: Transaction) -> None:
        """Raises ConflictError with the new holder if the lease is not the current one."""
        if not self.lost and transaction.leases.is_current(self.lease):
            return
        self.lost = True
        present = transaction.leases.get(self.plan_id)
        if present is not None and present.holder.owner_id == self.lease.holder.owner_id:
            raise _not_renewed(self.plan_id)
        raise ConflictError(
            f"Plan {self.plan_id} was taken over by {present.holder}"
            if present
            else f"The lease on plan {self.plan_id} was lost",
            hint="This process changed nothing more; "
            f"run `agents plan status {self.plan_id}` to see the plan's state",
            plan_id=self.plan_id,
            holder=present.holder.model_dump(mode="json") if present else None,
        )


class DatabaseLocks(Locks):
    """Leases held by this process.

    If the holder uses this home, its presence tells whether it runs, so nobody waits after a
    crash. Any other holder keeps its lease until it expires, by the clock of the database.
    Threads may share this object; processes may not, just as they may not share the database.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        presence: Presence,
        *,
        lease_seconds: float = LEASE_SECONDS,
        concurrency: int | None = None,
        enter_views: Callable[[Sequence[SandboxRef]], object] | None = None,
    ) -> None:
        """Prepares leases.

        Args:
            database: It must not itself call `verify`, or the calls would never end.
            clock: Tells when a renewal is due.
            presence: Tells which processes run.
            lease_seconds: How long a lease lasts that is not renewed.
            concurrency: How many plans may run at once; None for any number.
            enter_views: Called with the private views of a plan, if it has any, before the
                thread that renews leases starts.
        """
        self._enter_views = enter_views
        self._concurrency = concurrency
        self._database = database
        self._clock = clock
        self._presence = presence
        self._lease_seconds = lease_seconds
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
        self._held: Mapping[str, _HeldLease] = {}
        self._places: set[str] = set()

    @contextmanager
    def place(self, project_key: str) -> Generator[None]:
        if project_key in self._places:
            yield
            return
        self._presence.announce()
        path = self._presence.directory / f"in-place-{project_key}.lock"
        with lock_file(path) as descriptor:
            if not take_lock(descriptor, fcntl.LOCK_EX):
                raise ConflictError(
                    "Another session works on the files of this project: "
                    f"{lock_holder(descriptor)}",
                    hint="Wait until it has ended, or work in a copy: `--isolation copy`",
                )
            with signed(descriptor):
                self._places.add(project_key)
                try:
                    yield
                finally:
                    self._places.discard(project_key)

    def turn(self, plan_id: str) -> AbstractContextManager[None]:
        if self._concurrency is None:
            return nullcontext()
        with self._database.read() as transaction:
            if transaction.plans.get(plan_id).parent_plan_id is not None:
                return nullcontext()  # Its parent has a turn, and waits for it.
        self._presence.announce()
        places = [self._presence.directory / f"turn-{n}.lock" for n in range(self._concurrency)]
        most = counted(self._concurrency, "plan")
        return one_of(places, f"`plan.concurrency` lets {most} run at a time")

    @contextmanager
    def hold(self, plan_id: str) -> Generator[PlanLease]:
        # The database is asked under the lock: the lease of a second thread would get a higher
        # number, and this one would be lost.
        with self._changing:
            held = self._held.get(plan_id)
            if held is None:
                # Before the request, because the lease may begin as early as that.
                sent = self._clock.monotonic()
                lease, views = self._acquire(plan_id)
                if views and self._enter_views is not None and self._heartbeat is None:
                    self._enter_views(views)
                held = _HeldLease(plan_id, lease, sent, self._database)
                self._held = {**self._held, plan_id: held}
                if self._heartbeat is None:
                    ended = threading.Event()
                    thread = threading.Thread(
                        target=self._keep_renewing, args=(ended,), name="heartbeat", daemon=True
                    )
                    thread.start()
                    self._heartbeat = thread, ended
            else:
                held.check()
            held.blocks += 1
        try:
            yield held
        finally:
            # A forked child leaves the block too, but the lease belongs to its parent.
            if held.process_id == os.getpid():
                self._give_back(held)

    @contextmanager
    def hold_below(self, plan_id: str) -> Generator[Sequence[Plan]]:
        with self._database.read() as transaction:
            below = transaction.plans.descendants(plan_id)
        with ExitStack() as held:
            for plan in below:
                held.enter_context(self.hold(plan.id))
            yield below

    def verify(self, transaction: Transaction) -> None:
        """Raises ConflictError if this process no longer has a lease that it relies on.

        Every write transaction calls this before it writes: the check counts only if nobody
        can take the lease between it and the commit.
        """
        for held in self._held.values():
            held.verify(transaction)

    def must_stop(self) -> bool:
        """Returns whether a tool of this process has to end now.

        This is so if a lease could not be renewed for half of its time: the rest is for
        ending the tool before another process may take the plan. That the clock says so is
        not enough. A process that was stopped meanwhile gets the chance to renew first.
        """
        now = self._clock.monotonic()
        for held in self._held.values():
            since = held.trying_since
            if since is None or now - held.renewed < self._lease_seconds * _STOP_AFTER:
                continue
            if now - since >= self._renewal_seconds / _RETRIES_PER_RENEWAL:
                held.lost = True
        return any(held.lost for held in self._held.values())

    def holder(self, plan_id: str) -> Holder | None:
        lease = self.lease(plan_id)
        return lease.holder if lease is not None else None

    def lease(self, plan_id: str) -> Lease | None:
        with self._database.read() as transaction:
            lease = transaction.leases.get(plan_id)
            now = transaction.leases.now()
        if lease is None or lease.released:
            return None
        return lease if self._blocks(lease, now) else None

    def stop_holder(self, plan_id: str) -> None:
        holder = self.holder(plan_id)
        own = self._presence.holder.owner_id
        if holder is None or holder.owner_id == own or not is_this_machine(holder):
            return
        announce_wait(f"Stopping {holder}")
        with suppress(ProcessLookupError):
            os.kill(holder.process_id, signal.SIGTERM)
        until = self._clock.monotonic() + _STOPPING_SECONDS
        while self.holder(plan_id) == holder and self._clock.monotonic() < until:
            time.sleep(_POLL_SECONDS)

    def close(self) -> None:
        """Stops renewing, so that the database can be closed; releases no lease."""
        with self._changing:
            self._stop_renewing()

    def _give_back(self, held: _HeldLease) -> None:
        plan_id = held.plan_id
        with self._changing:
            held.blocks -= 1
            if held.blocks:
                return
            self._held = {key: other for key, other in self._held.items() if key != plan_id}
            # The database did not answer the thread, and need not answer this one either. A lease
            # that could not be renewed ends by itself.
            given_up = held.lost and held.trying_since is not None
            if not self._held:
                self._stop_renewing(wait=not given_up)
        try:
            if not given_up:
                with self._database.write(plan_id) as transaction:
                    transaction.leases.release(plan_id, held.lease.holder.owner_id)
                return
        except DatabaseError:
            # The disk may be full. What this process did under the lease is done or undone by
            # now, so that is not an error.
            pass
        self._presence.leave_behind()

    def _keep_renewing(self, ended: threading.Event) -> None:
        seconds = self._renewal_seconds
        while not ended.wait(seconds):
            seconds = self._renewal_seconds
            if not self._renew():
                seconds /= _RETRIES_PER_RENEWAL

    def _stop_renewing(self, *, wait: bool = True) -> None:
        """Ends the thread; if it is waited for, the database can then be closed."""
        if self._heartbeat is not None:
            thread, ended = self._heartbeat
            self._heartbeat = None
            ended.set()
            if wait:
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
            sent = self._clock.monotonic()
            held.trying_since = sent if held.trying_since is None else held.trying_since
            try:
                with self._database.write(held.plan_id) as transaction:
                    until = transaction.leases.now() + self._lease_time
                    current = transaction.leases.renew(held.lease, until)
            except CleverAgentsError:
                succeeded = False
            else:
                held.lost = held.lost or not current
                held.renewed, held.trying_since = sent, None
        return succeeded

    def _acquire(self, plan_id: str) -> tuple[Lease, Sequence[SandboxRef]]:
        """Takes the lease; returns it, and the private views of the plan."""
        self._presence.announce()
        holder = self._presence.holder
        with self._database.write(plan_id) as transaction:
            transaction.plans.get(plan_id)
            sandboxes = transaction.sandboxes.list(plan_id)
            for sandbox in sandboxes:
                if not self._database.owns(sandbox):
                    raise OtherHomeError(plan_id, sandbox.path)
            present, now = transaction.leases.get(plan_id), transaction.leases.now()
            if (
                present is not None
                and not present.released
                # A lease of this process stays in the table if it could not be released.
                and present.holder.owner_id != holder.owner_id
                and self._blocks(present, now)
            ):
                raise ConflictError(
                    f"Plan {plan_id} is held by {present.holder}",
                    hint="Wait until it is done, or stop that process",
                    plan_id=plan_id,
                    holder=present.holder.model_dump(mode="json"),
                )
            # Never reused, not even after a release: a process that was suspended while it held
            # the plan must not pass for the holder when it wakes up.
            lease = Lease(
                plan_id=plan_id,
                holder=holder,
                fencing=present.fencing + 1 if present else 1,
                acquired_at=now,
                expires_at=now + self._lease_time,
                released=False,
            )
            transaction.leases.put(lease)
        return lease, [
            item
            for item in sandboxes
            if item.strategy is SandboxStrategy.PRIVATE_VIEW
            and item.state is not SandboxState.CLEANED_UP
        ]

    def _blocks(self, present: Lease, now: datetime) -> bool:
        """Returns whether a lease that was not released keeps other processes out.

        Args:
            present: The lease.
            now: The time of the database.
        """
        running = self._presence.is_running(present.holder.owner_id)
        return present.expires_at > now if running is None else running


def _not_renewed(plan_id: str) -> ConflictError:
    return ConflictError(
        f"The lease on plan {plan_id} could not be renewed, so another process may take the plan",
        hint="This process changed nothing more; when the database answers again, "
        f"run `agents plan resume {plan_id}`",
        plan_id=plan_id,
        holder=None,
    )
