"""Turns the errors of the database drivers into those of `domain.errors`."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Sequence

from cleveragents.domain.errors import (
    CleverAgentsError,
    ConflictError,
    DatabaseError,
    SchemaVersionError,
)
from cleveragents.domain.wording import listed

_RETRY = "Try again when the other process has finished"
_SQLITE_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_SQLITE_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_SQLITE_DENIED = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
# https://www.postgresql.org/docs/current/errcodes-appendix.html
_POSTGRES_BUSY = {"55P03", "40001", "40P01", "57014"}
_POSTGRES_STOPPING = {"57P01", "57P02", "57P03", "57P05", "25P03"}
_POSTGRES_FULL = {"53100", "53200"}


def driver_errors() -> tuple[type[Exception], ...]:
    """Returns the errors of the drivers that are in use."""
    # psycopg is loaded only for a server.
    psycopg = sys.modules.get("psycopg")
    return (sqlite3.Error,) if psycopg is None else (sqlite3.Error, psycopg.Error)


def is_refused_row(error: Exception) -> bool:
    """Returns whether the database refused a row because of a constraint."""
    return isinstance(error, sqlite3.IntegrityError) or state_of(error).startswith("23")


def is_missing_reference(error: Exception) -> bool:
    """Returns whether a row was refused because another row does not exist."""
    return state_of(error) == "23503" or "FOREIGN KEY" in str(error)


def refused_table(error: Exception) -> str | None:
    """Returns the table that refused a row; None if the database does not say so."""
    return getattr(getattr(error, "diag", None), "table_name", None)


def is_disconnection(error: Exception) -> bool:
    """Returns whether the server ended the connection, or does not accept one for now."""
    if isinstance(error, sqlite3.Error):
        return False
    state = state_of(error)
    # Without a code, it is the driver that lost the server, or did not reach it.
    return state[:2] in {"", "08"} or state in _POSTGRES_STOPPING


def state_of(error: BaseException | None) -> str:
    """Returns PostgreSQL's code of an error, or an empty text where there is none."""
    return getattr(error, "sqlstate", None) or ""


def damaged(place: str, problem: str) -> SchemaVersionError:
    """Returns the error for a database whose content cannot be trusted."""
    return SchemaVersionError(
        f"The database {place} is damaged: {problem}",
        hint="It was left as it is; restore a copy, or move it away to start with an empty one",
        place=place,
    )


def busy(place: str, holders: Sequence[str] = ()) -> ConflictError:
    """Returns the error for a lock that another process does not release.

    Args:
        place: The database.
        holders: The processes that may have the lock, as far as they are known.
    """
    who = f": {listed(holders, most=3)}" if holders else ""
    return ConflictError(
        f"Another process is using the database {place}{who}",
        hint=_RETRY,
        place=place,
        holders=list(holders),
    )


def full(place: str, problem: str) -> DatabaseError:
    """Returns the error for a database that cannot grow."""
    return DatabaseError(
        f"There is no space left for the database {place}: {problem}",
        hint="Free some space and try again; nothing was changed",
        place=place,
    )


def denied(place: str, problem: str) -> DatabaseError:
    """Returns the error for a file that the user may not access."""
    return DatabaseError(
        f"The database {place} cannot be opened: {problem}",
        hint="Check the owner and permissions of the file and of its directory",
        place=place,
    )


def translate(error: Exception, place: str) -> CleverAgentsError:
    """Returns our error for one of `driver_errors`; `place` names the database."""
    problem = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
    if isinstance(error, sqlite3.Error):
        return _from_sqlite(error, problem, place)
    state = state_of(error)
    if state in _POSTGRES_BUSY:
        return busy(place)
    if state in _POSTGRES_FULL:
        return full(place, problem)
    if state[:2] in {"", "08", "28", "3D", "57"}:
        return DatabaseError(
            f"The database server cannot be used: {problem}",
            hint="Check `core.database-url` and that the server is running",
            place=place,
        )
    return _failed(place, problem)


def _from_sqlite(cause: sqlite3.Error, problem: str, place: str) -> CleverAgentsError:
    code = getattr(cause, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in _SQLITE_BUSY:
        return busy(place)
    if code in _SQLITE_DAMAGED:
        return damaged(place, problem)
    if code in _SQLITE_DENIED:
        return denied(place, problem)
    if code == sqlite3.SQLITE_FULL:
        return full(place, problem)
    return _failed(place, problem)


def _failed(place: str, problem: str) -> DatabaseError:
    return DatabaseError(f"The database {place} failed: {problem}", place=place)
