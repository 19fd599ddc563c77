"""What `gc` and `verify` find and do in the mirrors."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from cleveragents.domain.health.layers import Layer
from cleveragents.domain.record import Record


@dataclass(frozen=True)
class KnownRecords:
    """What the records say about the plans that have data in a mirror."""

    plans: Set[str]
    """The plans that have a record."""
    snapshots: Set[tuple[str, str]]
    """Plan and snapshot, of every checkpoint group."""
    sandboxes: Set[tuple[str, str]]
    """Plan and resource, of every sandbox that is still needed."""
    given_up: Set[tuple[str, str]]
    """Plan and resource, of every sandbox that is no longer needed."""
    holder: str | None
    """The process that holds the lease on one of these plans."""
    doubted: bool = False
    """The database is older than the mirror: what it does not know may be finished work."""
    lost: bool = False
    """Checkpoints have lost their refs in the mirror: a collection would delete their data."""


class CollectedStore(Record):
    """What a collection removed from one mirror, or would remove."""

    project_key: str
    path: str
    bytes_before: int
    """Its disk space before, without what it shares with the project."""
    bytes_after: int
    snapshots_removed: int
    """Snapshots that no checkpoint names."""
    objects_removed: int
    """Stored files, directories and commits that no snapshot and no branch needs."""
    temporary_files_removed: int
    """What killed runs left behind."""
    sandboxes_removed: tuple[str, ...]
    """Sandboxes that belong to no plan."""
    unknown_plans: tuple[str, ...]
    """Plans without a record; their snapshots were kept for that reason."""
    busy: bool
    """Another process was using it, so nothing was removed."""
    problem: str | None
    """Why it was skipped, or only partly cleaned."""

    @property
    def bytes_reclaimed(self) -> int:
        return max(self.bytes_before - self.bytes_after, 0)

    @property
    def is_complete(self) -> bool:
        return not (self.busy or self.problem or self.unknown_plans)


class StoreFindings(Record):
    """Data in and around one mirror that no record names; nothing was changed."""

    project_key: str
    path: str
    refs: tuple[str, ...]
    """Names of snapshots and branches."""
    sandboxes: tuple[str, ...]
    temporary_files: tuple[str, ...]
    """What killed runs left behind."""
    unknown_plans: tuple[str, ...]
    """Plans without a record; their data is kept for that reason."""
    busy: bool
    """Another process is using it, so it was not searched."""
    problem: str | None
    """Why it was not searched."""

    @property
    def is_tidy(self) -> bool:
        return not (self.refs or self.sandboxes or self.temporary_files)


class GarbageReport(Record):
    """What `agents gc` did, mirror by mirror."""

    dry_run: bool
    stores: tuple[CollectedStore, ...]
    draft_bytes: int
    """The disk space of sandboxes that a killed process left unfinished."""
    layers: tuple[Layer, ...] = ()
    """The work in private views, which `agents gc` keeps."""

    @property
    def bytes_reclaimed(self) -> int:
        return self.draft_bytes + sum(store.bytes_reclaimed for store in self.stores)


class VerifiedCheckpoint(Record):
    """Whether everything that a rollback to the checkpoint needs could be read."""

    checkpoint_id: str
    group_id: str
    label: str
    problem: str | None
    """What is wrong; None if it is intact."""

    @property
    def is_whole(self) -> bool:
        return self.problem is None


class VerifyReport(Record):
    """The results of reading checkpoints back, in their order."""

    plan_id: str
    checkpoints: tuple[VerifiedCheckpoint, ...]

    @property
    def damaged(self) -> int:
        return sum(not checkpoint.is_whole for checkpoint in self.checkpoints)
