"""Creating sandboxes, and taking and restoring their snapshots."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from cleveragents.application.ports.locks import PlanLease
from cleveragents.domain.plans.origin import SandboxOrigin
from cleveragents.domain.sandboxes.change import PathChange
from cleveragents.domain.sandboxes.merge import MergeNames, MergeReport, MergeStrategy
from cleveragents.domain.sandboxes.resource import ResourceType
from cleveragents.domain.sandboxes.sandbox import (
    ProjectFacts,
    Resource,
    RestorePreview,
    RestoreReport,
    SandboxCheckpoint,
    SandboxRef,
    SharedPlace,
    TreeDiff,
    UncapturedFile,
)


class Sandboxes(Protocol):
    """Makes the private copies that plans work in."""

    def project_root(self, path: Path) -> str:
        """Returns the top of the repository that a directory is in; reads nothing else.

        Raises ProjectRefusedError when there is none, or it may not be a project.
        """
        ...

    def inspect(self, path: Path, kind: ResourceType = ResourceType.GIT_CHECKOUT) -> ProjectFacts:
        """Inspects a resource before it is sandboxed; changes nothing and runs nothing of it.

        Raises ProjectRefusedError when it cannot be sandboxed whole.
        """
        ...

    def inspect_in_place(self, path: Path) -> ProjectFacts:
        """Looks at the project that a session will work on in place; any project will do.

        Raises ProjectRefusedError for what is no project: the user's home, the root, our home.
        """
        ...

    def refuse_view(self, project: Path) -> None:
        """Raises ViewUnavailableError, with the reason, where no private view can be made.

        MUST change nothing, neither in the project nor in this process.
        """
        ...

    def prepare_view(self) -> None:
        """Readies this process for private views. MUST come before its first thread.

        Raises ViewUnavailableError if that is not possible.
        """
        ...

    def show_at_project(self, sandbox: SandboxRef) -> None:
        """Shows a private view at the project's path to this process alone.

        For the child that becomes the command. Raises OSError if that is not possible.
        """
        ...

    def enter(self, sandboxes: Sequence[SandboxRef]) -> None:
        """Lets this process see those private views among its sandboxes that are still there.

        Raises ViewUnavailableError if that is not possible.
        """
        ...

    def shared_places(self, resources: Sequence[Resource]) -> Mapping[str, SharedPlace]:
        """Returns which resources are in the sandbox of another one, by name.

        Raises ProjectRefusedError when two hold the same thing and cannot share a sandbox.
        """
        ...

    def create(self, sandbox_id: str, plan_id: str, resource: Resource) -> SandboxRef:
        """Makes the sandbox.

        MUST leave the project byte-identical, and nothing behind on failure.
        """
        ...

    def fork(
        self,
        sandbox_id: str,
        plan_id: str,
        resource: Resource,
        source: SandboxRef,
        snapshot_id: str,
    ) -> SandboxRef:
        """Makes the sandbox of a child plan, which starts as a snapshot of its parent's.

        It holds exactly that snapshot's files, whatever the source holds by now, and of the
        source what no snapshot holds: ignored files. It shares the source's store. Its git is
        on a branch of its own if the source was on its own, otherwise detached, at the same
        commit with the same index. It MUST work when the source is gone. It MUST leave source
        and project byte-identical, and nothing behind on failure.

        Args:
            sandbox_id: The id of the new sandbox.
            plan_id: The child plan; it MUST NOT have a sandbox of the resource in use.
            resource: The child's record of the resource, which is like the parent's.
            source: The parent's sandbox.
            snapshot_id: A snapshot of the source.

        Raises:
            SnapshotMissingError: no ref keeps that snapshot.
        """
        ...

    def note_origin(self, origin: SandboxOrigin) -> None:
        """Notes beside a new sandbox what it was made for, durably; `remove` removes the note."""
        ...

    def is_there(self, plan_id: str, resource: str) -> bool:
        """Returns whether anything is in the place of a plan's sandbox."""
        ...

    def check(self, sandbox: SandboxRef) -> None:
        """Raises SandboxMissingError when it is gone or what is there is not ours."""
        ...

    def reopen(self, sandbox: SandboxRef) -> None:
        """Creates a missing sandbox again, empty, for a snapshot to fill.

        MUST raise SandboxMissingError, and touch nothing, where something else is in its place.
        """
        ...

    def remove(self, sandbox: SandboxRef) -> None:
        """Removes the sandbox's files; its snapshots stay. MUST be repeatable."""
        ...


class OpenSandbox(Protocol):
    """One sandbox and its snapshots, for reading. Nothing here stores or changes anything."""

    def preview(self, snapshot_id: str, paths: Collection[str] | None = None) -> RestorePreview:
        """Returns what `restore` would do.

        Args:
            snapshot_id: The snapshot to compare the sandbox with.
            paths: Restore only these, as `combine` understands them; None restores everything.
        """
        ...

    def verify(self, snapshot_id: str) -> None:
        """Raises SnapshotMissingError or SnapshotCorruptError unless every byte is there."""
        ...

    def ids(self) -> Sequence[str]:
        """Returns the ids of the stored snapshots of the sandbox's plan and resource."""
        ...

    def start(self) -> str | None:
        """Returns the snapshot that `keep_start` kept, if any."""
        ...

    def diff(self, old: str, new: str, prefix: str = "") -> TreeDiff:
        """Compares two snapshots; every path, in the patch too, begins with `prefix`."""
        ...

    def sizes(self, hashes: Collection[str]) -> Mapping[str, int]:
        """Returns the bytes of files and links by the hash that `changes` gives them.

        What is not stored, or has no size of its own, is left out.
        """
        ...

    def changes(self, old: str, new: str) -> Sequence[PathChange]:
        """Lists how each path differs between two snapshots, in the order of the paths.

        Every file, link and directory that differs, or is in one of them only, is one
        entry. MUST leave out what one of the snapshots could not hold, and MUST NOT
        read anything when the two are the same.
        """
        ...

    def changes_since(self, snapshot_id: str) -> Sequence[PathChange]:
        """Compares a snapshot with the sandbox as it is now, as `changes` does."""
        ...

    def marked(self, paths: Collection[str]) -> Sequence[str]:
        """Returns those of the paths that are files with conflict markers now, as `merge` wrote."""
        ...

    def uncaptured(self, start: str, original: str) -> Sequence[UncapturedFile]:
        """Lists the files that no snapshot holds and that the plan made, changed or deleted.

        Args:
            start: The snapshot that the plan started from.
            original: Where the resource itself is. A file that is the same there is left out.
        """
        ...

    def commits_since(self, head: str) -> Sequence[str]:
        """Returns the commits that the project got since `head`, newest first, each as one line.

        Only a sandbox in place has any: its git is the user's own, and no restore changes it.
        """
        ...

    def recheck(self) -> Sequence[str]:
        """Scans a watched sandbox without trusting the watch; returns what the watch missed."""
        ...


class LockedSandbox(OpenSandbox, Protocol):
    """One sandbox while this process holds its plan: the only way to change it.

    A snapshot MUST be durable when `snapshot` returns, MUST NOT depend on any other, and
    taking it MUST NOT change the sandbox.
    """

    def snapshot(self) -> SandboxCheckpoint:
        """Stores the sandbox as it is. Identical state gives the identical snapshot.

        Raises SandboxMissingError when it is gone or what is there is not ours.
        """
        ...

    def restore(self, snapshot_id: str, sparing: str | None = None) -> RestoreReport:
        """Restores the sandbox to a snapshot, and reads it back.

        MUST be repeatable after a kill, MUST NOT write outside the sandbox,
        through a symlink or into a file with other links, and MUST leave alone
        what no snapshot holds.

        Args:
            snapshot_id: The snapshot.
            sparing: The snapshot taken before an earlier, killed attempt: what that
                one did not hold is left alone as well.
        """
        ...

    def restore_paths(self, snapshot_id: str, paths: Collection[str]) -> None:
        """Restores some paths to what a snapshot has there, its own or one of a fork.

        What the snapshot does not have is removed. A directory is restored or removed with
        everything in it; where both have one, only its permission bits are restored.
        Everything else stays.

        Raises:
            UsageError: a path is absolute or leads upwards.
            SnapshotError: the snapshot, or one of the sandbox now, does not hold a path.
            BusinessRuleViolation: something that no snapshot holds is in the way.
        """
        ...

    def with_uncaptured(self, snapshot_id: str, paths: Collection[str]) -> str:
        """Stores a snapshot with files added that no snapshot holds, and returns its id.

        It is kept for one apply, until the next one is stored, and no checkpoint names it. It
        MUST NOT change what later snapshots hold.

        Args:
            snapshot_id: A snapshot of the sandbox as it is.
            paths: What `uncaptured` listed and can be added.
        """
        ...

    def keep_start(self, snapshot_id: str) -> None:
        """Keeps a snapshot as what the plan started from; the first one that is named stays.

        It MUST stay readable when `delete` drops the snapshot.
        """
        ...

    def keep_uncaptured(self) -> None:
        """Keeps what no snapshot holds, before a program runs that must not change it.

        MUST be durable when it returns, so that a later process can restore it after a kill.
        """
        ...

    def restore_uncaptured(self) -> None:
        """Restores what `keep_uncaptured` kept, if anything, and removes what came since.

        Only what no snapshot holds: `restore` restores the rest. MUST be repeatable after a kill.
        """
        ...

    def delete(self, snapshot_ids: Collection[str]) -> None:
        """Drops snapshots; the space is reclaimed later. MUST be repeatable."""
        ...

    def combine(self, base: str, other: str, paths: Collection[str]) -> SandboxCheckpoint:
        """Stores a snapshot that is `base`, but has at `paths` what `other` has there.

        It is a snapshot like those of `snapshot`: durable, independent of the
        two, and the identical one if the state is. `HEAD`, branch and index are those
        of `base`. What was not captured is left alone as by a rollback to the snapshot
        that each path is taken from. MUST NOT look at the sandbox or change it.

        Args:
            base: What counts where no path leads.
            other: What counts at the paths. What it does not have is removed; a directory
                that is then empty stays unless it is named itself. Where `base` has no
                directory above a path of `other`, it is made as `other` has it, in
                place of a file if need be.
            paths: As in a `PathChange`. A directory includes all that is in it in
                either snapshot, and `.` for everything. One that neither has does nothing.

        Raises:
            UsageError: a path is absolute or leads upwards.
            SnapshotError: `other` or `base` did not capture what is at a path. A special
                file in `base` counts as nothing, as it does in `changes`.
        """
        ...

    def merge(
        self, mine: str, base: str, theirs: str, strategy: MergeStrategy, names: MergeNames
    ) -> MergeReport:
        """Merges what changed between two snapshots of a fork into the sandbox.

        What changed in theirs only is taken, what changed in both is merged as the strategy
        says. Where that is a conflict, everything is as mine, but for the lines of text
        files, which have conflict markers. `HEAD`, branch and index stay. What one of the
        snapshots left out MUST NOT be touched, nor anything written through a link. With
        `fail_on_conflict` nothing MUST be written if there is a conflict.

        A kill may leave any part of it done: then the sandbox has to be restored to
        `mine` before it is done again.

        Args:
            mine: A snapshot of the sandbox, which holds exactly this.
            base: What the fork started as.
            theirs: What it is now.
            strategy: What happens where both have changed something.
            names: What conflict markers call the two.

        Raises:
            SnapshotMissingError: one of the snapshots is not there.
        """
        ...


class SnapshotStore(Protocol):
    """Opens sandboxes, to read their snapshots or to change them."""

    def watched(self, sandboxes: Sequence[SandboxRef]) -> AbstractContextManager[None]:
        """Has the kernel report what changes in the sandboxes while the block runs, if it can.

        It only makes the other acts quicker. May be nested.
        """
        ...

    def open(self, sandbox: SandboxRef) -> AbstractContextManager[OpenSandbox]:
        """Opens a sandbox for reading."""
        ...

    def lock(self, sandbox: SandboxRef, lease: PlanLease) -> AbstractContextManager[LockedSandbox]:
        """Opens a sandbox for changing it; to be held for one act, not for a whole run.

        MUST raise ConflictError, and change nothing, when the lease was taken over.
        """
        ...
