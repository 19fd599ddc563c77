"""The parts of planning and applying that all kinds of resources share."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Protocol, TypeVar

from cleveragents.domain.errors import TargetRefusedError
from cleveragents.domain.plans.apply import Target, TargetWork
from cleveragents.domain.sandboxes.change import PathChange
from cleveragents.domain.sandboxes.sandbox import DiffFile
from cleveragents.infrastructure.sandbox.apply.journal import (
    ApplyJournal,
    DirectoryUpdate,
    PathUpdate,
    PathUpdates,
    store_journal,
)
from cleveragents.infrastructure.sandbox.apply.project_writer import ProjectFiles, SpecialFileError
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.objects import NewObject, ObjectKind
from cleveragents.infrastructure.sandbox.store.captured_state import TreeEntry, ancestors

Files = dict[str, TreeEntry | None]
LineCounts = Mapping[str, tuple[int | None, int | None]]
_DIRECTORY_MODE = 0o755


def files_of(changes: Iterable[PathChange]) -> tuple[Files, Files]:
    """Returns the files that changed, before and after; directories are left out."""
    old: Files = {}
    new: Files = {}
    for change in changes:
        # A directory has a mode and no hash.
        sides = (change.before_mode, change.before_hash), (change.after_mode, change.after_hash)
        before, after = (
            None if mode is None or content is None else TreeEntry(content, mode)
            for mode, content in sides
        )
        if before is not None or after is not None:
            old[change.path], new[change.path] = before, after
    return old, new


def directory_changes(
    project: ProjectFiles, changes: Mapping[str, PathChange], files: Iterable[PathUpdate]
) -> list[DirectoryUpdate]:
    """Returns the directories to make, to set the bits of, and to remove if they are empty."""
    above = {
        directory for item in files if item.after is not None for directory in ancestors(item.path)
    }
    present = {path: project.directory_mode(path) for path in above | changes.keys()}
    after = {path: _DIRECTORY_MODE for path in above if present[path] is None}
    gone: list[DirectoryUpdate] = []
    for path, change in changes.items():
        was, mode = (
            stat.S_IMODE(mode) if mode is not None and stat.S_ISDIR(mode) else None
            for mode in (change.before_mode, change.after_mode)
        )
        now = present[path]
        if mode is not None and (now is None or mode != was):
            after[path] = mode
        elif mode is None and was is not None and now is not None:
            gone.append(DirectoryUpdate(path, now, None))
    made = [DirectoryUpdate(path, present[path], mode) for path, mode in after.items()]
    kept = [item for item in made if item.before != item.after]
    return sorted((*kept, *gone), key=lambda item: item.path)


def in_the_way(project: ProjectFiles, updates: PathUpdates) -> list[str]:
    """Returns the paths that now have something of another kind than they will have.

    That is: a file where a directory will be, a directory where a file will be, and whatever is
    in a directory that a file replaces. What the plan itself removes does not count.
    """
    leaving = {item.path for item in updates.files if item.after is None}
    removed = {item.path for item in updates.directories if item.after is None}
    blocked = [
        item.path
        for item in updates.directories
        if item.after is not None
        and item.path not in leaving
        and project.entry(item.path) is not None
    ]
    for item in updates.files:
        if item.after is None:
            continue
        if item.path in removed:
            blocked += [path for path in project.below(item.path) if path not in leaving]
        elif project.directory_mode(item.path) is not None:
            blocked.append(item.path)
    return sorted(blocked)


def stored_objects(root: Path, found: Mapping[str, TreeEntry | None]) -> list[NewObject]:
    """Returns the bytes of files that were found, as objects to store."""
    objects: dict[str, NewObject] = {}
    for path, entry in found.items():
        if entry is None:
            continue
        file = root / path
        if stat.S_ISLNK(entry.mode):
            made = NewObject.of(ObjectKind.BLOB, os.readlink(os.fsencode(file)))
        else:
            size = file.lstat().st_size
            made = NewObject(entry.object_id, ObjectKind.BLOB, None, str(file), size)
        objects[made.id] = made
    return list(objects.values())


def is_same(one: TreeEntry | None, other: TreeEntry | None) -> bool:
    """Says whether two files have the same kind and bytes; permission bits do not count."""
    if one is None or other is None:
        return one is other
    kinds = {stat.S_IFMT(one.mode), stat.S_IFMT(other.mode)}
    return one.object_id == other.object_id and len(kinds) == 1


def status_of(before: TreeEntry | None, after: TreeEntry | None) -> str:
    """Returns one word for how a file changes."""
    if before is None:
        return "added"
    if after is None:
        return "deleted"
    if stat.S_IFMT(before.mode) != stat.S_IFMT(after.mode):
        return "type changed"
    return "mode changed" if before.object_id == after.object_id else "modified"


def target_of(
    mirror: Git,
    work: TargetWork,
    journal: ApplyJournal,
    new: Iterable[NewObject],
    statuses: Mapping[str, str],
    counts: LineCounts,
    branch: str | None = None,
) -> Target:
    """Stores the journal, unless it says that nothing changes, and returns what names it."""
    files = [
        DiffFile(
            path=path,
            status=statuses[path],
            insertions=counts.get(path, (0, 0))[0],
            deletions=counts.get(path, (0, 0))[1],
        )
        for path in sorted(statuses)
    ]
    objects = Path(work.sandbox.store) / "objects"
    return Target(
        resource_id=work.resource.id,
        resource=work.resource.name,
        type=work.resource.type,
        path=str(journal.root),
        store=work.sandbox.store,
        document=store_journal(mirror, objects, work.resource.name, journal, new),
        files=tuple(files),
        commit=journal.move.after if journal.move else None,
        branch=branch,
    )


@contextmanager
def os_errors_refused(path: str) -> Generator[None]:
    """Says what a full disk or a missing permission means for an apply."""
    try:
        yield
    except SpecialFileError as error:
        raise TargetRefusedError(
            path, error.reason, hint="Move it away, then apply again; nothing was changed"
        ) from error
    except OSError as error:
        raise TargetRefusedError(
            path,
            f"something cannot be read or written: {error}",
            hint="Make room or give permission, then apply again",
        ) from error


class _HasRoot(Protocol):
    root: Path


_Target = TypeVar("_Target", bound=_HasRoot)


def target_act(act: Callable[[_Target], None]) -> Callable[[_Target], None]:
    """Marks an act on one target: an OSError in it is about this target, not about another."""

    @wraps(act)
    def acting(target: _Target) -> None:
        with os_errors_refused(str(target.root)):
            act(target)

    return acting
