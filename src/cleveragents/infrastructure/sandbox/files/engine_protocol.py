"""What every way of storing the bytes of a sandbox can do: one engine for one sandbox."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from cleveragents.application.ports.sandboxes import LockedSandbox
from cleveragents.domain.errors import SnapshotError
from cleveragents.domain.sandboxes.sandbox import RestoreReport, SandboxRef, UncapturedFile
from cleveragents.infrastructure.sandbox.files.known_copies import CopyComparison


class SnapshotEngine(LockedSandbox, Protocol):
    """Snapshots and restores of one sandbox; `LockedSandbox` says what each act must keep to."""

    def watch(self) -> None:
        """Has changes reported from now on where that is possible; may be called again."""
        ...

    def close(self) -> None:
        """Ends processes and watches, and closes files. MUST be repeatable."""
        ...

    def start_as(self, snapshot_id: str, source: SandboxRef, known: CopyComparison | None) -> None:
        """Restores a new sandbox to a snapshot of another one in its mirror, and keeps that.

        Args:
            snapshot_id: The snapshot.
            source: The other sandbox.
            known: How the other one compared with the snapshot when this was copied from it;
                None if nothing is known of what is there.
        """
        ...

    def recheck(self) -> Sequence[str]:
        return ()

    def commits_since(self, head: str) -> Sequence[str]:
        del head
        return ()

    def start(self) -> str | None:
        return None

    def keep_start(self, snapshot_id: str) -> None:
        del snapshot_id

    def uncaptured(self, start: str, original: str) -> Sequence[UncapturedFile]:
        del start, original
        return ()

    def with_uncaptured(self, snapshot_id: str, paths: Collection[str]) -> str:
        del paths
        return snapshot_id

    def keep_uncaptured(self) -> None:
        return None

    def restore_uncaptured(self) -> None:
        return None

    def marked(self, paths: Collection[str]) -> Sequence[str]:
        del paths
        return ()

    def sizes(self, hashes: Collection[str]) -> Mapping[str, int]:
        del hashes
        return {}


def refuse_differences(report: RestoreReport) -> None:
    """Raises SnapshotError unless everything is as it should be."""
    if report.differences:
        raise SnapshotError(
            "The sandbox differs from what was stored: " + "; ".join(report.differences),
            hint="End the processes that write to it, then try again",
            differences=list(report.differences),
        )
