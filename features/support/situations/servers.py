"""Servers that are restarted, stopped or silent, and programs that share one."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from unittest.mock import patch

from features.support import postgres
from features.support.sandboxes import databases as support
from features.support.sandboxes.databases import Databases
from msgspec.structs import replace

from cleveragents.domain.errors import CleverAgentsError
from cleveragents.domain.plans.lease import Holder
from cleveragents.infrastructure.database import limited_connection, schema
from cleveragents.infrastructure.database.location import connect_postgres
from cleveragents.infrastructure.database.server_processes import connection_name
from cleveragents.infrastructure.database.session import BeginPostgres, DriverConnection
from cleveragents.infrastructure.database.unit_of_work import Connections, SqlDatabase
from cleveragents.infrastructure.file_locks import Presence, RunningProcess
from cleveragents.infrastructure.system import SystemClock
from cleveragents.testing import sample_records as sample

_WRITER = """
import sys
from contextlib import closing
from pathlib import Path
from cleveragents.infrastructure.database.server_processes import connection_name
from cleveragents.infrastructure.database.session import DriverConnection
from cleveragents.infrastructure.database.unit_of_work import Connections
connections = Connections(None, Path(sys.argv[1]))
with connections.transaction(writes=True) as session:
    if session.server is not None:
        session.server.settle()
    print(flush=True)
    sys.stdin.read()
"""


class ServedDatabase:
    """A database with two plans, opened by a program that has used it."""

    def __init__(self, databases: Databases, environment: dict[str, str]) -> None:
        self._databases = databases
        self._environment = environment
        self.on_close = ExitStack()
        self._connections = Connections(
            databases.url, databases.home, busy_seconds=0.5, reconnect_seconds=0.5
        )
        self.database = SqlDatabase(self._connections, SystemClock())
        databases.opened.append(self.database)
        with self.database.write() as transaction:
            transaction.plans.add(sample.plan("PLAN1"))
            transaction.plans.add(sample.plan("PLAN2"))

    def write(self, *plans: str) -> None:
        try:
            with self.database.write(*plans) as transaction:
                transaction.plans.save(transaction.plans.get("PLAN2"))
        except CleverAgentsError as error:
            self._databases.error = error

    def write_until_stopped(self) -> None:
        try:
            with self.database.write("PLAN2") as transaction:
                postgres.server().stop()
                transaction.plans.save(transaction.plans.get("PLAN2"))
        except CleverAgentsError as error:
            self._databases.error = error
        finally:
            postgres.server().start()

    def write_over_a_change(self) -> None:
        try:
            with self.database.write("PLAN2") as transaction:
                plan = transaction.plans.get("PLAN2")
                postgres.server().stop()
                postgres.server().start()
                assert self._databases.url is not None
                support.execute_postgres(
                    self._databases.url, "UPDATE plans SET last_completed_step = 7"
                )
                transaction.plans.save(replace(plan, last_completed_step=1))
        except CleverAgentsError as error:
            self._databases.error = error

    def read(self) -> None:
        try:
            with self.database.read() as transaction:
                transaction.plans.ids()
        except CleverAgentsError as error:
            self._databases.error = error

    def fail_at_commit(self) -> None:
        """Asks for no answer of the statements, so that they are sent with the commit."""
        try:
            with self._connections.transaction(writes=True) as session:
                session.run("UPDATE plans SET name = 'changed'")
                session.run("UPDATE plans SET nothing = 1")
        except CleverAgentsError as error:
            self._databases.error = error

    def names(self) -> list[str]:
        with self.database.read() as transaction:
            return [plan.name for plan in transaction.plans.list()]

    def stop_backend(self) -> None:
        """Stops the process of the server that serves the program, so that it is silent."""
        with self._connections.transaction(writes=False) as session:
            [[process]] = session.rows("SELECT pg_backend_pid()")
        os.kill(process, signal.SIGSTOP)
        self.on_close.callback(os.kill, process, signal.SIGCONT)
        patience = patch.object(limited_connection, "ANSWER_SECONDS", 0.5)
        self.on_close.enter_context(patience)

    def restart_with_another_schema(self) -> None:
        postgres.server().stop()
        postgres.server().start()
        assert self._databases.url is not None
        older = schema.OLDER_REVISIONS[-1]
        support.execute_postgres(
            self._databases.url, f"UPDATE alembic_version SET version_num = '{older}'"
        )

    def write_elsewhere(self, process: int, host: str, plan: str) -> None:
        """Has a process of another host write about a plan, for the rest of the scenario."""
        name = f"agents {schema.HEAD_REVISION} {process} {host}"
        connection = connect_as(name, self._databases, self.on_close)
        connection.execute("; ".join(BeginPostgres(5).writing((plan,))))

    def write_in_process(self) -> None:
        """Has another process of this home write, for the rest of the scenario."""
        process = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(self._databases.home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self._environment,
        )
        self.on_close.callback(process.communicate)
        assert process.stdout is not None
        process.stdout.readline()


def silent_server(on_close: ExitStack) -> str:
    """Returns the address of a server that takes connections and says nothing."""
    listener = on_close.enter_context(socket.create_server(("127.0.0.1", 0)))
    return f"postgresql://127.0.0.1:{listener.getsockname()[1]}/plans"


def connect_as(name: str, databases: Databases, on_close: ExitStack) -> DriverConnection:
    """Connects to the server under a name, for the rest of the scenario."""
    connection = connect_postgres(databases.url or "", busy_seconds=5, name=name)
    on_close.callback(connection.close)
    return connection


def run_elsewhere(
    databases: Databases, revision: str, on_close: ExitStack, *, killed: bool
) -> None:
    """Has a process use the database whose program knows a schema, or has it killed."""
    holder = Holder(
        owner_id="somebody",
        host="far.example.org",
        process_id=42,
        process_started="1",
        command="agents plan execute",
    )
    if databases.url is not None:
        connect_as(connection_name(holder, revision), databases, on_close)
        return
    presence = Presence(databases.home, RunningProcess(holder=holder, revision=revision))
    presence.announce()
    on_close.callback(presence.withdraw)
    if killed:
        # The lock goes with the process; the file stays.
        place = databases.home / "run" / "somebody.process"
        content = place.read_bytes()
        presence.withdraw()
        place.write_bytes(content)
