"""Making the files of a sandbox what a state says, and reading them back.

Obstacles and damage show before the first file is touched. The safety snapshot is the
caller's business.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from cleveragents.domain.errors import BusinessRuleViolation, SandboxMissingError, SnapshotError
from cleveragents.domain.sandboxes.named_paths import NamedPaths
from cleveragents.domain.sandboxes.sandbox import RestorePreview, RestoreReport, SandboxRef
from cleveragents.infrastructure.sandbox.files.git_state import ObservedGit, SandboxGit
from cleveragents.infrastructure.sandbox.files.kept_blobs import KeptBlobs
from cleveragents.infrastructure.sandbox.files.tracker import SandboxTracker
from cleveragents.infrastructure.sandbox.files.writer import SandboxWriter
from cleveragents.infrastructure.sandbox.git.objects import NewObject
from cleveragents.infrastructure.sandbox.states.combine import combined
from cleveragents.infrastructure.sandbox.states.difference import StateDifference, difference
from cleveragents.infrastructure.sandbox.store.captured_state import (
    CapturedState,
    GitState,
    state_hash_of,
)
from cleveragents.infrastructure.sandbox.store.lazy_tree import not_ahead
from cleveragents.infrastructure.sandbox.store.snapshots import StoredSnapshots


class FileRestorer:
    """One sandbox with its files, its git if it has one, and what is stored of it."""

    def __init__(
        self,
        sandbox: SandboxRef,
        stored: StoredSnapshots,
        sight: SandboxTracker,
        git: SandboxGit | None,
    ) -> None:
        self.sandbox = sandbox
        self.stored = stored
        self.sight = sight
        self.git = git

    def present(self) -> tuple[CapturedState, ObservedGit]:
        """Returns the sandbox as it is. Raises SandboxMissingError."""
        path = self.sandbox.path
        if os.path.islink(path) or not os.path.isdir(path):
            raise SandboxMissingError(path, "is not there any more")
        return self.sight.present()

    def preview(self, snapshot_id: str, paths: NamedPaths | None) -> RestorePreview:
        """Raises what `bring_to` would raise before it touches anything.

        Args: `paths` are the only ones to restore; None restores everything.
        """
        target = self.stored.load(snapshot_id)
        present, _ = self.present()
        read, ahead = self.stored.read_tree, self.stored.read_ahead
        if paths is not None:
            made = combined(present, target, paths, read)
            target, read, ahead = made.captured, made.reader(read), not_ahead
        todo = difference(present, target, read, ahead)
        self._refuse_unless_possible(todo, present.git, target.git, snapshot_id)
        self.stored.objects.check(_needed(todo))
        return RestorePreview(changes=todo.changes, left_alone=todo.left_alone)

    def bring_to(self, target: CapturedState, snapshot_id: str, ref: str) -> RestoreReport:
        """Makes the sandbox what a snapshot holds; `ref` is what keeps that."""
        self.stored.packing.wait()
        present, _ = self.present()
        todo = difference(present, target, self.stored.read_tree, self.stored.read_ahead)
        with translated("The sandbox could not be restored"):
            self._refuse_unless_possible(todo, present.git, target.git, snapshot_id)
            blobs = KeptBlobs(self.stored.objects, _needed(todo))
            self.sight.will_hold((path for path, _ in todo.write_files), todo.make_directories)
            with self.sight.being_rewritten(todo.touched):
                if self.git is not None:
                    self.git.restore(target.git)
                self._write(todo, blobs)
        return self._read_back(todo, target, ref)

    def is_already(self, target: CapturedState, ref: str) -> bool:
        """Says whether the sandbox is known to hold the bytes that a ref keeps, and notes that."""
        found = self.sight.known()
        same = (found.tree, found.git) == (target.tree, target.git)
        if same:
            self.sight.is_stored_as(found, ref, 0)
        return same

    def become(self, target: CapturedState, others: Sequence[NewObject]) -> None:
        """Makes a state durable that was never there, and the sandbox what it says.

        Raises:
            SnapshotError: something is not as it should be afterwards.
        """
        with translated("The snapshot could not be stored"):
            stored = self.stored.keep(target, self.stored.staged(target.git), others)
        ref = self.stored.refs.name(stored.snapshot_id)
        refuse_differences(self.bring_to(target, stored.snapshot_id, ref))

    def _refuse_unless_possible(
        self, todo: StateDifference, present: GitState, wanted: GitState, snapshot_id: str
    ) -> None:
        if todo.in_the_way:
            raise BusinessRuleViolation(
                "The rollback would overwrite what no checkpoint holds: "
                + ", ".join(todo.in_the_way),
                hint="Move these away, then roll back again",
                paths=list(todo.in_the_way),
            )
        if self.git is not None and present != wanted:
            self.stored.check_git(wanted, snapshot_id)

    def _write(self, todo: StateDifference, blobs: KeptBlobs) -> None:
        if todo.is_nothing:
            return
        writer = SandboxWriter(self.sandbox.path)
        try:
            writer.apply(todo, blobs.copy)
        finally:
            writer.close()

    def _read_back(self, done: StateDifference, target: CapturedState, ref: str) -> RestoreReport:
        found = self.sight.known()
        # What was ignored may no longer be, once the ignore rules are back: it stays all the same.
        stayed = {item.path for item in done.left_alone}
        spared = replace(target, ignored=target.ignored | stayed)
        left = difference(found, spared, self.stored.read_tree)
        wrong = [f"{change.file} should be {change.action}" for change in left.changes]
        if found.git != target.git:
            wrong.append("HEAD, branch or index differ")
        self.is_already(target, ref)
        return RestoreReport(
            changes=done.changes,
            left_alone=done.left_alone,
            state_hash=state_hash_of(found.document()),
            differences=tuple(wrong),
        )


def refuse_differences(report: RestoreReport) -> None:
    """Raises SnapshotError unless everything is as it should be."""
    if report.differences:
        raise SnapshotError(
            "The sandbox is not what it was to be: " + "; ".join(report.differences),
            hint="End the processes that write to it, then try again",
            differences=list(report.differences),
        )


@contextmanager
def translated(what: str) -> Generator[None]:
    """Says what a full disk or a missing permission means."""
    try:
        yield
    except OSError as error:
        raise SnapshotError(
            f"{what}: {error}", hint="Make room or give permission, then try again"
        ) from error


def _needed(todo: StateDifference) -> list[str]:
    return sorted({entry.object_id for _, entry in todo.write_files})
