"""Bringing a plan's result into a database: only one that nobody else has changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from cleveragents.domain.errors import MergeConflictError, TargetChangedError, TargetRefusedError
from cleveragents.domain.plans.apply import ApplyRequest, Target, TargetWork
from cleveragents.infrastructure.sandbox.apply.directory_target import refuse_branch
from cleveragents.infrastructure.sandbox.apply.file_plan import target_of
from cleveragents.infrastructure.sandbox.apply.journal import ApplyJournal, DatabaseMove
from cleveragents.infrastructure.sandbox.apply.project_writer import PathUpdates
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.layout import git_on_mirror
from cleveragents.infrastructure.sandbox.sqlite.chunks import DatabaseState, FileKind
from cleveragents.infrastructure.sandbox.sqlite.files import (
    PATIENCE_SECONDS,
    DatabaseBusyError,
    DatabaseChangedError,
    DatabaseFiles,
)
from cleveragents.infrastructure.sandbox.sqlite.inspect import look
from cleveragents.infrastructure.sandbox.sqlite.restore import put_back
from cleveragents.infrastructure.sandbox.sqlite.stored import load_state, rebuild
from cleveragents.infrastructure.sandbox.store.blobs import BlobReader, blob_reader

_TRY_AGAIN = "Try again when nobody writes to it"


def plan_database(git: Git, room: Path, work: TargetWork, request: ApplyRequest) -> Target:
    """Finds out whether a database can get what the plan made of it, and keeps that in its store.

    Args:
        git: Any git.
        room: A directory for copies.
        work: What the plan did.
        request: What the user asks for.

    Raises:
        TargetRefusedError: it cannot be read, or a branch was asked for.
        MergeConflictError: it has changed since the plan's sandbox was made.
    """
    place = Path(work.resource.path)
    refuse_branch(work, request)
    move = DatabaseMove(work.first, work.last)
    journal = ApplyJournal(
        plan_id=work.plan_id,
        root=place,
        git_dir=None,
        mode=request.mode,
        files=PathUpdates((), ()),
        database=move,
    )
    store = git_on_mirror(git, Path(work.sandbox.store))
    with blob_reader(store) as blobs, _readable(place):
        before, after = (
            load_state(store, each, blobs, place.name) for each in (move.before, move.after)
        )
        found = look(place, room / "present", PATIENCE_SECONDS).state
    if not (_is_same(found, before) or _is_same(found, after)):
        raise MergeConflictError(
            str(place),
            [place.name],
            hint="Run the plan again on the database as it is now; nothing was changed",
        )
    statuses = {place.name: _status(before, after)}
    return target_of(git, work, journal, (), statuses, {place.name: (None, None)})


class SqliteTarget:
    """One database that is made what the plan made of its copy."""

    def __init__(
        self, git: Git, target: Target, journal: ApplyJournal, move: DatabaseMove, room: Path
    ) -> None:
        """Args: `room` is a directory that is there while this is open."""
        self._place = journal.root
        self._room = room
        self._staged = self._place.with_name(
            f".{self._place.name}.cleveragents-apply-{journal.plan_id}"
        )
        store = git_on_mirror(git, Path(target.store))
        self._objects = BlobReader(store)
        self._before, self._after = (
            load_state(store, each, self._objects, self._place.name)
            for each in (move.before, move.after)
        )

    def close(self) -> None:
        self._objects.close()

    def lock(self) -> None:
        """Nobody can be kept out for long; it is looked at once more."""
        found = self._found()
        if not _is_same(found, self._before) and not _is_same(found, self._after):
            raise TargetChangedError(str(self._place), "it was written to", hint=_TRY_AGAIN)

    def write(self) -> None:
        """There are no parts: it is replaced at one stroke when it is settled."""

    def settle(self) -> None:
        self._move(self._before, self._after)

    def undo(self) -> None:
        self._staged.unlink(missing_ok=True)
        if _is_same(self._found(), self._after):
            self._move(self._after, self._before)

    def finish(self) -> None:
        """Nothing is left to do."""

    def _move(self, old: DatabaseState, new: DatabaseState) -> None:
        """Makes it the one state if it is the other; one of somebody else's is left alone."""
        files = DatabaseFiles(self._place)
        seen = files.content_signature()
        found = self._found()
        if _is_same(found, new) and found.mode == new.mode:
            return
        if not _is_same(found, old) and not _is_same(found, new):
            raise TargetChangedError(str(self._place), "it was written to", hint=_TRY_AGAIN)
        self._staged.unlink(missing_ok=True)
        content = rebuild(new, self._staged, self._objects)
        try:
            with _readable(self._place):
                put_back(
                    self._place,
                    content,
                    _kept(found, old, new),
                    found.kind,
                    PATIENCE_SECONDS,
                    lambda: _refuse_changed(files, seen),
                )
        finally:
            self._staged.unlink(missing_ok=True)

    def _found(self) -> DatabaseState:
        with _readable(self._place):
            return look(self._place, self._room / "present", PATIENCE_SECONDS).state


def _is_same(one: DatabaseState, other: DatabaseState) -> bool:
    """Says whether two databases hold the same, whatever their permission bits and journals."""
    return (one.kind, one.size, one.chunks) == (other.kind, other.size, other.chunks)


def _kept(found: DatabaseState, old: DatabaseState, new: DatabaseState) -> DatabaseState:
    """Returns the new state with the bits and the journal that somebody else has set since."""
    mode = new.mode if old.mode != new.mode else found.mode
    journal = new.write_ahead if old.write_ahead != new.write_ahead else found.write_ahead
    return replace(new, mode=mode, write_ahead=journal)


def _status(before: DatabaseState, after: DatabaseState) -> str:
    if after.kind is FileKind.MISSING:
        return "deleted"
    return "mode changed" if _is_same(before, after) else "modified"


def _refuse_changed(files: DatabaseFiles, seen: object) -> None:
    if files.content_signature() != seen:
        raise DatabaseChangedError(str(files.main))


@contextmanager
def _readable(place: Path) -> Generator[None]:
    try:
        yield
    except DatabaseBusyError as error:
        raise TargetChangedError(
            str(place), "another program keeps it locked", hint=_TRY_AGAIN
        ) from error
    except DatabaseChangedError as error:
        raise TargetChangedError(str(place), "it was written to", hint=_TRY_AGAIN) from error
    except sqlite3.Error as error:
        raise TargetRefusedError(str(place), f"SQLite cannot use it: {error}") from error
