"""Plans the undo of an apply, or its redo: the journal of what was done, the other way around.

It is allowed only while the resource is as the last of the two left it: the files that it wrote,
the branch, and what is staged. Whatever else the user has done to other files stays. Carrying it
out is then an apply like any other, with the same locks, the same order and the same recovery.
"""

from __future__ import annotations

import os
from dataclasses import replace as replaced
from pathlib import Path

from msgspec.structs import replace

from cleveragents.domain.errors import ChangedSinceApplyError, CleverAgentsError
from cleveragents.domain.plans.apply import ApplyMode, Target
from cleveragents.domain.sandboxes.sandbox import DiffFile
from cleveragents.domain.sandboxes.uncaptured import GIT_OPERATIONS
from cleveragents.domain.wording import counted, listed
from cleveragents.infrastructure.sandbox.apply.file_plan import in_the_way
from cleveragents.infrastructure.sandbox.apply.journal import (
    ApplyJournal,
    BranchMove,
    DatabaseMove,
    store_journal,
)
from cleveragents.infrastructure.sandbox.apply.merge_workspace import MergeWorkspace
from cleveragents.infrastructure.sandbox.apply.project_writer import ProjectFiles
from cleveragents.infrastructure.sandbox.apply.sqlite_target import found_in, is_same_database
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.objects import NewObject, ObjectKind
from cleveragents.infrastructure.sandbox.sqlite.chunks import load_state
from cleveragents.infrastructure.sandbox.store.blobs import BlobReader

_SHOWN = 10
_STATUSES = {"added": "deleted", "deleted": "added"}


def plan_reversal(
    git: Git, objects: BlobReader, workspace: Path, journal: ApplyJournal, target: Target
) -> Target:
    """Finds out whether one resource can go back, and stores what that needs in its mirror.

    Args:
        git: Git on the mirror of the resource.
        objects: The objects of the mirror.
        workspace: An empty directory for copies; the caller removes it.
        journal: What was done to the resource last.
        target: How the plan's record names that.

    Raises:
        ChangedSinceApplyError: it is not as that left it.
    """
    store, new = Path(target.store) / "objects", list[NewObject]()
    if journal.database is not None:
        changes = _changes_of_database(git, objects, workspace, journal, journal.database)
        back = replaced(
            journal, database=DatabaseMove(journal.database.after, journal.database.before)
        )
    else:
        changes = _changed_files(journal)
        back = replaced(journal, files=journal.files.reversed())
        if journal.git_dir is not None and journal.move is not None:
            merging = MergeWorkspace(git, objects, workspace)
            repository = _Repository(merging, objects, journal, journal.git_dir, journal.move)
            changes += repository.changes()
            if not changes:
                back, new = repository.reversed(back)
    if changes:
        revert = _command(git, journal, target)
        raise ChangedSinceApplyError(str(journal.root), changes, hint=revert)
    back = replaced(back, reverses=not journal.reverses)
    document = store_journal(git, store, target.resource, back, new)
    return replace(target, document=document, files=tuple(map(_reversed_file, target.files)))


class _Repository:
    """The branch and the index of a project, compared with what was left there."""

    def __init__(
        self,
        workspace: MergeWorkspace,
        objects: BlobReader,
        journal: ApplyJournal,
        git_dir: Path,
        move: BranchMove,
    ) -> None:
        self._workspace = workspace
        self._objects = objects
        self._journal = journal
        self._git_dir = git_dir
        self._move = move
        self._git = workspace.git.at(git_dir)
        self._left_at = move.before if journal.reverses else move.after
        index = git_dir / "index"
        self._index = index.read_bytes() if index.is_file() else None
        self._index_time = index.stat().st_mtime_ns if index.is_file() else None

    def changes(self) -> list[str]:
        """Returns a few words for each thing that is not as it was left."""
        if self._journal.mode is ApplyMode.BRANCH:
            return self._changes_of_new_branch()
        found = [
            operation.text
            for name, operation in GIT_OPERATIONS.items()
            if os.path.lexists(self._git_dir / name)
        ]
        head = self._said("symbolic-ref", "-q", "HEAD") or None
        if head != self._move.head:
            return [*found, f"{_branch(head)} is checked out instead of {_branch(self._move.head)}"]
        moves = self._move.after is not None
        expected = self._left_at if moves else self._move.before
        commit = self._said("rev-parse", "--verify", "-q", "HEAD") or None
        if commit != expected:
            found.append(f"{_branch(head)} has moved{self._since(expected, commit)}")
        elif self._journal.index_after is not None:
            found += self._staged_otherwise()
        return found

    def reversed(self, back: ApplyJournal) -> tuple[ApplyJournal, list[NewObject]]:
        """Returns the journal with branch and index the other way around, and new objects."""
        move, new = self._move, list[NewObject]()
        sizes = tuple((name, _size(Path(name))) for name, _ in move.reflogs)
        back = replaced(back, move=replaced(move, reflogs=sizes))
        if self._journal.index_after is None:
            return back, new
        before = self._journal.index_before
        wanted = None if before is None else self._objects.read(before)
        after = self._workspace.whole_index(wanted, self._git_dir, self._journal.root)
        blobs = [NewObject.of(ObjectKind.BLOB, each) for each in (self._index or b"", after)]
        back = replaced(
            back,
            index_before=None if self._index is None else blobs[0].id,
            index_after=blobs[1].id,
            index_time=self._index_time,
        )
        return back, blobs

    def _changes_of_new_branch(self) -> list[str]:
        ref, expected = self._move.ref, self._left_at
        commit = self._said("rev-parse", "--verify", "-q", ref) or None
        if commit != expected:
            return [f"{_branch(ref)} {_moved(commit)}{self._since(expected, commit)}"]
        places = self._said("worktree", "list", "--porcelain", "-z").split("\0")
        if f"branch {ref}" in places:
            return [f"{_branch(ref)} is checked out"]
        return []

    def _staged_otherwise(self) -> list[str]:
        left = self._objects.read(self._journal.index_after or "")
        place = self._git_dir, self._journal.root
        found, wanted = (
            {line.partition(b"\t")[2]: line for line in said.split(b"\0") if line}
            for said in (self._workspace.staged_in(each, *place) for each in (self._index, left))
        )
        paths = [
            os.fsdecode(path)
            for path in sorted(found.keys() | wanted.keys())
            if found.get(path) != wanted.get(path)
        ]
        return [f"something else is staged: {listed(paths, most=_SHOWN)}"] if paths else []

    def _since(self, old: str | None, new: str | None) -> str:
        """Says which commits were made on top; nothing where the branch was moved elsewhere."""
        if old is None or new is None:
            return ""
        if not self._git.succeeds("merge-base", "--is-ancestor", old, new):
            return f" to {new[:10]}"
        lines = self._said("log", "--format=%h %s", f"{old}..{new}").split("\n")
        return f" by {counted(len(lines), 'commit')}: {listed(lines, most=3)}"

    def _said(self, *arguments: str) -> str:
        return os.fsdecode(self._git.run(*arguments, ok=(0, 1, 128))).strip()


def _changed_files(journal: ApplyJournal) -> list[str]:
    """Names the files and directories that are not as the apply left them."""
    project = ProjectFiles(journal.root)
    if not journal.root.is_dir():
        return ["it is no longer a directory"]
    changed: list[str] = []
    for item in journal.files.files:
        try:
            if project.entry(item.path) != item.after:
                changed.append(item.path)
        except OSError:  # Unreadable, or special: nothing that an apply leaves.
            changed.append(item.path)
    changed += [
        f"{item.path}/"
        for item in journal.files.directories
        if item.after is not None and project.directory_mode(item.path) != item.after
    ]
    if not changed:
        changed = in_the_way(project, journal.files.reversed())
    return [f"{listed(sorted(changed), most=_SHOWN)} changed"] if changed else []


def _changes_of_database(
    git: Git, objects: BlobReader, workspace: Path, journal: ApplyJournal, move: DatabaseMove
) -> list[str]:
    left = load_state(git, move.after, objects, journal.root.name)
    if is_same_database(found_in(journal.root, workspace), left):
        return []
    return ["it was written to"]


def _command(git: Git, journal: ApplyJournal, target: Target) -> str:
    """Returns what the user can do instead."""
    if journal.reverses:
        return f"Run `agents plan apply {journal.plan_id}`: it merges with what is there now"
    if journal.mode is ApplyMode.BRANCH:
        return f"Run `git branch -D {target.branch}` if you no longer need the branch"
    commit = target.commit
    if commit is None:
        return "Restore what was changed since the apply, then run undo again"
    try:
        parents = git.run("rev-list", "--parents", "-n1", commit).split()[1:]
    except CleverAgentsError:
        parents = []
    option = "-m 1 " if len(parents) > 1 else ""
    return f"Run `git revert {option}{commit[:12]}` in the project to take its changes out"


def _reversed_file(file: DiffFile) -> DiffFile:
    return replace(
        file,
        status=_STATUSES.get(file.status, file.status),
        insertions=file.deletions,
        deletions=file.insertions,
    )


def _branch(ref: str | None) -> str:
    return "a commit without a branch" if ref is None else f"`{ref.removeprefix('refs/heads/')}`"


def _moved(commit: str | None) -> str:
    return "is gone" if commit is None else "has moved"


def _size(log: Path) -> int | None:
    return log.stat().st_size if log.is_file() else None
