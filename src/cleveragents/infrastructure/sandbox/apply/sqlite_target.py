"""Applying to a database: only to one that nobody else has changed."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from cleveragents.application.ports.targets import OpenTarget
from cleveragents.domain.errors import MergeConflictError, TargetChangedError, TargetRefusedError
from cleveragents.domain.plans.apply import ApplyRequest, Target, TargetWork
from cleveragents.infrastructure.sandbox.apply.directory_target import refuse_branch
from cleveragents.infrastructure.sandbox.apply.file_plan import target_act, target_of
from cleveragents.infrastructure.sandbox.apply.journal import (
    ApplyJournal,
    DatabaseMove,
    PathUpdates,
)
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.sqlite.chunks import (
    DatabaseState,
    FileKind,
    load_state,
    rebuild,
)
from cleveragents.infrastructure.sandbox.sqlite.files import (
    PATIENCE_SECONDS,
    DatabaseBusyError,
    DatabaseChangedError,
    DatabaseFiles,
)
from cleveragents.infrastructure.sandbox.sqlite.inspect import look
from cleveragents.infrastructure.sandbox.sqlite.restore import put_back
from cleveragents.infrastructure.sandbox.store.blobs import BlobReader

_TRY_AGAIN = "Try again when no other program writes to it"


def plan_database(
    mirror: Git, objects: BlobReader, workspace: Path, work: TargetWork, request: ApplyRequest
) -> Target:
    """Finds out whether a database can get what the plan made of it, and stores that.

    Args:
        mirror: Git on the mirror of the database.
        objects: The objects of the mirror.
        workspace: A directory for copies.
        work: What the plan did.
        request: What the user asks for.

    Raises:
        TargetRefusedError: it cannot be read, or a branch was asked for.
        MergeConflictError: it has changed since the plan's sandbox was made.
    """
    path = Path(work.resource.path)
    refuse_branch(work, request)
    move = DatabaseMove(work.first, work.last)
    journal = ApplyJournal(
        plan_id=work.plan_id,
        root=path,
        git_dir=None,
        mode=request.mode,
        files=PathUpdates((), ()),
        database=move,
    )
    with _readable(path):
        before, after = (
            load_state(mirror, each, objects, path.name) for each in (move.before, move.after)
        )
        found = look(path, workspace / "present", PATIENCE_SECONDS).state
    if not (is_same_database(found, before) or is_same_database(found, after)):
        raise MergeConflictError(
            str(path),
            [path.name],
            hint="Run the plan again on the database as it is now; nothing was changed",
        )
    status = "mode changed" if is_same_database(before, after) else "modified"
    if after.kind is FileKind.MISSING:
        status = "deleted"
    counts = {path.name: (None, None)}
    return target_of(mirror, work, journal, (), {path.name: status}, counts)


class SqliteTarget(OpenTarget):
    """One database that gets the state which the plan gave to its copy."""

    def __init__(
        self,
        mirror: Git,
        journal: ApplyJournal,
        move: DatabaseMove,
        objects: BlobReader,
        workspace: Path,
    ) -> None:
        """Args: `workspace` is a directory for copies."""
        self.root = journal.root
        self._objects = objects
        self._workspace = workspace
        self._staged = self.root.with_name(
            f".{self.root.name}.cleveragents-apply-{journal.plan_id}"
        )
        self._before, self._after = (
            load_state(mirror, each, objects, self.root.name) for each in (move.before, move.after)
        )

    @target_act
    def lock(self) -> None:
        """Checks the database once more: nobody can be kept out of it for long."""
        found = self._found()
        if not is_same_database(found, self._before) and not is_same_database(found, self._after):
            raise TargetChangedError(str(self.root), "it was written to", hint=_TRY_AGAIN)
        for place in (self.root.parent, *([self.root] if self.root.exists() else [])):
            if not os.access(place, os.W_OK):
                raise PermissionError(errno.EACCES, "Permission denied", str(place))

    def write(self) -> None:
        """Does nothing: a database has no parts, so `settle` replaces all of it at once."""

    @target_act
    def settle(self) -> None:
        self._move(self._before, self._after)

    def release(self) -> None:
        """Does nothing: the mirror has all that undoing needs."""

    @target_act
    def undo(self) -> None:
        self._staged.unlink(missing_ok=True)
        if is_same_database(self._found(), self._after):
            self._move(self._after, self._before)

    def finish(self) -> None:
        """Does nothing: `settle` leaves nothing behind."""

    def _move(self, old: DatabaseState, new: DatabaseState) -> None:
        """Writes the new state over the old one; refuses if another program wrote to it."""
        files = DatabaseFiles(self.root)
        seen = files.content_signature()
        found = self._found()
        if is_same_database(found, new) and found.mode == new.mode:
            return
        if not is_same_database(found, old) and not is_same_database(found, new):
            raise TargetChangedError(str(self.root), "it was written to", hint=_TRY_AGAIN)
        self._staged.unlink(missing_ok=True)
        content = rebuild(new, self._staged, self._objects)
        try:
            with _readable(self.root):
                put_back(
                    self.root,
                    content,
                    _kept(found, old, new),
                    found.kind,
                    PATIENCE_SECONDS,
                    lambda: _refuse_changed(files, seen),
                )
        finally:
            self._staged.unlink(missing_ok=True)

    def _found(self) -> DatabaseState:
        return found_in(self.root, self._workspace)


def found_in(path: Path, workspace: Path) -> DatabaseState:
    """Returns what a database holds now; `workspace` is a directory for copies."""
    with _readable(path):
        return look(path, workspace / "present", PATIENCE_SECONDS).state


def is_same_database(one: DatabaseState, other: DatabaseState) -> bool:
    """Says whether two databases hold the same, whatever their permission bits and journals."""
    return (one.kind, one.size, one.chunks) == (other.kind, other.size, other.chunks)


def _kept(found: DatabaseState, old: DatabaseState, new: DatabaseState) -> DatabaseState:
    """Returns the new state, with permissions and journal mode as they are now."""
    mode = new.mode if old.mode != new.mode else found.mode
    journal = new.write_ahead if old.write_ahead != new.write_ahead else found.write_ahead
    return replace(new, mode=mode, write_ahead=journal)


def _refuse_changed(files: DatabaseFiles, seen: object) -> None:
    if files.content_signature() != seen:
        raise DatabaseChangedError(str(files.main))


@contextmanager
def _readable(path: Path) -> Generator[None]:
    try:
        yield
    except DatabaseBusyError as error:
        raise TargetChangedError(
            str(path), "another program keeps it locked", hint=_TRY_AGAIN
        ) from error
    except DatabaseChangedError as error:
        raise TargetChangedError(str(path), "it was written to", hint=_TRY_AGAIN) from error
    except sqlite3.Error as error:
        raise TargetRefusedError(str(path), f"SQLite cannot use it: {error}") from error
