"""What an apply found and what it is to leave, as a document kept in the resource's store.

The bytes it names, those from before included, are kept by the same ref.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cleveragents.domain.errors import SnapshotCorruptError
from cleveragents.domain.plans.apply import ApplyMode
from cleveragents.infrastructure.sandbox.apply.project_writer import (
    DirectoryUpdate,
    PathUpdate,
    PathUpdates,
)
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.layout import git_on_mirror
from cleveragents.infrastructure.sandbox.git.objects import NewObject, ObjectKind, store_pack
from cleveragents.infrastructure.sandbox.store.captured_state import REGULAR, TreeEntry
from cleveragents.infrastructure.sandbox.store.lazy_tree import build_trees
from cleveragents.infrastructure.sandbox.store.snapshots import commit_object


@dataclass(frozen=True)
class BranchMove:
    """What moves in a repository besides files."""

    ref: str
    """`HEAD`, or the branch that is made."""
    head: str | None
    """What `HEAD` is: a branch, or None when detached."""
    before: str | None
    """The commit it had, if any."""
    after: str | None
    """The commit it gets, or None if it stays."""
    reflogs: tuple[tuple[str, int | None], ...]
    """The logs that git may add to, with their sizes; None for one that is not there."""
    known: str | None
    """A commit that the project has with all that leads to it."""


@dataclass(frozen=True)
class DatabaseMove:
    """Snapshots of a database: what was found, and what is to be."""

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
    """The index as an object; None where there was none, or it stays."""
    index_after: str | None = None
    index_time: int | None = None
    """When the index was written: by that git knows which files it has to read."""
    identity: tuple[tuple[str, str], ...] = ()
    """Git's variables that say who commits."""
    database: DatabaseMove | None = None

    def dump(self) -> bytes:
        move = self.move
        content: dict[str, object] = {
            "version": 1,
            "plan_id": self.plan_id,
            "root": str(self.root),
            "git_dir": None if self.git_dir is None else str(self.git_dir),
            "mode": self.mode.value,
            "files": [
                [item.path, _pair(item.before), _pair(item.after)] for item in self.files.files
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
        }
        return json.dumps(content, sort_keys=True).encode("ascii")

    @staticmethod
    def load(document: bytes) -> ApplyJournal:
        """Raises SnapshotCorruptError when it is not one of ours."""
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
                        PathUpdate(path, _entry(before), _entry(after))
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
            )
        except (ValueError, KeyError, TypeError) as error:
            raise SnapshotCorruptError(
                f"The journal of an apply cannot be read: {error!r}"
            ) from error

    @property
    def objects(self) -> set[str]:
        """The bytes that doing or undoing it needs."""
        entries = [entry for item in self.files.files for entry in (item.before, item.after)]
        found = {entry.object_id for entry in entries if entry is not None}
        return found | {index for index in (self.index_before, self.index_after) if index}

    @property
    def commits(self) -> list[str]:
        """The commits that have to stay, with all they lead to."""
        new = [] if self.move is None or self.move.after is None else [self.move.after]
        states = [] if self.database is None else [self.database.before, self.database.after]
        return [*new, *states]

    @property
    def does_anything(self) -> bool:
        return bool(self.commits or self.files.files or self.files.directories)


def keep(git: Git, store: Path, name: str, journal: ApplyJournal, new: Iterable[NewObject]) -> str:
    """Stores a journal with new objects, durably, and returns its id.

    Args:
        git: Any git.
        store: The store of the resource.
        name: Tells whose journal it is, in the ref that keeps everything.
        journal: The journal.
        new: Objects that the store may lack.
    """
    document = NewObject.of(ObjectKind.BLOB, journal.dump())
    named = sorted({document.id, *journal.objects})
    _, trees = build_trees({object_id: (REGULAR, object_id) for object_id in named})
    anchor = commit_object(trees[-1].id, journal.commits, b"CleverAgents apply\n")
    pack = store_pack(
        store / "objects",
        list({item.id: item for item in (*new, document, *trees, anchor)}.values()),
    )
    try:
        ours = git_on_mirror(git, store)
        ApplyProgress(ours, name, document.id).clear()  # Of an earlier apply that came to the same.
        ours.run("update-ref", f"refs/cleveragents/applies/{name}", anchor.id)
    finally:
        pack.release()
    return document.id


class ApplyProgress:
    """Durable notes in the store about how far the files of one journal have come.

    What is found on disk does not tell: the user may have written the same, or gone on since.
    """

    def __init__(self, store: Git, name: str, document: str) -> None:
        self._store = store
        self._document = document
        self._begun, self._brought = (
            f"refs/cleveragents/{stage}/{name}" for stage in ("begun", "brought")
        )

    @property
    def is_begun(self) -> bool:
        """Whether one of the files may be in its place."""
        return self._is_set(self._begun)

    @property
    def is_brought(self) -> bool:
        """Whether all of them have been in their places."""
        return self._is_set(self._brought)

    def begin(self) -> None:
        self._store.run("update-ref", self._begun, self._document)

    def end(self) -> None:
        self._store.run("update-ref", self._brought, self._document)

    def turn_back(self) -> None:
        """Some of them may not be in their places any more."""
        self._store.run("update-ref", "-d", self._brought)

    def clear(self) -> None:
        """None of them is in its place."""
        self.turn_back()
        self._store.run("update-ref", "-d", self._begun)

    def _is_set(self, ref: str) -> bool:
        found = self._store.run("rev-parse", "--verify", "-q", ref, ok=(0, 1))
        return found.decode().strip() == self._document


def name_of(plan_id: str, resource: str) -> str:
    """Returns what tells the journal of one resource from others."""
    return f"{plan_id}/{resource}"


def _pair(entry: TreeEntry | None) -> list[object] | None:
    return None if entry is None else [entry.object_id, entry.mode]


def _entry(pair: tuple[str, int] | None) -> TreeEntry | None:
    return None if pair is None else TreeEntry(pair[0], pair[1])
