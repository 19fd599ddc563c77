"""Bringing a plan's result into a repository, and taking it out again.

While it is under way the project's own `index.lock` is ours, so no other git changes anything.
Files come first, each at one stroke, then the branch, then the index: the lock, renamed. Each
of these is seen to be as before or as after by looking, so every act can be repeated, and a
process that was killed anywhere is followed by one that does the rest or takes it back.
"""

from __future__ import annotations

import os
import shutil
from contextlib import closing, suppress
from pathlib import Path

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.system import FaultPoints
from cleveragents.domain.errors import (
    GitCommandError,
    TargetChangedError,
)
from cleveragents.domain.plans.apply import ApplyMode, Target
from cleveragents.infrastructure.files import fsync_directory, write_durably
from cleveragents.infrastructure.sandbox.apply.journal import (
    ApplyJournal,
    ApplyProgress,
    BranchMove,
    name_of,
)
from cleveragents.infrastructure.sandbox.apply.merge_workspace import MergeWorkspace
from cleveragents.infrastructure.sandbox.apply.target_files import TargetFiles
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.layout import git_on_mirror
from cleveragents.infrastructure.sandbox.git.objects import ObjectKind, object_id
from cleveragents.infrastructure.sandbox.store.blobs import BlobReader, missing_objects

_NO_COMMIT = "0" * 40
_AGAIN = "Nothing of the plan is left in it; run `agents plan apply` again"
_INDEX_MODE = 0o644


class GitTarget:
    """One repository that something is brought into."""

    def __init__(
        self,
        git: Git,
        target: Target,
        journal: ApplyJournal,
        git_dir: Path,
        move: BranchMove,
        room: Path,
        faults: FaultPoints,
    ) -> None:
        """Args: `git_dir` and `move` are the journal's, `room` is for working trees of ours."""
        self._any_git = git
        self._target = target
        self._journal = journal
        self._git_dir = git_dir
        self._move = move
        self._room = room
        self._faults = faults
        self._git = git.at(git_dir).with_variables(**dict(journal.identity))
        self._mirror = git_on_mirror(git, Path(target.store))
        self._objects = BlobReader(self._mirror)
        self._files = TargetFiles(
            journal.root,
            journal.files,
            _staging(journal, git_dir),
            self._objects.copy,
            lambda: faults.reach(FaultPoint.FILE_PLACED),
            ApplyProgress(self._mirror, name_of(journal.plan_id, target.resource), target.document),
        )

    def close(self) -> None:
        self._objects.close()

    def lock(self) -> None:
        """Takes git's own lock, and refuses if anything is neither as before nor as after."""
        if self._journal.mode is ApplyMode.BRANCH or self._is_settled():
            return
        self._take_lock()
        try:
            self._refuse_changes()
        except BaseException:
            if not self._is_anything_done():
                self._release_lock()
            raise

    def write(self) -> None:
        if self._is_settled():
            return
        if self._move.after is not None:
            self._bring_objects(self._move.after, self._move.known)
            self._faults.reach(FaultPoint.OBJECTS_BROUGHT)
        self._files.bring()

    def settle(self) -> None:
        if self._is_settled():
            return
        if self._journal.mode is not ApplyMode.BRANCH:
            self._take_lock()  # Somebody may have removed it.
        if self._move.after is not None:
            if not self._is_at():
                self._move_to(self._move.after)
            self._faults.reach(FaultPoint.BRANCH_MOVED)
        if self._journal.index_after is None:
            self._release_lock()
        else:
            os.replace(self._lock, self._index)
            fsync_directory(self._git_dir)

    def undo(self) -> None:
        begun = self._is_anything_done()
        if self._is_in_history() and not self._is_at():
            raise self._changed("its branch has moved on from what was applied")
        if begun and self._journal.mode is not ApplyMode.BRANCH:
            self._take_lock()
            self._files.refuse_others()
        self._move_back()
        self._restore_index()
        if begun:
            self._files.take_back()
        self._release_lock()
        self._files.tidy()
        shutil.rmtree(self._drafts, ignore_errors=True)

    def finish(self) -> None:
        """Lets git know that the files are those of the index, so that it need not read them."""
        if self._journal.index_after is None:
            return
        with (
            closing(MergeWorkspace(self._any_git, Path(self._target.store), self._room)) as room,
            room.looking_at(self._git_dir, self._journal.root) as git,
        ):
            ours = git.with_variables(GIT_INDEX_FILE=str(self._index))
            ours.run("update-index", "-q", "--refresh", ok=(0, 1, 128))

    @property
    def _lock(self) -> Path:
        return self._git_dir / "index.lock"

    @property
    def _index(self) -> Path:
        return self._git_dir / "index"

    @property
    def _drafts(self) -> Path:
        """Where the lock is written before it gets its name."""
        return self._git_dir / f".cleveragents-lock-{self._journal.plan_id}"

    @property
    def _locked(self) -> bytes:
        """What our lock holds: the index to be, or else a sentence for whoever looks."""
        if self._journal.index_after is not None:
            return self._objects.read(self._journal.index_after)
        return f"Locked by CleverAgents for plan {self._journal.plan_id}\n".encode()

    def _is_ours(self, lock: Path) -> bool:
        return lock.is_file() and lock.read_bytes() == self._locked

    def _take_lock(self) -> None:
        """Makes the lock whole or not at all, so that it says by itself whose it is."""
        draft = self._drafts / "index"
        self._drafts.mkdir(mode=0o700, exist_ok=True)
        write_durably(draft, self._locked, mode=self._index_mode())
        try:
            os.link(draft, self._lock)
        except FileExistsError as error:
            if not self._is_ours(self._lock):
                raise self._changed(
                    "another git is at work in it (`index.lock` is there)",
                    "Wait for it to end, or remove the file if there is none; then try again",
                ) from error
        finally:
            shutil.rmtree(self._drafts)

    def _release_lock(self) -> None:
        if self._is_ours(self._lock):
            self._lock.unlink()

    def _index_mode(self) -> int:
        with suppress(FileNotFoundError):
            return self._index.stat().st_mode & 0o777
        return _INDEX_MODE

    def _refuse_changes(self) -> None:
        move = self._move
        branch = os.fsdecode(self._git.run("symbolic-ref", "-q", "HEAD", ok=(0, 1))).strip()
        if (branch or None) != move.head:
            raise self._changed("another branch is checked out")
        if self._commit_of("HEAD") not in (move.before, move.after or move.before):
            raise self._changed("its branch has another commit")
        if self._journal.index_after is not None and self._index_id() not in (
            self._journal.index_before,
            self._journal.index_after,
        ):
            raise self._changed("something else is staged")
        if not self._files.is_brought:
            self._files.refuse_others()

    def _is_anything_done(self) -> bool:
        """Says whether anything of the plan is in the project."""
        return self._is_in_history() or self._files.is_begun

    def _is_settled(self) -> bool:
        """Says whether an earlier attempt came to its end; the user may have gone on since.

        Our lock stays until then. Somebody may have removed it, so more is looked at.
        """
        if self._is_ours(self._lock):
            return False
        if self._move.after is None:
            return self._files.is_brought
        if self._journal.index_after is not None and self._index_id() == self._journal.index_before:
            return False
        return self._is_in_history()

    def _is_in_history(self) -> bool:
        """Says whether the branch has the commit, or one that was made on top of it."""
        commit = self._move.after
        if commit is None or missing_objects(self._git, [commit]):
            return False
        return self._git.succeeds("merge-base", "--is-ancestor", commit, self._move.ref)

    def _is_at(self) -> bool:
        return self._commit_of(self._move.ref) == self._move.after

    def _bring_objects(self, commit: str, known: str | None) -> None:
        """Gives the project the objects that the commit needs and it does not have."""
        if not missing_objects(self._git, [commit]):
            return
        wanted = f"{commit}\n" + (f"^{known}\n" if known else "")
        packing = ("pack-objects", "--revs", "--stdout", "-q")
        self._mirror.feed(packing, wanted.encode(), self._git, ("index-pack", "--stdin"))

    def _commit_of(self, ref: str) -> str | None:
        found = self._git.run("rev-parse", "--verify", "-q", ref, ok=(0, 1, 128))
        return os.fsdecode(found).strip() or None

    def _index_id(self) -> str | None:
        try:
            return object_id(ObjectKind.BLOB, self._index.read_bytes())
        except FileNotFoundError:
            return None

    def _move_to(self, commit: str) -> None:
        """Moves the branch, unless somebody else has just moved it."""
        message = f"plan apply {self._journal.plan_id}"
        try:
            old = self._move.before or _NO_COMMIT
            self._git.run("update-ref", "-m", message, self._move.ref, commit, old)
        except GitCommandError as error:
            if self._commit_of(self._move.ref) != self._move.before:
                raise self._changed("its branch has another commit") from error
            raise

    def _move_back(self) -> None:
        move = self._move
        if move.after is None:
            return
        if self._is_at():
            if move.before is None:
                ref = move.head if move.ref == "HEAD" and move.head else move.ref
                self._git.run("update-ref", "-d", ref, move.after)
            else:
                self._git.run("update-ref", move.ref, move.before, move.after)
        for name, size in move.reflogs:
            _cut_back(Path(name), size or 0, move.after, gone=size is None)

    def _restore_index(self) -> None:
        before, after = self._journal.index_before, self._journal.index_after
        if after is None or self._index_id() != after:
            return
        if before is None:
            self._index.unlink()
        else:
            write_durably(self._index, self._objects.read(before), mode=self._index_mode())
            if self._journal.index_time is not None:
                os.utime(self._index, ns=(self._journal.index_time, self._journal.index_time))

    def _changed(self, what: str, hint: str = _AGAIN) -> TargetChangedError:
        return TargetChangedError(str(self._journal.root), what, hint=hint)


def _staging(journal: ApplyJournal, git_dir: Path) -> Path:
    """Returns where files are written before they are renamed: on their own file system."""
    inside = git_dir.stat().st_dev == journal.root.stat().st_dev
    place = git_dir if inside else journal.root
    return place / f".cleveragents-apply-{journal.plan_id}"


def _cut_back(log: Path, size: int, commit: str, *, gone: bool) -> None:
    """Takes out of a reflog what was added to it about a commit, if nothing else was added."""
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
