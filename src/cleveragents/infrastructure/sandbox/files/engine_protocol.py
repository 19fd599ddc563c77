"""What every way of keeping the bytes of a sandbox can do: one engine for one sandbox."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from cleveragents.domain.sandboxes.change import PathChange
from cleveragents.domain.sandboxes.merge import MergeNames, MergeReport, MergeStrategy
from cleveragents.domain.sandboxes.named_paths import NamedPaths
from cleveragents.domain.sandboxes.sandbox import (
    RestorePreview,
    RestoreReport,
    SandboxRef,
    TreeDiff,
)
from cleveragents.infrastructure.sandbox.files.known_copies import CopyComparison
from cleveragents.infrastructure.sandbox.store.snapshots import StoredSnapshot


@dataclass(frozen=True)
class Merging:
    """What is to be merged, and how."""

    mine: str
    base: str
    theirs: str
    strategy: MergeStrategy
    names: MergeNames


class SnapshotEngine(Protocol):
    """Snapshots and restores of one sandbox; `SnapshotStore` says what each must keep to."""

    def watch(self) -> None:
        """Has changes reported from now on where that is possible; may be called again."""
        ...

    def recheck(self) -> Sequence[str]:
        """Looks at everything that may have changed; returns what no watch had told."""
        return ()

    def close(self) -> None:
        """Lets go of processes, watches and files. MUST be repeatable."""
        ...

    def store(self) -> StoredSnapshot:
        """Makes a durable snapshot of the sandbox as it is."""
        ...

    def preview(self, snapshot_id: str, paths: NamedPaths | None) -> RestorePreview: ...

    def restore(self, snapshot_id: str, sparing: str | None) -> RestoreReport: ...

    def verify(self, snapshot_id: str) -> None: ...

    def ids(self) -> Sequence[str]: ...

    def delete(self, snapshot_ids: Iterable[str]) -> None: ...

    def diff(self, old: str, new: str, prefix: str) -> TreeDiff: ...

    def changes(self, old: str, new: str) -> Sequence[PathChange]: ...

    def changes_since(self, snapshot_id: str) -> Sequence[PathChange]: ...

    def combine(self, base: str, other: str, paths: NamedPaths) -> StoredSnapshot: ...

    def merge(self, wanted: Merging) -> MergeReport: ...

    def place(self, snapshot_id: str, paths: Sequence[str]) -> None: ...

    def fill(self, snapshot_id: str, source: SandboxRef, known: CopyComparison | None) -> None:
        """Makes a new sandbox what a snapshot of another one of its store is, and keeps that.

        Args:
            snapshot_id: The snapshot.
            source: The other sandbox.
            known: How the other one was like the snapshot when this was copied from it;
                None if nothing is known of what is there.
        """
        ...

    def sizes(self, hashes: Collection[str]) -> Mapping[str, int]:
        """Returns the sizes that are known by hash."""
        del hashes
        return {}
