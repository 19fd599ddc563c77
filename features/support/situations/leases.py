"""Two hosts that share one database, each with a clock, leases and a fence of its own."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Generator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from cleveragents.application.ports.records import Database, Transaction
from cleveragents.domain.errors import ConflictError
from cleveragents.domain.plans.lease import Holder, Lease
from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.infrastructure.database import schema
from cleveragents.infrastructure.database.unit_of_work import Connections, SqlDatabase
from cleveragents.infrastructure.file_locks import Presence, RunningProcess
from cleveragents.infrastructure.locks import DatabaseLocks
from cleveragents.infrastructure.system import SystemClock
from cleveragents.testing import sample_records as sample

PLAN, ANOTHER = "PLAN1", "PLAN2"
SHORT_SECONDS = 1.0


class SetClock(SystemClock):
    """The machine's clock, set forward or stopped by hand."""

    def __init__(self) -> None:
        self.ahead = timedelta()
        self.stopped_at: datetime | None = None

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead.total_seconds()

    def now(self) -> datetime:
        return self.stopped_at or datetime.now(UTC) + self.ahead


class BusyDatabase(Database):
    """A database that another process keeps busy for as many writes as one says."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.busy_for = 0

    def read(self) -> AbstractContextManager[Transaction]:
        return self._database.read()

    @contextmanager
    def write(self, *plans: str, adds_group: bool = False) -> Generator[Transaction]:
        if self.busy_for:
            self.busy_for -= 1
            raise ConflictError("Another process is using the database")
        with self._database.write(*plans) as transaction:
            yield transaction

    def is_doubted(self) -> bool:
        return self._database.is_doubted()

    def trust(self) -> None:
        self._database.trust()

    def owns(self, sandbox: SandboxRef) -> bool:
        return self._database.owns(sandbox)


class Host:
    """One host with one process that works on the plan."""

    def __init__(
        self, shared: Connections, place: Path, number: int, name: str, seconds: float
    ) -> None:
        self.clock = SetClock()
        self.holder = Holder(
            owner_id=f"OWNER{number}",
            host=f"{name}.example.org",
            process_id=number,
            process_started="1",
            command="agents plan execute",
        )
        self.under_locks = BusyDatabase(SqlDatabase(shared, self.clock))
        # Each host has a home of its own, so neither sees whether the other runs.
        self.presence = Presence(
            place / name, RunningProcess(holder=self.holder, revision=schema.HEAD_REVISION)
        )
        self.locks = DatabaseLocks(
            self.under_locks, self.clock, self.presence, lease_seconds=seconds
        )
        self.database = SqlDatabase(shared, self.clock, on_begin=[self.locks.verify])
        self.work = ExitStack()

    def write(self) -> None:
        """Stores a value that differs from what the other host stores."""
        with self.database.write() as transaction:
            plan = transaction.plans.get(PLAN)
            transaction.plans.save(replace(plan, name=self.holder.host))

    def hold(self) -> None:
        self.lease = self.work.enter_context(self.locks.hold(PLAN))


class TwoHosts:
    """A plan, the two hosts, and why the last act was refused."""

    def __init__(self, home: Path, url: str | None = None) -> None:
        self._place = home.parent
        self.shared = Connections(url, home)
        self.sql = SqlDatabase(self.shared, SetClock())
        with self.sql.write() as transaction:
            transaction.plans.add(sample.plan(PLAN))
            transaction.plans.add(sample.plan(ANOTHER))
        self.hosts = {
            "first": Host(self.shared, self._place, 1, "first", 300),
            "second": Host(self.shared, self._place, 2, "second", 300),
        }
        self.refusal: ConflictError | None = None

    def shorten(self) -> None:
        self.hosts["first"] = Host(self.shared, self._place, 1, "first", SHORT_SECONDS)

    def close(self) -> None:
        for host in self.hosts.values():
            host.work.close()
            host.presence.withdraw()
        self.sql.close()

    def lease(self) -> Lease | None:
        with self.sql.read() as transaction:
            return transaction.leases.get(PLAN)

    def stored(self) -> str:
        """Which host wrote last."""
        with self.sql.read() as transaction:
            return transaction.plans.get(PLAN).name

    def take_over(self) -> None:
        """Lets the lease of the first host run out, and the second take the plan."""
        self.hosts["second"].clock.ahead = timedelta(days=1)
        self.hosts["second"].hold()

    def stop_second_clock_in_lease(self) -> None:
        """Has the second host look while the present lease lasts, however late it gets to it."""
        self.hosts["second"].clock.stopped_at = _end(self.lease()) - timedelta(microseconds=1)

    def wait_for_renewals(self, count: int) -> None:
        """Waits until the lease has been put off so many times."""
        seen = {_end(self.lease())}
        while len(seen) <= count:
            time.sleep(SHORT_SECONDS / 20)
            seen.add(_end(self.lease()))

    def do(self, act: str, host: Host) -> None:
        """Does what a scenario says, and remembers why it was refused."""
        try:
            match act:
                case "writes":
                    host.write()
                case "is about to restore files":
                    host.lease.check()
                case "wants to hold the plan once more":
                    host.hold()
                case "writes, is refused and tries again":
                    self.do("writes", host)
                    host.write()
                case "is stopped for a day":
                    host.clock.ahead = timedelta(days=1)
                case "fails to renew its lease for a day":
                    host.under_locks.busy_for = 1
                    assert not host.locks._renew()
                    host.clock.ahead = timedelta(days=1)
                case "renews its lease":
                    assert host.locks._renew()
                case "is done":
                    host.work.close()
                case _:
                    raise AssertionError(act)
        except ConflictError as error:
            self.refusal = error


def _end(lease: Lease | None) -> datetime:
    assert lease is not None
    return lease.expires_at


def leave_in_fork(host: Host) -> None:
    """Has a fork of this process leave the block that holds the plan."""
    child = os.fork()
    if child == 0:
        host.work.close()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0, status


def heartbeats() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "heartbeat"]


def fail_to_give_back(host: Host) -> None:
    host.under_locks.busy_for = 1
    try:
        host.work.close()
    except ConflictError:
        return
    raise AssertionError("the lease was given back")


def close_in_the_middle(two: TwoHosts) -> None:
    """Holds the plan, and closes leases and database before the block ends."""
    first = two.hosts["first"]
    first.hold()
    assert heartbeats()
    first.locks.close()
    with closing(two.sql):
        assert not heartbeats()
