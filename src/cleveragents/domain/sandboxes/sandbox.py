"""Sandboxes, and what a snapshot of one contains."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from cleveragents.domain.record import Record
from cleveragents.domain.sandboxes.resource import ResourceType, SandboxStrategy


class CopyMethod(StrEnum):
    """How a `filesystem_copy` sandbox was filled."""

    REFLINK = "reflink"
    """Shared with the original until one of them is written to."""
    COPY = "copy"


class SandboxState(StrEnum):
    """The state of a sandbox."""

    CREATED = "created"
    ACTIVE = "active"
    ROLLED_BACK = "rolled_back"
    ERRORED = "errored"
    """It was lost and is incomplete: it is filled again before anything else."""
    COMMITTED = "committed"
    """Its content is in the project."""
    CLEANED_UP = "cleaned_up"
    """It is no longer needed, and its files are removed; its checkpoints are kept."""


class ProjectFacts(Record):
    """What is known about a resource before it is sandboxed."""

    root: str
    """The directory or file itself; for any path in a repository, its top directory."""
    key: str
    """Names its mirror: the same path always has the same key."""
    type: ResourceType
    head_commit: str | None
    branch: str | None


class Resource(Record):
    """Something the plan may change, and its path in the user's project."""

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


class SharedPlace(Record):
    """Where a resource is that has no sandbox of its own."""

    sandbox: str
    """The resource whose sandbox holds it."""
    place: str
    """The path in that sandbox; empty for all of it."""


class Uncaptured(Record):
    """A path that a snapshot or a sandbox does not contain, and why."""

    path: str
    reason: str


class UncapturedFile(Record):
    """A file that no snapshot holds and that differs from what the plan started from."""

    path: str
    reason: str
    size_bytes: int
    """0 if the plan deleted it."""
    rebuildable: str | None
    """The directory around it that a tool can make again, if any."""
    can_be_added: bool
    """Whether `with_uncaptured` can add it to a snapshot."""


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
    """The mirror with its snapshots, a private bare repository; empty if it has none."""
    base_commit: str | None
    """The project's commit it started from; None when there was none."""
    state: SandboxState
    created_at: datetime
    copied_by: CopyMethod | None = None
    """None where files were not copied."""
    skipped: tuple[Uncaptured, ...] = ()
    """Paths of the original that the sandbox does not contain."""
    home_id: str | None = None
    """The identity of the home directory that it belongs to; None in records of earlier versions
    and in one that is not stored yet."""


class Evidence(StrEnum):
    """How the content of a snapshot was determined."""

    WATCH = "watch"
    """The system reported every change."""
    SCAN = "scan"
    """Every path that may have changed since the last snapshot was checked."""
    COMPLETE = "complete"
    """Everything was read."""


class SandboxCheckpoint(Record):
    """One stored snapshot of one sandbox."""

    snapshot_id: str
    """A commit in the mirror whose tree is exactly the files."""
    state_hash: str
    """Names everything captured: bytes, modes, empty directories, HEAD, branch and index."""
    size_bytes: int
    """What this snapshot added to the mirror."""
    not_captured: tuple[Uncaptured, ...]
    evidence: Evidence = Evidence.COMPLETE
    partial: bool = False
    """The deadline passed before everything was checked."""
    head: str | None = None
    """The commit of the project's `HEAD`, where the sandbox is the project itself."""


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
    """Existing paths that are in no snapshot; a restore never touches them."""
    replaced: tuple[Uncaptured, ...] = ()
    """Special files in the way, which a restore removes; an undo can make only FIFOs again."""


class RestoreReport(Record):
    """What a restore did, as read back from the disk."""

    changes: tuple[FileChange, ...]
    left_alone: tuple[Uncaptured, ...]
    replaced: tuple[Uncaptured, ...] = ()
    differences: tuple[str, ...]
    """Paths that do not match the snapshot, each as a sentence; empty means verified."""
    differing: tuple[str, ...] = ()
    """The paths alone."""


class DiffFile(Record):
    """How one file differs between two snapshots."""

    path: str
    status: str
    """`added`, `modified`, `deleted`, `type changed`, `mode changed` or `not captured`."""
    insertions: int | None
    """None for a binary file."""
    deletions: int | None


class FilePatch(Record):
    """One section of a patch: how the content of one file differs.

    A file whose type changed has two: one for the deleted file, one for the added one.
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
