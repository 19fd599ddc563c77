"""What becomes of the files of a resource: the parts that all kinds of resources share."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from cleveragents.domain.plans.apply import Target, TargetWork
from cleveragents.domain.sandboxes.change import PathChange
from cleveragents.domain.sandboxes.sandbox import DiffFile
from cleveragents.infrastructure.sandbox.apply.journal import ApplyJournal, keep, name_of
from cleveragents.infrastructure.sandbox.apply.project_writer import (
    DirectoryUpdate,
    PathUpdate,
    PathUpdates,
    ProjectWriter,
    directories_above,
)
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.objects import NewObject, ObjectKind
from cleveragents.infrastructure.sandbox.store.captured_state import TreeEntry

Files = dict[str, TreeEntry | None]
LineCounts = Mapping[str, tuple[int | None, int | None]]
_DIRECTORY_MODE = 0o755


def files_of(changes: Iterable[PathChange]) -> tuple[Files, Files]:
    """Returns the files that changed, before and after; directories are left out."""
    old: Files = {}
    new: Files = {}
    for change in changes:
        before = _file(change.before_mode, change.before_hash)
        after = _file(change.after_mode, change.after_hash)
        if before is not None or after is not None:
            old[change.path], new[change.path] = before, after
    return old, new


def directory_changes(
    place: ProjectWriter, changes: Mapping[str, PathChange], files: Iterable[PathUpdate]
) -> list[DirectoryUpdate]:
    """Returns the directories to make, to set the bits of, and to remove if they are empty."""
    wanted = [item.path for item in files if item.after is not None]
    after = dict.fromkeys(directories_above(place, wanted), _DIRECTORY_MODE)
    gone: dict[str, int] = {}
    for path, change in changes.items():
        now = place.directory_mode(path)
        was, mode = _directory(change.before_mode), _directory(change.after_mode)
        if mode is not None and (now is None or mode != was):
            after[path] = mode
        elif mode is None and was is not None and now is not None:
            gone[path] = now
    made = [DirectoryUpdate(path, place.directory_mode(path), after[path]) for path in after]
    kept = [item for item in made if item.before != item.after]
    kept += [DirectoryUpdate(path, mode, None) for path, mode in gone.items()]
    return sorted(kept, key=lambda item: item.path)


def in_the_way(place: ProjectWriter, wanted: PathUpdates) -> list[str]:
    """Returns what stands where a file or a directory is to be, and is not of its kind."""
    leaving = {item.path for item in wanted.files if item.after is None}
    removed = {item.path for item in wanted.directories if item.after is None}
    blocked = [
        item.path
        for item in wanted.directories
        if item.after is not None
        and item.path not in leaving
        and place.entry(item.path) is not None
    ]
    blocked += [
        item.path
        for item in wanted.files
        if item.after is not None
        and item.path not in removed
        and place.directory_mode(item.path) is not None
    ]
    blocked += [
        inside
        for item in wanted.files
        if item.after is not None and item.path in removed
        for inside in place.below(item.path)
        if inside not in leaving
    ]
    return sorted(blocked)


def stored_objects(root: Path, found: Mapping[str, TreeEntry | None]) -> list[NewObject]:
    """Returns the bytes of files that were found, as objects to store."""
    objects: dict[str, NewObject] = {}
    for path, entry in found.items():
        if entry is None:
            continue
        place = root / path
        if entry.is_link:
            made = NewObject.of(ObjectKind.BLOB, os.readlink(os.fsencode(place)))
        else:
            size = place.lstat().st_size
            made = NewObject(entry.object_id, ObjectKind.BLOB, None, str(place), size)
        objects[made.id] = made
    return list(objects.values())


def is_same(one: TreeEntry | None, other: TreeEntry | None) -> bool:
    """Says whether two files have the same bytes; whoever else set permission bits may have."""
    if one is None or other is None:
        return one is other
    kinds = {stat.S_IFMT(one.mode), stat.S_IFMT(other.mode)}
    return one.object_id == other.object_id and len(kinds) == 1


def status_of(before: TreeEntry | None, after: TreeEntry | None) -> str:
    """Returns what becomes of a file, in a word."""
    if before is None:
        return "added"
    if after is None:
        return "deleted"
    if stat.S_IFMT(before.mode) != stat.S_IFMT(after.mode):
        return "type changed"
    return "mode changed" if before.object_id == after.object_id else "modified"


def target_of(
    git: Git,
    work: TargetWork,
    journal: ApplyJournal,
    new: Iterable[NewObject],
    statuses: Mapping[str, str],
    counts: LineCounts,
    branch: str | None = None,
) -> Target:
    """Keeps the journal, unless it says that nothing changes, and returns what names it."""
    files = [
        DiffFile(
            path=path,
            status=statuses[path],
            insertions=counts.get(path, (0, 0))[0],
            deletions=counts.get(path, (0, 0))[1],
        )
        for path in sorted(statuses)
    ]
    document = ""
    if journal.does_anything:
        name = name_of(work.plan_id, work.resource.name)
        document = keep(git, Path(work.sandbox.store), name, journal, new)
    return Target(
        resource_id=work.resource.id,
        resource=work.resource.name,
        type=work.resource.type,
        path=str(journal.root),
        store=work.sandbox.store,
        document=document,
        files=tuple(files),
        commit=journal.move.after if journal.move else None,
        branch=branch,
    )


def _file(mode: int | None, content: str | None) -> TreeEntry | None:
    return None if mode is None or content is None else TreeEntry(content, mode)


def _directory(mode: int | None) -> int | None:
    return stat.S_IMODE(mode) if mode is not None and stat.S_ISDIR(mode) else None
