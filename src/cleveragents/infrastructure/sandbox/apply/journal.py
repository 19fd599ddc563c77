"""What an apply found and what it will leave, stored in the mirror of the resource.

One ref keeps the document together with all bytes that it names, those from before included, so
an apply can be completed or undone from the mirror alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cleveragents.domain.errors import SnapshotCorruptError
from cleveragents.domain.plans.apply import ApplyMode
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.objects import NewObject, ObjectKind, stored_pack
from cleveragents.infrastructure.sandbox.store.captured_state import REGULAR, TreeEntry
from cleveragents.infrastructure.sandbox.store.lazy_tree import build_trees
from cleveragents.infrastructure.sandbox.store.snapshots import commit_object

# The second name is older than the word; refs of earlier versions must still be understood.
BEGUN = "begun"
WRITTEN = "brought"


@dataclass(frozen=True)
class PathUpdate:
    """What was found at a path, and what will be there; None is nothing."""

    path: str
    before: TreeEntry | None
    after: TreeEntry | None


@dataclass(frozen=True)
class DirectoryUpdate:
    """A directory, with its permission bits before and after; None means that there is none."""

    path: str
    before: int | None
    after: int | None


@dataclass(frozen=True)
class PathUpdates:
    """Everything that changes below one directory."""

    files: Sequence[PathUpdate]
    directories: Sequence[DirectoryUpdate]

    def reversed(self) -> PathUpdates:
        """Returns the updates that undo these."""
        return PathUpdates(
            [PathUpdate(item.path, item.after, item.before) for item in self.files],
            [DirectoryUpdate(item.path, item.after, item.before) for item in self.directories],
        )


@dataclass(frozen=True)
class BranchMove:
    """What moves in a repository besides files."""

    ref: str
    """`HEAD`, or the new branch."""
    head: str | None
    """The branch that `HEAD` names, or None when it is detached."""
    before: str | None
    """The commit of `ref` before, if any."""
    after: str | None
    """The commit of `ref` afterwards, or None if it does not move."""
    reflogs: tuple[tuple[str, int | None], ...]
    """The logs that git may append to, with their sizes; None for a missing one."""
    known: str | None
    """A commit that the project has with its whole history."""


@dataclass(frozen=True)
class DatabaseMove:
    """Snapshots of a database: what was found, and what will be there."""

    before: str
    after: str


@dataclass(frozen=True)
class ApplyJournal:
    """One resource, before and after."""

    plan_id: str
    root: Path
    git_dir: Path | None
    """None without git."""
    mode: ApplyMode
    files: PathUpdates
    move: BranchMove | None = None
    index_before: str | None = None
    """The index as an object; None where there was none, or it does not change."""
    index_after: str | None = None
    index_time: int | None = None
    """When the index was written: git compares this with the times of files."""
    identity: tuple[tuple[str, str], ...] = ()
    """Git's variables that say who commits."""
    database: DatabaseMove | None = None
    reverses: bool = False
    """Whether it undoes an apply: files, index and database are then the other way around, and
    `move` is still that of the apply."""

    def dump(self) -> bytes:
        move = self.move
        content: dict[str, object] = {
            "version": 1,
            "plan_id": self.plan_id,
            "root": str(self.root),
            "git_dir": None if self.git_dir is None else str(self.git_dir),
            "mode": self.mode.value,
            "files": [
                [
                    item.path,
                    *(
                        entry and [entry.object_id, entry.mode]
                        for entry in (item.before, item.after)
                    ),
                ]
                for item in self.files.files
            ],
            "directories": [
                [item.path, item.before, item.after] for item in self.files.directories
            ],
            "move": None
            if move is None
            else [move.ref, move.head, move.before, move.after, list(move.reflogs), move.known],
            "index": [self.index_before, self.index_after, self.index_time],
            "identity": list(self.identity),
            "database": self.database and [self.database.before, self.database.after],
            "reverses": self.reverses,
        }
        return json.dumps(content, sort_keys=True).encode("ascii")

    @staticmethod
    def load(document: bytes) -> ApplyJournal:
        """Raises SnapshotCorruptError when it has another format."""
        try:
            content: dict[str, Any] = json.loads(document)
            move, git_dir = content["move"], content["git_dir"]
            database = content["database"]
            return ApplyJournal(
                plan_id=content["plan_id"],
                root=Path(content["root"]),
                git_dir=None if git_dir is None else Path(git_dir),
                mode=ApplyMode(content["mode"]),
                files=PathUpdates(
                    [
                        PathUpdate(path, before and TreeEntry(*before), after and TreeEntry(*after))
                        for path, before, after in content["files"]
                    ],
                    [DirectoryUpdate(*item) for item in content["directories"]],
                ),
                move=None
                if move is None
                else BranchMove(
                    ref=move[0],
                    head=move[1],
                    before=move[2],
                    after=move[3],
                    reflogs=tuple((name, size) for name, size in move[4]),
                    known=move[5],
                ),
                index_before=content["index"][0],
                index_after=content["index"][1],
                index_time=content["index"][2],
                identity=tuple((name, value) for name, value in content["identity"]),
                database=None if database is None else DatabaseMove(*database),
                reverses=content.get("reverses", False),  # Earlier versions undid no apply.
            )
        except (ValueError, KeyError, TypeError) as error:
            raise SnapshotCorruptError(
                f"The journal of an apply cannot be read: {error!r}"
            ) from error


def store_journal(
    mirror: Git, objects: Path, resource: str, journal: ApplyJournal, new: Iterable[NewObject]
) -> str:
    """Stores a journal durably, and returns its id; "" if the resource does not change.

    Args:
        mirror: Git on the mirror of the resource.
        objects: The object directory of the mirror.
        resource: The name of the resource.
        journal: The journal.
        new: Objects that the journal names and the mirror may lack.
    """
    updates, move, database = journal.files, journal.move, journal.database
    # Git keeps what a parent of our commit leads to: the new commit, or snapshots of a database.
    parents = [move.after] if move is not None and move.after is not None else []
    parents += [] if database is None else [database.before, database.after]
    if not (parents or updates.files or updates.directories):
        return ""
    document = NewObject.of(ObjectKind.BLOB, journal.dump())
    entries = [entry for item in updates.files for entry in (item.before, item.after)]
    named = {document.id, *(entry.object_id for entry in entries if entry is not None)}
    named |= {index for index in (journal.index_before, journal.index_after) if index}
    _, trees = build_trees({name: (REGULAR, name) for name in sorted(named)})
    anchor = commit_object(trees[-1].id, parents, b"CleverAgents apply\n")
    added = {item.id: item for item in (*new, document, *trees, anchor)}
    with stored_pack(objects, added.values()):
        # An earlier apply with the same result may have been undone, and left its notes.
        ApplyProgress(mirror, journal.plan_id, resource, document.id).drop(WRITTEN, BEGUN)
        # What was applied last is needed until it is undone, and the other way around.
        place = "unapplies" if journal.reverses else "applies"
        name = f"refs/cleveragents/{place}/{journal.plan_id}/{resource}"
        mirror.run("update-ref", name, anchor.id)
    return document.id


@dataclass(frozen=True)
class ApplyProgress:
    """Durable notes in the mirror about how far the files of one journal have come.

    The disk alone does not tell: the user may have written the same bytes, or edited a file
    after all of them were written.
    """

    mirror: Git
    plan_id: str
    resource: str
    document: str

    def has(self, stage: str) -> bool:
        """Says whether writing has begun, or whether all files have been written."""
        name = f"refs/cleveragents/{stage}/{self.plan_id}/{self.resource}"
        found = self.mirror.run("rev-parse", "--verify", "-q", name, ok=(0, 1))
        return found.decode().strip() == self.document

    def note(self, stage: str) -> None:
        name = f"refs/cleveragents/{stage}/{self.plan_id}/{self.resource}"
        self.mirror.run("update-ref", name, self.document)

    def drop(self, *stages: str) -> None:
        """Forgets notes, in this order."""
        for stage in stages:
            name = f"refs/cleveragents/{stage}/{self.plan_id}/{self.resource}"
            self.mirror.run("update-ref", "-d", name)
