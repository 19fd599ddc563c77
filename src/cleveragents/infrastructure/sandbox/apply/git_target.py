"""Writing a plan's result into a repository, or undoing that; each can itself be undone.

Meanwhile the project's own `index.lock` is ours, so no other git changes anything. Files come
first, each by a rename, then the branch, then the index: the lock, renamed. A look at each of
these tells whether it is as before or as after. So every act can be repeated, and after a kill
anywhere the next process can do the rest or undo it.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.system import FaultPoints
from cleveragents.application.ports.targets import OpenTarget
from cleveragents.domain.errors import CleverAgentsError, GitCommandError, TargetChangedError
from cleveragents.domain.plans.apply import ApplyMode
from cleveragents.infrastructure.files import fsync_directory, write_durably
from cleveragents.infrastructure.sandbox.apply.file_plan import target_act
from cleveragents.infrastructure.sandbox.apply.journal import (
    BEGUN,
    WRITTEN,
    ApplyJournal,
    BranchMove,
)
from cleveragents.infrastructure.sandbox.apply.merge_workspace import MergeWorkspace
from cleveragents.infrastructure.sandbox.apply.project_writer import ProjectWriter
from cleveragents.infrastructure.sandbox.git.objects import NewObject, ObjectKind
from cleveragents.infrastructure.sandbox.store.blobs import BlobReader, missing_objects

_NO_COMMIT = "0" * 40
_AGAIN = "Nothing of the plan is left in it; run `agents plan apply` again"
_INDEX_MODE = 0o644


class GitTarget(OpenTarget):
    """One repository that a result is written into."""

    def __init__(
        self,
        journal: ApplyJournal,
        git_dir: Path,
        move: BranchMove,
        workspace: MergeWorkspace,
        objects: BlobReader,
        writer: ProjectWriter,
        faults: FaultPoints,
    ) -> None:
        """Args: `git_dir` and `move` are the journal's, which has none for other resources."""
        self.root = journal.root
        self._journal = journal
        self._git_dir = git_dir
        self._move = move
        # The commits of the branch before and afterwards; None where there is no branch.
        self._start, self._end = move.before, move.after
        if journal.reverses:
            self._start, self._end = move.after, move.before
        self._workspace = workspace
        self._objects = objects
        self._writer = writer
        self._faults = faults
        self._git = workspace.git.at(git_dir).with_variables(**dict(journal.identity))
        self._lock = git_dir / "index.lock"
        self._index = git_dir / "index"
        self._index_mode = _INDEX_MODE
        with suppress(FileNotFoundError):
            self._index_mode = self._index.stat().st_mode & 0o777
        undo = "undo of " if journal.reverses else ""
        self._message = f"{undo}plan apply {journal.plan_id}"
        # What our lock holds: the new index, or else a sentence that says who holds the lock.
        self._locked = f"Locked by CleverAgents for plan {journal.plan_id}\n".encode()
        if journal.index_after is not None:
            self._locked = objects.read(journal.index_after)
        # Where the lock is written before it gets its name.
        self._drafts = git_dir / f".cleveragents-lock-{journal.plan_id}"

    @target_act
    def lock(self) -> None:
        """Takes git's own lock, and refuses if anything is neither as before nor as after."""
        if self._journal.mode is ApplyMode.BRANCH or self._is_settled():
            return
        if not self._writer.progress.has(BEGUN):
            self._writer.refuse_unwritable()
        self._take_lock()
        move, journal = self._move, self._journal
        try:
            branch = os.fsdecode(self._git.run("symbolic-ref", "-q", "HEAD", ok=(0, 1))).strip()
            if (branch or None) != move.head:
                raise self._changed("another branch is checked out")
            if self._commit_of("HEAD") not in (move.before, move.after or move.before):
                raise self._changed("its branch has another commit")
            known = (journal.index_before, journal.index_after)
            if journal.index_after is not None and self._index_id() not in known:
                raise self._changed("something else is staged")
            if not self._writer.progress.has(WRITTEN):
                self._writer.refuse_others()
        except BaseException:
            # Once something of the plan is in the project, only `undo` may let others in.
            if not (self._is_in_history() or self._writer.progress.has(BEGUN)):
                self._release_lock()
            raise

    @target_act
    def write(self) -> None:
        if self._is_settled():
            return
        commit, known = self._move.after, self._move.known
        if commit is not None:
            if missing_objects(self._git, [commit]):
                packing = ("pack-objects", "--revs", "--stdout", "-q")
                wanted = f"{commit}\n" + (f"^{known}\n" if known else "")
                unpacking = ("index-pack", "--stdin")
                self._workspace.git.feed(packing, wanted.encode(), self._git, unpacking)
            self._faults.reach(FaultPoint.OBJECTS_BROUGHT)
        self._writer.write()

    @target_act
    def settle(self) -> None:
        if self._is_settled():
            return
        if self._journal.mode is not ApplyMode.BRANCH:
            self._take_lock()  # The user may have removed it.
        move = self._move
        if move.after is not None:
            if self._commit_of(move.ref) != self._end:
                try:  # Git refuses if another process has just moved the branch.
                    if self._end is None:
                        self._delete_branch(move.after)
                    else:
                        told, old = ("-m", self._message), self._start or _NO_COMMIT
                        self._git.run("update-ref", *told, move.ref, self._end, old)
                except GitCommandError as error:
                    if self._commit_of(move.ref) != self._start:
                        raise self._changed("its branch has another commit") from error
                    raise
            self._faults.reach(FaultPoint.BRANCH_MOVED)
        if self._journal.index_after is None:
            self._release_lock()
        else:
            os.replace(self._lock, self._index)
            fsync_directory(self._git_dir)

    def release(self) -> None:
        self._writer.release()

    @target_act
    def undo(self) -> None:
        self._writer.free_reserve()
        in_history = self._is_in_history()
        begun = in_history or self._writer.progress.has(BEGUN)
        if in_history and self._commit_of(self._move.ref) != self._end:
            raise self._changed("its branch has moved on from what was applied")
        if begun and self._journal.mode is not ApplyMode.BRANCH:
            self._take_lock()
            self._writer.refuse_others()
        self._move_back()
        self._restore_index()
        self._writer.undo()
        self._release_lock()
        shutil.rmtree(self._drafts, ignore_errors=True)

    def finish(self) -> None:
        """Lets git know that the files are those of the index, so that it need not read them.

        Where that fails, git reads them once more; nothing else depends on it.
        """
        if self._journal.index_after is not None:
            with suppress(CleverAgentsError, OSError):
                git = self._workspace.project_git(self._git_dir, self.root)
                theirs = git.with_variables(GIT_INDEX_FILE=str(self._index))
                theirs.run("update-index", "-q", "--refresh", ok=(0, 1, 128))

    def _take_lock(self) -> None:
        """Makes the lock whole or not at all, so that its bytes say whose it is."""
        if self._is_locked():
            return
        draft = self._drafts / "index"
        self._drafts.mkdir(mode=0o700, exist_ok=True)
        write_durably(draft, self._locked, mode=self._index_mode)
        try:
            os.link(draft, self._lock)
        except FileExistsError as error:
            if not self._is_locked():
                raise self._changed(
                    "another git is at work in it (`index.lock` is there)",
                    "Wait for it to end, or remove the file if there is none; then try again",
                ) from error
        finally:
            shutil.rmtree(self._drafts)

    def _release_lock(self) -> None:
        if self._is_locked():
            self._lock.unlink()

    def _is_locked(self) -> bool:
        """Says whether the lock is there and ours."""
        return self._lock.is_file() and self._lock.read_bytes() == self._locked

    def _index_id(self) -> str | None:
        try:
            return NewObject.of(ObjectKind.BLOB, self._index.read_bytes()).id
        except FileNotFoundError:
            return None

    def _commit_of(self, ref: str) -> str | None:
        found = self._git.run("rev-parse", "--verify", "-q", ref, ok=(0, 1, 128))
        return os.fsdecode(found).strip() or None

    def _is_settled(self) -> bool:
        """Returns whether an earlier attempt is complete; the user may have worked on since.

        Our lock stays until then. The user may have removed it, so this checks more than the lock.
        """
        if self._is_locked():
            return False
        if self._move.after is None:
            return self._writer.progress.has(WRITTEN)
        if self._journal.index_after is not None and self._index_id() == self._journal.index_before:
            return False
        return self._is_in_history()

    def _is_in_history(self) -> bool:
        """Says whether the branch has moved, whatever was committed on top of that since."""
        commit = self._move.after
        if commit is None:
            return False
        has_result = not missing_objects(self._git, [commit]) and self._git.succeeds(
            "merge-base", "--is-ancestor", commit, self._move.ref
        )
        return has_result != self._journal.reverses

    def _move_back(self) -> None:
        move = self._move
        if move.after is None:
            return
        if self._commit_of(move.ref) == self._end:
            if self._start is None:
                self._delete_branch(move.after)
            else:
                old = self._end or _NO_COMMIT
                self._git.run("update-ref", move.ref, self._start, old)
        for name, size in move.reflogs:
            _cut_back(Path(name), size or 0, move.after, gone=size is None)

    def _delete_branch(self, commit: str) -> None:
        """Deletes the branch; git refuses if it is not at the commit."""
        move = self._move
        ref = move.head if move.ref == "HEAD" and move.head else move.ref
        self._git.run("update-ref", "-d", ref, commit)

    def _restore_index(self) -> None:
        before, after = self._journal.index_before, self._journal.index_after
        if after is None or self._index_id() != after:
            return
        if before is None:
            self._index.unlink()
        else:
            write_durably(self._index, self._objects.read(before), mode=self._index_mode)
            if self._journal.index_time is not None:
                os.utime(self._index, ns=(self._journal.index_time, self._journal.index_time))

    def _changed(self, what: str, hint: str = _AGAIN) -> TargetChangedError:
        return TargetChangedError(str(self.root), what, hint=hint)


def _cut_back(log: Path, size: int, commit: str, *, gone: bool) -> None:
    """Removes from a reflog what was added about a commit, if nothing else was added."""
    try:
        added = log.read_bytes()[size:]
    except FileNotFoundError:
        return
    if any(commit.encode() not in line for line in added.splitlines()):
        return
    if gone:
        log.unlink()
    elif added:
        os.truncate(log, size)
