"""The tool that runs SQL statements on a SQLite resource: all of them, or none."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import quote

from cleveragents.application.ports.system import Interruption
from cleveragents.domain.errors import ExecutionError, InterruptedByUserError
from cleveragents.domain.tools.tool import (
    CheckpointScope,
    ParameterType,
    ToolInvocation,
    ToolParameter,
    ToolResult,
    ToolSpec,
)
from cleveragents.domain.wording import counted
from cleveragents.infrastructure.tools.process.output import BoundedOutput
from cleveragents.infrastructure.tools.sql.guard import SqlGuard
from cleveragents.infrastructure.tools.sql.rows import Row, json_lines, table_lines
from cleveragents.infrastructure.tools.sql.statements import statements

LIMIT = 1000
MAX_LIMIT = 100_000
_LOCK_TIMEOUT_SECONDS = 15.0
"""How long to wait for the transaction of another program."""
_STEPS_BETWEEN_CHECKS = 100_000
_MAX_VALUE_BYTES = 256 * 1024 * 1024
_MAX_LIKE_PATTERN = 1000

SQL = ToolSpec(
    name="sql",
    description="Run SQL statements on a `sqlite` resource in one transaction",
    parameters={
        "statement": ToolParameter(
            type=ParameterType.STRING,
            description="One or more statements, separated by semicolons",
            pattern=r"(?s).*\S.*",
        ),
        "values": ToolParameter(
            type=ParameterType.LIST,
            description="Texts for the `?` of a single statement; do not put them in quotes",
            required=False,
        ),
        "format": ToolParameter(
            type=ParameterType.STRING,
            description="`table`, or `json` for one object per line; default `table`",
            required=False,
            pattern="table|json",
        ),
        "limit": ToolParameter(
            type=ParameterType.INTEGER,
            description=f"How many rows of each query are returned; default {LIMIT}",
            required=False,
            minimum=1,
            maximum=MAX_LIMIT,
        ),
        "foreign_keys": ToolParameter(
            type=ParameterType.BOOLEAN,
            description="Enforce foreign keys, which SQLite does not do by default",
            required=False,
        ),
    },
    writes=True,
    write_scope="database",
    checkpoint_scope=CheckpointScope.TRANSACTION.value,
)


@dataclass
class _Answer:
    """What the statements return."""

    is_json: bool
    limit: int
    number: int = 0
    """The number of the running statement."""
    output: BoundedOutput = field(default_factory=BoundedOutput)
    has_rows: bool = False
    is_cut: bool = False

    def add(self, cursor: sqlite3.Cursor) -> None:
        """Keeps the first rows of a query and counts the others."""
        if cursor.description is None:
            return
        columns = [str(column[0]) for column in cursor.description]
        rows: list[Row] = cursor.fetchmany(self.limit)
        more = sum(1 for _ in cursor)
        lines = (json_lines if self.is_json else table_lines)(columns, rows)
        for line in lines:
            self.output.feed(f"{line}\n".encode(errors="replace"))
        if more and self.is_json:
            self.output.feed(f'{{"more_rows": {more}}}\n'.encode())
        elif more:
            self.output.add_note(f"{counted(more, 'more row')}; `limit` sets how many are returned")
        self.has_rows, self.is_cut = True, self.is_cut or more > 0

    def result(self, changed: int) -> ToolResult:
        if self.is_json and not self.has_rows:
            self.output.feed(f'{{"changed": {changed}}}\n'.encode())
        elif not self.is_json and (changed or not self.has_rows):
            self.output.feed(f"{counted(changed, 'row')} changed\n".encode())
        result = self.output.result()
        return ToolResult(output=result.output, truncated=result.truncated or self.is_cut)


def run_sql(call: ToolInvocation, interruption: Interruption) -> ToolResult:
    """Runs the statements. If one fails, the database does not change.

    Leaves no other file beside the database, unless another connection needs it.

    Raises:
        ExecutionError: there is no database, a statement fails or is not allowed, the
            database remains locked, or the time is up.
        InterruptedByUserError: the user wants to stop; the database did not change.
    """
    path = _database(call)
    texts = list(statements(str(call.input["statement"])))
    values = _values(call, texts)
    guard, deadline = SqlGuard(), time.monotonic() + call.spec.timeout
    answer = _Answer(
        is_json=call.input.get("format") == "json", limit=int(str(call.input.get("limit", LIMIT)))
    )
    try:
        with closing(_connect(path, guard)) as connection:
            connection.set_progress_handler(
                lambda: time.monotonic() > deadline or interruption.requested(),
                _STEPS_BETWEEN_CHECKS,
            )
            foreign_keys = bool(call.input.get("foreign_keys", False))
            connection.execute(f"PRAGMA foreign_keys={int(foreign_keys)}")
            with _transaction(connection, guard):
                before = connection.total_changes
                for text in texts:
                    answer.number += 1
                    answer.add(connection.execute(text, values))
                changed = connection.total_changes - before
            _empty_log(connection)
    except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
        where = f"Statement {answer.number} of {len(texts)}" if answer.number else "The database"
        if time.monotonic() <= deadline and _name(error) == "SQLITE_INTERRUPT":
            raise InterruptedByUserError(
                f"`{call.spec.name}` was interrupted; nothing was changed", tool=call.spec.name
            ) from error
        raise _failure(call, error, guard, where) from error
    return answer.result(changed)


def _database(call: ToolInvocation) -> str:
    """Returns the path of the database file, which must exist."""
    path = call.database
    if path is None:
        raise ExecutionError(
            f"`{call.spec.name}` runs on a `sqlite` resource",
            hint="Name one with `resource:`",
            tool=call.spec.name,
        )
    try:
        mode = os.lstat(path).st_mode
    except OSError as error:
        raise ExecutionError(f"The database {path}: {error.strerror}", path=path) from error
    if not stat.S_ISREG(mode):
        raise ExecutionError(f"The database {path} is not a file", path=path)
    return path


def _values(call: ToolInvocation, texts: list[str]) -> list[str]:
    values = call.input.get("values", [])
    if values and len(texts) != 1:
        raise ExecutionError(
            f"`values` are for a single statement, and there are {len(texts)}",
            hint="Use one step for each statement",
        )
    return [str(value) for value in values] if isinstance(values, list) else []


def _connect(path: str, guard: SqlGuard) -> sqlite3.Connection:
    address = f"file:{quote(os.fsencode(path))}?mode=rw"
    connection = sqlite3.connect(
        address, uri=True, timeout=_LOCK_TIMEOUT_SECONDS, isolation_level=None, cached_statements=0
    )
    connection.text_factory = _text
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, _MAX_LIKE_PATTERN)
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA temp_store=MEMORY")
    connection.set_authorizer(guard)
    return connection


@contextmanager
def _transaction(connection: sqlite3.Connection, guard: SqlGuard) -> Generator[None]:
    connection.execute("BEGIN IMMEDIATE")
    guard.is_armed = True
    try:
        yield
        guard.is_armed = False
        connection.execute("COMMIT")
    finally:
        guard.is_armed = False
        if connection.in_transaction:
            connection.set_progress_handler(None, 0)
            connection.execute("ROLLBACK")


def _empty_log(connection: sqlite3.Connection) -> None:
    """Moves the write-ahead log into the database, unless readers prevent it."""
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _name(error: Exception) -> str:
    return str(getattr(error, "sqlite_errorname", ""))


def _text(value: bytes) -> str:
    return value.decode(errors="replace")


def _failure(call: ToolInvocation, error: Exception, guard: SqlGuard, where: str) -> ExecutionError:
    name, hint = _name(error), None
    if guard.refused is not None:
        what = f"{where} is not allowed: {guard.refused}"
    elif name == "SQLITE_INTERRUPT":
        what = f"{where} took longer than {call.spec.timeout} seconds"
    elif name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        what = f"Another program keeps the database locked: {error}"
        hint = "Try again when its transaction has ended"
    else:
        what = f"{where} failed: {error}"
    return ExecutionError(f"{what}; nothing was changed", hint=hint, path=call.database)
