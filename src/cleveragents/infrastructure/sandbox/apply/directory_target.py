"""Bringing a plan's result into a directory: what the plan changed, nobody else may have."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.system import FaultPoints
from cleveragents.domain.errors import MergeConflictError, TargetRefusedError
from cleveragents.domain.plans.apply import ApplyMode, ApplyRequest, Target, TargetWork
from cleveragents.infrastructure.sandbox.apply.file_plan import (
    directory_changes,
    files_of,
    in_the_way,
    is_same,
    status_of,
    stored_objects,
    target_of,
)
from cleveragents.infrastructure.sandbox.apply.journal import ApplyJournal, ApplyProgress, name_of
from cleveragents.infrastructure.sandbox.apply.project_writer import (
    PathUpdate,
    PathUpdates,
    ProjectWriter,
)
from cleveragents.infrastructure.sandbox.apply.target_files import TargetFiles
from cleveragents.infrastructure.sandbox.create.overlays import attach, detach, is_one
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.layout import git_on_mirror
from cleveragents.infrastructure.sandbox.states.diff import line_counts
from cleveragents.infrastructure.sandbox.store.blobs import BlobReader
from cleveragents.infrastructure.sandbox.store.captured_state import TreeEntry


def plan_directory(git: Git, work: TargetWork, request: ApplyRequest) -> Target:
    """Finds out what is to become of a directory, and keeps it in its store.

    Raises:
        TargetRefusedError: there is no such directory, or a branch was asked for.
        MergeConflictError: something that the plan changed is not as the plan found it.
    """
    root = Path(work.resource.path)
    refuse_branch(work, request)
    if root.is_symlink() or not root.is_dir():
        raise TargetRefusedError(str(root), "it is not a directory any more")
    place = ProjectWriter(root)
    changes = {change.path: change for change in work.changes}
    files, conflicts = _placements(place, work)
    wanted = PathUpdates(files, directory_changes(place, changes, files))
    conflicts += in_the_way(place, wanted)
    if conflicts:
        raise MergeConflictError(
            str(root),
            sorted(set(conflicts)),
            hint="Run the plan again on the directory as it is now; nothing was changed",
        )
    journal = ApplyJournal(
        plan_id=work.plan_id, root=root, git_dir=None, mode=request.mode, files=wanted
    )
    found = stored_objects(root, {item.path: item.before for item in files})
    statuses = {item.path: status_of(item.before, item.after) for item in files}
    store = git_on_mirror(git, Path(work.sandbox.store))
    counts = line_counts(store, work.first, work.last)
    return target_of(git, work, journal, found, statuses, counts)


def refuse_branch(work: TargetWork, request: ApplyRequest) -> None:
    """Raises TargetRefusedError where a branch is asked of something that has none."""
    if request.mode is ApplyMode.BRANCH:
        raise TargetRefusedError(
            work.resource.path,
            f"`{work.resource.name}` is no repository, so `--branch` cannot hold its result",
            hint="Apply without `--branch`",
        )


def _placements(place: ProjectWriter, work: TargetWork) -> tuple[list[PathUpdate], list[str]]:
    """Returns what becomes of each file, and those that are not as the plan found them."""
    old, new = files_of(work.changes)
    files: list[PathUpdate] = []
    conflicts: list[str] = []
    for path in sorted(new):
        present, before, wanted = _present(place, path), old[path], new[path]
        after = wanted and TreeEntry(wanted.object_id, _mode(before, wanted, present))
        if not (is_same(present, before) or is_same(present, wanted)):
            conflicts.append(path)
        elif present != after:
            files.append(PathUpdate(path, present, after))
    return files, conflicts


def _present(place: ProjectWriter, path: str) -> TreeEntry | None:
    try:
        return place.entry(path)
    except OSError:
        return TreeEntry("", 0)  # Unreadable, or special: like nothing that a plan found.


def _mode(before: TreeEntry | None, wanted: TreeEntry, present: TreeEntry | None) -> int:
    """Returns type and permission bits: the plan's where it set them, or else as they are."""
    as_it_is = before is not None and before.mode == wanted.mode and present is not None
    return present.mode if as_it_is and present is not None else wanted.mode


class DirectoryTarget:
    """One directory that something is brought into."""

    def __init__(
        self, git: Git, target: Target, journal: ApplyJournal, sandbox: Path, faults: FaultPoints
    ) -> None:
        """Args: `sandbox` is where the plan has worked: an overlay of the directory, or a copy."""
        self._sandbox = sandbox
        store = git_on_mirror(git, Path(target.store))
        self._objects = BlobReader(store)
        self._files = TargetFiles(
            journal.root,
            journal.files,
            journal.root / f".cleveragents-apply-{journal.plan_id}",
            self._objects.copy,
            lambda: faults.reach(FaultPoint.FILE_PLACED),
            ApplyProgress(store, name_of(journal.plan_id, target.resource), target.document),
        )

    def close(self) -> None:
        self._objects.close()

    def lock(self) -> None:
        """A directory has no lock; it is looked at once more.

        Overlayfs does not allow its lower directory to be written to while it is mounted.
        """
        detach(self._sandbox)
        if not self._files.is_brought:
            self._files.refuse_others()

    def write(self) -> None:
        self._files.bring()

    def settle(self) -> None:
        """Everything is there already."""

    def undo(self) -> None:
        if self._files.is_begun:
            self._files.refuse_others()
            self._files.take_back()
        self._files.tidy()
        self.finish()

    def finish(self) -> None:
        """Lets the sandbox be seen again, where it was taken away; its next use would do so too."""
        if is_one(self._sandbox):
            with suppress(OSError):
                attach(self._sandbox)
