"""Sandboxes and what a snapshot of one holds."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from cleveragents.domain.plan_file import ResourceType
from cleveragents.domain.record import Record


class SandboxStrategy(StrEnum):
    """How a resource is isolated."""

    GIT_WORKTREE = "git_worktree"


class SandboxState(StrEnum):
    """Where a sandbox is in its life."""

    CREATED = "created"
    ACTIVE = "active"
    ROLLED_BACK = "rolled_back"


class ProjectFacts(Record):
    """What there is to know about a project before it is sandboxed."""

    root: str
    """The top of the repository, also when asked about a directory inside it."""
    key: str
    """Names its private mirror: the same project always has the same key."""
    type: ResourceType
    head_commit: str | None
    branch: str | None


class Resource(Record):
    """Something the plan may change, and where the user keeps it."""

    id: str
    plan_id: str
    name: str
    type: ResourceType
    path: str
    position: int
    """Order in the plan; the first is where tools run."""


class SandboxRef(Record):
    """The private copy of one resource that a plan works in."""

    id: str
    plan_id: str
    resource_id: str
    resource: str
    strategy: SandboxStrategy
    path: str
    branch: str
    store: str
    """Where its snapshots are kept: the project's private mirror."""
    base_commit: str | None
    """The project's commit it started from; None when the project had none."""
    state: SandboxState
    created_at: datetime


class Uncaptured(Record):
    """A path that a snapshot could not hold, and why."""

    path: str
    reason: str


class SandboxCheckpoint(Record):
    """One stored snapshot of one sandbox."""

    snapshot_id: str
    """A commit in the store whose tree is exactly the files."""
    state_hash: str
    """Names everything captured: bytes, modes, empty directories, HEAD, branch and index."""
    size_bytes: int
    """What this snapshot added to the store."""
    not_captured: tuple[Uncaptured, ...]
    created_at: datetime


class ChangeAction(StrEnum):
    """What a restore did to a path."""

    RESTORED = "restored"
    REMOVED = "removed"


class FileChange(Record):
    """One path that a restore writes or removes."""

    file: str
    action: ChangeAction


class RestorePreview(Record):
    """What a restore would do."""

    changes: tuple[FileChange, ...]
    left_alone: tuple[Uncaptured, ...]
    """Paths that are there and in no snapshot; a restore never touches them."""


class RestoreReport(Record):
    """What a restore did, read back from the disk."""

    changes: tuple[FileChange, ...]
    left_alone: tuple[Uncaptured, ...]
    state_hash: str
    """Of the sandbox as it was found afterwards."""
    differences: tuple[str, ...]
    """What is not as it should be; empty means verified."""


class DiffFile(Record):
    """How one file differs between two snapshots."""

    path: str
    status: str
    """`added`, `modified`, `deleted` or `type changed`."""
    insertions: int | None
    """None for a binary file."""
    deletions: int | None


class TreeDiff(Record):
    """How two snapshots differ."""

    files: tuple[DiffFile, ...]
    patch: str
    patch_truncated: bool
