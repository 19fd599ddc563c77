"""Sandboxes and what a snapshot of one holds."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from cleveragents.domain.record import Record
from cleveragents.domain.sandboxes.resource import ResourceType, SandboxStrategy


class CopyMethod(StrEnum):
    """How the bytes of a `filesystem_copy` came into the sandbox."""

    REFLINK = "reflink"
    """Shared with the original until one of them is written to."""
    COPY = "copy"


class SandboxState(StrEnum):
    """Where a sandbox is in its life."""

    CREATED = "created"
    ACTIVE = "active"
    ROLLED_BACK = "rolled_back"
    ERRORED = "errored"
    """It was lost and is not whole: it is filled before anything else is done with it."""
    COMMITTED = "committed"
    """What it holds is in the project."""
    CLEANED_UP = "cleaned_up"
    """It was given up, and its files are removed; its checkpoints are kept."""


class ProjectFacts(Record):
    """What there is to know about a resource before it is sandboxed."""

    root: str
    """The directory or file itself; of a repository the top, also when asked about a part."""
    key: str
    """Names its store: the same path always has the same key."""
    type: ResourceType
    head_commit: str | None
    branch: str | None


class Resource(Record):
    """Something the plan may change, and where the user keeps it."""

    id: str
    plan_id: str
    name: str
    type: ResourceType
    strategy: SandboxStrategy
    path: str
    position: int
    """Order in the plan; the first is where tools run."""
    include_uncommitted: bool = False
    """Whether the sandbox of a repository starts from its files as they are, not from `HEAD`."""


class Uncaptured(Record):
    """A path that a snapshot or a sandbox could not hold, and why."""

    path: str
    reason: str


class SandboxRef(Record):
    """The private copy of one resource that a plan works in."""

    id: str
    plan_id: str
    resource_id: str
    resource: str
    strategy: SandboxStrategy
    path: str
    """Where the plan works: a directory, or the database file."""
    branch: str | None
    """None without git."""
    store: str
    """Where its snapshots are kept: a private bare repository; empty where none are."""
    base_commit: str | None
    """The project's commit it started from; None when there was none."""
    state: SandboxState
    created_at: datetime
    copied_by: CopyMethod | None = None
    """None where files were not copied."""
    skipped: tuple[Uncaptured, ...] = ()
    """What the original holds and the sandbox does not."""

    @property
    def is_given_up(self) -> bool:
        """Whether nobody needs its files any more."""
        return self.state is SandboxState.CLEANED_UP


class Evidence(StrEnum):
    """How it was found out what a snapshot has to hold."""

    WATCH = "watch"
    """The system told of every change."""
    SCAN = "scan"
    """Everything that may have changed since the last time was looked at."""
    COMPLETE = "complete"
    """Everything was read."""


class SandboxCheckpoint(Record):
    """One stored snapshot of one sandbox."""

    snapshot_id: str
    """A commit in the store whose tree is exactly the files."""
    state_hash: str
    """Names everything captured: bytes, modes, empty directories, HEAD, branch and index."""
    size_bytes: int
    """What this snapshot added to the store."""
    not_captured: tuple[Uncaptured, ...]
    evidence: Evidence = Evidence.COMPLETE
    partial: bool = False
    """A deadline passed before everything was looked at."""


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
    """`added`, `modified`, `deleted`, `type changed` or `mode changed`."""
    insertions: int | None
    """None for a binary file."""
    deletions: int | None


class FilePatch(Record):
    """One section of a patch: how the content of one file differs.

    A file whose type changed has two, one for what was deleted and one for what was added.
    """

    path: str
    text: str
    """Ends with a line end; quotes odd names as git does."""


class TreeDiff(Record):
    """How two snapshots differ."""

    files: tuple[DiffFile, ...]
    patches: tuple[FilePatch, ...]
    """In the order of the patch; directories have none."""
    patch_truncated: bool

    @property
    def patch(self) -> str:
        """The whole patch as one text."""
        return "".join(item.text for item in self.patches)
