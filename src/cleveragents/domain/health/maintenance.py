"""What looking after the stores finds and does."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from cleveragents.domain.record import Record


@dataclass(frozen=True)
class KnownRecords:
    """What the records say of the plans that a store holds something of."""

    plans: Set[str]
    """Those that are known at all."""
    snapshots: Set[tuple[str, str]]
    """Plan and snapshot, of every group there is."""
    sandboxes: Set[tuple[str, str]]
    """Plan and resource, of every recorded sandbox that was not given up."""
    given_up: Set[tuple[str, str]]
    """Plan and resource, of those that were."""
    holder: str | None
    """Who is working with one of these plans at this moment."""
    lost: bool = False
    """Checkpoints have lost what keeps their bytes in the store: collecting would be the end."""


class CollectedStore(Record):
    """What a collection took out of one store, or would take out."""

    project_key: str
    path: str
    bytes_before: int
    """What the store took on disk, without what it shares with the project."""
    bytes_after: int
    snapshots_removed: int
    """Snapshots that no checkpoint names."""
    objects_removed: int
    """Stored files, directories and commits that no snapshot and no branch needs."""
    temporary_files_removed: int
    """What killed runs left behind."""
    sandboxes_removed: tuple[str, ...]
    """Sandboxes that no plan has."""
    unknown_plans: tuple[str, ...]
    """Plans that the records do not know, and whose snapshots were left alone for that."""
    busy: bool
    """Somebody was at work in it, so that nothing was taken out."""
    problem: str | None
    """Why it was left alone, or only cleaned in part."""

    @property
    def bytes_reclaimed(self) -> int:
        return max(self.bytes_before - self.bytes_after, 0)

    @property
    def is_complete(self) -> bool:
        return not (self.busy or self.problem or self.unknown_plans)


class StoreFindings(Record):
    """What there is in and around one store that no record names; nothing was changed."""

    project_key: str
    path: str
    refs: tuple[str, ...]
    """Names of snapshots and branches."""
    sandboxes: tuple[str, ...]
    temporary_files: tuple[str, ...]
    """What killed runs left behind."""
    unknown_plans: tuple[str, ...]
    """Plans that the records do not know, and that are left alone for that."""
    busy: bool
    """Somebody is at work in it, so that it was not looked through."""
    problem: str | None
    """Why it was not looked through."""

    @property
    def is_tidy(self) -> bool:
        return not (self.refs or self.sandboxes or self.temporary_files)


class GarbageReport(Record):
    """What `agents gc` did, store by store."""

    dry_run: bool
    stores: tuple[CollectedStore, ...]
    draft_bytes: int
    """What sandboxes took that a killed process had not finished making."""

    @property
    def bytes_reclaimed(self) -> int:
        return self.draft_bytes + sum(store.bytes_reclaimed for store in self.stores)


class VerifiedCheckpoint(Record):
    """Whether everything that a rollback to a checkpoint needs could be read back."""

    checkpoint_id: str
    group_id: str
    label: str
    problem: str | None
    """What is wrong; None when it is whole."""

    @property
    def is_whole(self) -> bool:
        return self.problem is None


class VerifyReport(Record):
    """What reading checkpoints back found, in their order."""

    plan_id: str
    checkpoints: tuple[VerifiedCheckpoint, ...]

    @property
    def damaged(self) -> int:
        return sum(not checkpoint.is_whole for checkpoint in self.checkpoints)
