"""Bringing a plan's result into a repository, and taking it out again.

While it is under way the project's own `index.lock` is ours, so no other git changes anything.
Files come first, each at one stroke, then the branch, then the index: the lock, renamed. Each
of these is seen to be as before or as after by looking, so every act can be repeated, and a
process that was killed anywhere is followed by one that does the rest or takes it back.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports import FaultPoints
from cleveragents.domain.apply import ApplyMode, Target, TargetChangedError, TargetRefusedError
from cleveragents.infrastructure.files import fsync_directory, write_durably
from cleveragents.infrastructure.sandbox.apply_journal import ApplyJournal, BranchMove
from cleveragents.infrastructure.sandbox.blobs import BlobReader, missing_objects
from cleveragents.infrastructure.sandbox.git import Git
from cleveragents.infrastructure.sandbox.layout import git_on_mirror
from cleveragents.infrastructure.sandbox.merging import MergeRoom
from cleveragents.infrastructure.sandbox.objects import Kind, object_id
from cleveragents.infrastructure.sandbox.placing import Place, Placements

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
        room: Path,
        faults: FaultPoints,
    ) -> None:
        """Args: `room` is a directory of ours that can be made and is removed."""
        self._any_git = git
        self._target = target
        self._journal = journal
        self._git_dir = git_dir
        self._room = room
        self._faults = faults
        self._git = git.at(git_dir).with_variables(**dict(journal.identity))
        self._mirror = git_on_mirror(git, Path(target.store))
        self._objects = BlobReader(self._mirror)
        self._place = Place(journal.root)

    def close(self) -> None:
        self._objects.close()

    def lock(self) -> None:
        """Takes git's own lock, and refuses if anything is neither as before nor as after."""
        if self._journal.mode is ApplyMode.BRANCH:
            return
        self._take_lock()
        try:
            self._refuse_changes()
        except BaseException:
            if not self._is_anything_done():
                self._release_lock()
            raise

    def write(self) -> None:
        move = self._journal.move
        if move is not None and move.after is not None:
            self._bring_objects(move.after, move.before)
            self._faults.reach(FaultPoint.OBJECTS_BROUGHT)
        self._bring(self._journal.files)

    def settle(self) -> None:
        move = self._journal.move
        if move is not None and move.after is not None:
            if self._commit_of(move.ref) != move.after:
                message = f"plan apply {self._journal.plan_id}"
                old = move.before or _NO_COMMIT
                self._git.run("update-ref", "-m", message, move.ref, move.after, old)
            self._faults.reach(FaultPoint.BRANCH_MOVED)
        if self._journal.index_after is None:
            self._release_lock()
        elif self._is_ours(self._lock):
            os.replace(self._lock, self._index)
            fsync_directory(self._git_dir)

    def undo(self) -> None:
        begun = self._is_anything_done()
        if begun and self._journal.mode is not ApplyMode.BRANCH:
            self._take_lock()
            self._refuse_other_files()
        if self._journal.move is not None:
            self._move_back(self._journal.move)
        self._restore_index()
        if begun:
            self._bring(self._journal.files.reversed())
        self._release_lock()
        shutil.rmtree(self._staging, ignore_errors=True)

    def finish(self) -> None:
        """Lets git know that the files are those of the index, so that it need not read them."""
        if self._journal.index_after is None:
            return
        with (
            closing(MergeRoom(self._any_git, Path(self._target.store), self._room)) as room,
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
    def _staging(self) -> Path:
        """Where files are written before they are renamed: on their own file system."""
        inside = self._git_dir.stat().st_dev == self._journal.root.stat().st_dev
        place = self._git_dir if inside else self._journal.root
        return place / f".cleveragents-apply-{self._journal.plan_id}"

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
        draft = self._git_dir / f"index.cleveragents-{self._journal.plan_id}"
        with self._translated():
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
                draft.unlink()

    def _release_lock(self) -> None:
        if self._is_ours(self._lock):
            self._lock.unlink()

    def _index_mode(self) -> int:
        with suppress(FileNotFoundError):
            return self._index.stat().st_mode & 0o777
        return _INDEX_MODE

    def _refuse_changes(self) -> None:
        move = self._journal.move
        if move is not None and move.ref == "HEAD":
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
        self._refuse_other_files()

    def _refuse_other_files(self) -> None:
        with self._translated():
            others = self._place.others(self._journal.files)
        if others:
            raise self._changed(
                f"{', '.join(others[:10])} changed",
                "Put back or move away what was changed there, then try again",
            )

    def _is_anything_done(self) -> bool:
        """Says whether anything of the plan is in the project."""
        move, index = self._journal.move, self._journal.index_after
        if move is not None and move.after is not None and self._commit_of(move.ref) == move.after:
            return True
        if index is not None and self._index_id() == index != self._journal.index_before:
            return True
        with self._translated():
            return any(
                self._place.entry(item.path) == item.after
                for item in self._journal.files.files
                if item.before != item.after
            ) or any(
                self._place.directory_mode(item.path) != item.before
                for item in self._journal.files.directories
            )

    def _bring_objects(self, commit: str, known: str | None) -> None:
        """Gives the project the objects that the commit needs and it does not have."""
        if not missing_objects(self._git, [commit]):
            return
        wanted = f"{commit}\n" + (f"^{known}\n" if known else "")
        pack = self._mirror.run("pack-objects", "--revs", "--stdout", "-q", stdin=wanted.encode())
        self._git.run("index-pack", "--stdin", stdin=pack)

    def _bring(self, wanted: Placements) -> None:
        with self._translated():
            self._place.bring(
                wanted,
                self._staging,
                self._objects.copy,
                lambda: self._faults.reach(FaultPoint.FILE_PLACED),
            )

    def _commit_of(self, ref: str) -> str | None:
        found = self._git.run("rev-parse", "--verify", "-q", ref, ok=(0, 1, 128))
        return os.fsdecode(found).strip() or None

    def _index_id(self) -> str | None:
        try:
            return object_id(Kind.BLOB, self._index.read_bytes())
        except FileNotFoundError:
            return None

    def _move_back(self, move: BranchMove) -> None:
        if move.after is None:
            return
        if self._commit_of(move.ref) == move.after:
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

    def _changed(self, what: str, hint: str = _AGAIN) -> TargetChangedError:
        return TargetChangedError(str(self._journal.root), what, hint=hint)

    @contextmanager
    def _translated(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise TargetRefusedError(
                str(self._journal.root),
                f"it cannot be read or written: {error}",
                hint="Make room or give permission, then apply again",
            ) from error


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
