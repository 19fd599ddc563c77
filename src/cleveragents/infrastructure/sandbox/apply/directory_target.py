"""Applying to a directory: what the plan changed, nobody else may have changed."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from cleveragents.application.ports.targets import OpenTarget
from cleveragents.domain.errors import MergeConflictError, TargetRefusedError
from cleveragents.domain.plans.apply import ApplyMode, ApplyRequest, Target, TargetWork
from cleveragents.infrastructure.sandbox.apply.file_plan import (
    directory_changes,
    files_of,
    in_the_way,
    is_same,
    status_of,
    stored_objects,
    target_act,
    target_of,
)
from cleveragents.infrastructure.sandbox.apply.journal import (
    BEGUN,
    WRITTEN,
    ApplyJournal,
    PathUpdate,
    PathUpdates,
)
from cleveragents.infrastructure.sandbox.apply.project_writer import ProjectFiles, ProjectWriter
from cleveragents.infrastructure.sandbox.files.overlay_mounts import attach, detach, is_one
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.states.path_changes import line_counts
from cleveragents.infrastructure.sandbox.store.captured_state import TreeEntry


def plan_directory(mirror: Git, work: TargetWork, request: ApplyRequest) -> Target:
    """Finds out what will become of a directory, and stores it in its mirror.

    Raises:
        TargetRefusedError: there is no such directory, or a branch was asked for.
        MergeConflictError: something that the plan changed is not as the plan found it.
    """
    root = Path(work.resource.path)
    refuse_branch(work, request)
    if root.is_symlink() or not root.is_dir():
        raise TargetRefusedError(str(root), "it is no longer a directory")
    project = ProjectFiles(root)
    changes = {change.path: change for change in work.changes}
    files, conflicts = _updates(project, work)
    updates = PathUpdates(files, directory_changes(project, changes, files))
    conflicts += in_the_way(project, updates)
    if conflicts:
        raise MergeConflictError(
            str(root),
            sorted(set(conflicts)),
            hint="Run the plan again on the directory as it is now; nothing was changed",
        )
    journal = ApplyJournal(
        plan_id=work.plan_id, root=root, git_dir=None, mode=request.mode, files=updates
    )
    found = stored_objects(root, {item.path: item.before for item in files})
    statuses = {item.path: status_of(item.before, item.after) for item in files}
    counts = line_counts(mirror, work.first, work.last)
    return target_of(mirror, work, journal, found, statuses, counts)


def refuse_branch(work: TargetWork, request: ApplyRequest) -> None:
    """Raises TargetRefusedError where a branch is asked of something that has none."""
    if request.mode is ApplyMode.BRANCH:
        raise TargetRefusedError(
            work.resource.path,
            f"`{work.resource.name}` is not a repository, so `--branch` cannot hold its result",
            hint="Apply without `--branch`",
        )


def _updates(project: ProjectFiles, work: TargetWork) -> tuple[list[PathUpdate], list[str]]:
    """Returns the new state of each file, and the files that differ from what the plan found."""
    old, new = files_of(work.changes)
    files: list[PathUpdate] = []
    conflicts: list[str] = []
    for path in sorted(new):
        before, wanted = old[path], new[path]
        try:
            present = project.entry(path)
        except OSError:  # Unreadable, or special: equal to nothing that a plan found.
            present = TreeEntry("", 0)
        mode = 0 if wanted is None else wanted.mode
        if before is not None and present is not None and before.mode == mode:
            mode = present.mode  # The plan did not set the bits, so the user's stay.
        after = wanted and TreeEntry(wanted.object_id, mode)
        if not (is_same(present, before) or is_same(present, wanted)):
            conflicts.append(path)
        elif present != after:
            files.append(PathUpdate(path, present, after))
    return files, conflicts


class DirectoryTarget(OpenTarget):
    """One directory that a result is written into."""

    def __init__(self, root: Path, sandbox: Path, writer: ProjectWriter) -> None:
        """Args: `sandbox` is where the plan has worked: an overlay of the directory, or a copy."""
        self.root = root
        self._sandbox = sandbox
        self._writer = writer

    @target_act
    def lock(self) -> None:
        """Checks the directory once more; it has no lock.

        Overlayfs does not allow its lower directory to be written to while it is mounted.
        """
        detach(self._sandbox)
        if not self._writer.progress.has(BEGUN):
            self._writer.refuse_unwritable()
        if not self._writer.progress.has(WRITTEN):
            self._writer.refuse_others()

    @target_act
    def write(self) -> None:
        self._writer.write()

    def settle(self) -> None:
        """Does nothing: writing was all."""

    def release(self) -> None:
        self._writer.release()

    @target_act
    def undo(self) -> None:
        if self._writer.progress.has(BEGUN):
            self._writer.refuse_others()
        self._writer.undo()
        self.finish()

    def finish(self) -> None:
        """Mounts an overlay again; where that fails, its next use does it."""
        with suppress(OSError):
            if is_one(self._sandbox):
                attach(self._sandbox)
