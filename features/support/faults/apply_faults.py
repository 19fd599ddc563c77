"""What can go wrong while a plan is applied, by the words the features use."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

from features.support.faults.plan_faults import at_call, raising

from cleveragents.domain.errors import ConflictError, GitCommandError
from cleveragents.infrastructure.sandbox.apply import git_target, project_writer, sqlite_target
from cleveragents.infrastructure.sandbox.apply.project_writer import ProjectWriter
from cleveragents.infrastructure.sandbox.apply.sqlite_target import SqliteTarget
from cleveragents.infrastructure.sandbox.create.worktree import WorktreeSandboxes
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.objects import ObjectChangedError
from cleveragents.infrastructure.sandbox.sandboxes import AllSandboxes
from cleveragents.infrastructure.sandbox.sqlite.files import DatabaseBusyError

_READ_ONLY = OSError(errno.EROFS, "Read-only file system")
_FULL = OSError(errno.ENOSPC, "No space left on device")


def database_that_cannot_be_written() -> AbstractContextManager[Any]:
    """The file permission that a superuser would not notice."""
    error = PermissionError(errno.EACCES, "Permission denied")
    return patch.object(sqlite_target, "put_back", side_effect=error)


def database_written_to_in_between(place: Path) -> AbstractContextManager[Any]:
    """Somebody commits after the last look at the database, before it is replaced."""
    real = SqliteTarget.settle

    def settle(target: SqliteTarget) -> None:
        with patch.object(sqlite_target, "rebuild", _writing_first(place)):
            real(target)

    return patch.object(SqliteTarget, "settle", settle)


def _writing_first(place: Path) -> Callable[..., Any]:
    real = sqlite_target.rebuild

    def rebuild(*arguments: Any) -> Any:
        add_row(place)
        return real(*arguments)

    return rebuild


def add_row(place: Path) -> None:
    """Another program writes to a database."""
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("INSERT INTO goods VALUES (99)")


def make_database(place: Path) -> None:
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("CREATE TABLE goods(number)")


def database_that_is_locked() -> AbstractContextManager[Any]:
    """Another program keeps it locked for longer than anybody waits."""
    return patch.object(sqlite_target, "look", side_effect=DatabaseBusyError("locked"))


def database_that_makes_sqlite_fail() -> AbstractContextManager[Any]:
    error = sqlite3.OperationalError("disk I/O error")
    return patch.object(sqlite_target, "put_back", side_effect=error)


TROUBLES: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "the project can only be read": lambda: patch.object(
        git_target, "write_durably", side_effect=_READ_ONLY
    ),
    "the disk is full at the second file": lambda: at_call(
        ProjectWriter, "_write_draft", 2, raising(_FULL)
    ),
    "the disk is full when objects are brought": lambda: patch.object(
        Git, "feed", side_effect=GitCommandError("git index-pack", 128, str(_FULL))
    ),
    "a file of the project is being written to": lambda: patch.object(
        project_writer, "hash_file", side_effect=ObjectChangedError("it")
    ),
    "the sandbox cannot be removed": lambda: patch.object(
        WorktreeSandboxes, "remove", side_effect=PermissionError(errno.EACCES, "Permission denied")
    ),
    "the sandbox is in use": lambda: patch.object(
        AllSandboxes, "remove", side_effect=ConflictError("The sandbox is in use")
    ),
}
