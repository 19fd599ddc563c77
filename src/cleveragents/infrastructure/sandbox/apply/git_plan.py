"""What is to become of a repository when a plan is applied to it: found out, nothing touched.

What the plan changed is the difference between its first and its last snapshot, as raw bytes.
Made what a commit would hold, it is merged with the project's present commit; the files get
the plan's own bytes wherever the merge came to the same.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path

from cleveragents.domain.errors import (
    MergeConflictError,
    TargetRefusedError,
    UncommittedChangesError,
)
from cleveragents.domain.plans.apply import ApplyMode, ApplyRequest, Target, TargetWork
from cleveragents.domain.sandboxes.sandbox import ProjectFacts
from cleveragents.infrastructure.sandbox.apply.commits import PlanCommits
from cleveragents.infrastructure.sandbox.apply.file_plan import (
    directory_changes,
    files_of,
    in_the_way,
    is_same,
    status_of,
    stored_objects,
    target_of,
)
from cleveragents.infrastructure.sandbox.apply.index import IndexMove, ProjectIndex, look_at_index
from cleveragents.infrastructure.sandbox.apply.journal import ApplyJournal, BranchMove
from cleveragents.infrastructure.sandbox.apply.merge_workspace import MergeWorkspace, Nodes, is_gone
from cleveragents.infrastructure.sandbox.apply.preconditions import look_at_target, new_branch
from cleveragents.infrastructure.sandbox.apply.project_writer import (
    PathUpdate,
    PathUpdates,
    ProjectWriter,
)
from cleveragents.infrastructure.sandbox.files.ignore_rules import GitIgnoreRules
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.layout import git_on_sandbox
from cleveragents.infrastructure.sandbox.git.objects import (
    EMPTY_TREE,
    NewObject,
    ObjectKind,
    StoredPack,
    store_pack,
)
from cleveragents.infrastructure.sandbox.git.repository import Repository
from cleveragents.infrastructure.sandbox.states.diff import line_counts
from cleveragents.infrastructure.sandbox.states.difference import TOP
from cleveragents.infrastructure.sandbox.store.captured_state import (
    EXECUTABLE,
    LINK,
    LINK_MODE,
    TreeEntry,
)
from cleveragents.infrastructure.sandbox.store.mirror import refresh_mirror

_NOT_COMMITTED = (
    "The plan's change rests on work that is not committed: commit that first, "
    "or add `--no-commit`; the project was not changed"
)
_INDEX_STAYS = IndexMove()
_FILE_MODES = {True: stat.S_IFREG | 0o755, False: stat.S_IFREG | 0o644}


def plan_git(git: Git, room: Path, work: TargetWork, request: ApplyRequest) -> Target:
    """Finds out what is to become of a repository, and keeps it in its mirror.

    Args:
        git: Any git.
        room: A directory for working trees of ours.
        work: What the plan did.
        request: What the user asks for.

    Raises:
        TargetRefusedError: nothing can be applied to it as it is.
        UncommittedChangesError: the plan would overwrite what no commit holds.
        MergeConflictError: both have changed the same.
    """
    repository, facts = look_at_target(git, work)
    mirror = Path(work.sandbox.store)
    refresh_mirror(repository, git, mirror.parent, facts.head_commit)
    with closing(MergeWorkspace(git, mirror, room)) as merging:
        return _GitPlan(git, merging, repository, facts, work, request).target()


class _GitPlan:
    """One repository, the plan's changes, and what comes of both."""

    def __init__(
        self,
        git: Git,
        room: MergeWorkspace,
        repository: Repository,
        facts: ProjectFacts,
        work: TargetWork,
        request: ApplyRequest,
    ) -> None:
        self._git = git
        self._project = git.at(repository.git_dir)
        self._room = room
        self._commits = PlanCommits(room, self._project, work)
        self._repository = repository
        self._head = facts.head_commit
        self._branch = facts.branch
        self._work = work
        self._request = request
        self._store = Path(work.sandbox.store)
        self._place = ProjectWriter(repository.root)
        self._changes = {change.path: change for change in work.changes if change.path != TOP}
        self._old, self._new = files_of(self._changes.values())
        self._loose = self._ignored()
        self._tracked = self._new.keys() - self._loose
        self._kept: list[StoredPack] = []

    def target(self) -> Target:
        try:
            if self._request.mode is ApplyMode.BRANCH:
                return self._new_branch(self._request.branch or "")
            return self._merged_files()
        finally:
            for pack in self._kept:
                pack.release()

    def _ignored(self) -> set[str]:
        """Returns files of the plan that no commit is to hold: `git add` would leave them out.

        They get into the project's files all the same.
        """
        made = [path for path, entry in self._new.items() if entry is not None]
        inside = git_on_sandbox(self._git, self._work.sandbox)
        with closing(GitIgnoreRules(inside, self._work.sandbox.path)) as rules:
            rules.learn(made)
            found = {path for path in made if rules.covers(path)}
        if not found:
            return found
        added = {os.fsdecode(name) for name in inside.run("ls-files", "-z").split(b"\0")}
        return found - added - self._room.nodes(self._start).keys()

    @cached_property
    def _start(self) -> str:
        return self._tree_of(self._work.sandbox.base_commit)

    @cached_property
    def _base(self) -> str:
        return self._room.tree_with(self._start, {path: self._old[path] for path in self._tracked})

    @cached_property
    def _theirs(self) -> str:
        return self._room.tree_with(self._base, {path: self._new[path] for path in self._tracked})

    @cached_property
    def _ours(self) -> str:
        return self._tree_of(self._head)

    @cached_property
    def _index(self) -> ProjectIndex:
        return look_at_index(self._room, self._repository)

    @cached_property
    def _in_head(self) -> Nodes:
        return self._room.nodes(self._ours)

    def _tree_of(self, commit: str | None) -> str:
        if commit is None:
            return EMPTY_TREE
        return os.fsdecode(self._room.git.run("rev-parse", f"{commit}^{{tree}}")).strip()

    def _new_branch(self, name: str) -> Target:
        ref = new_branch(self._project, self._repository.root, name, self._head_ref)
        commit = self._commits.of_plan(self._theirs)
        move = BranchMove(ref, self._head_ref, None, commit, (), self._head)
        journal = self._journal(PathUpdates((), ()), move)
        statuses = {path: status_of(self._old[path], self._new[path]) for path in self._tracked}
        counts = line_counts(self._room.git, self._base, self._theirs)
        return target_of(self._git, self._work, journal, (), statuses, counts, name)

    def _merged_files(self) -> Target:
        edited = self._edited()
        present = self._with_uncommitted(edited) if edited else self._ours
        placed = self._merge(present)
        commits = self._request.mode is ApplyMode.COMMIT
        merged = self._ours
        if commits:
            merged = self._merge(self._ours, _NOT_COMMITTED) if edited else placed
        commits = merged != self._ours
        placements, new = self._placements(present, placed, edited)
        index = _INDEX_STAYS
        if commits:
            index = self._index.with_nodes(self._staged(merged, edited, placed))
        commit = self._commits.merged(merged, self._theirs, self._head) if commits else None
        move = BranchMove("HEAD", self._head_ref, self._head, commit, self._reflogs(), self._head)
        journal = self._journal(placements, move, index)
        contents = (index.before, index.after)
        new += [
            NewObject.of(ObjectKind.BLOB, content) for content in contents if content is not None
        ]
        statuses = {item.path: status_of(item.before, item.after) for item in placements.files}
        counts = line_counts(self._room.git, present, placed)
        branch = self._branch if commits else None
        return target_of(self._git, self._work, journal, new, statuses, counts, branch)

    def _edited(self) -> list[str]:
        """Returns the files of the plan that hold uncommitted work which is to be merged."""
        if not self._request.include_uncommitted:
            return []
        return [path for path in sorted(self._tracked) if self._is_uncommitted(path)]

    def _merge(self, ours: str, hint: str | None = None) -> str:
        merged = self._room.merge(self._base, ours, self._theirs)
        if merged.conflicts:
            by_hand = (
                f"Run `agents plan apply {self._work.plan_id} --branch NAME` and merge that "
                "branch yourself; the project was not changed"
            )
            raise MergeConflictError(
                str(self._repository.root), merged.conflicts, hint=hint or by_hand
            )
        return merged.tree

    def _is_uncommitted(self, path: str) -> bool:
        """Says whether there is something at a path that the project's commit does not have."""
        if self._index.node(path) != self._in_head.get(path):
            return True
        if path in self._in_head:
            return path in self._index.changed
        return self._place.entry(path) is not None

    def _with_uncommitted(self, paths: Iterable[str]) -> str:
        """Returns the project's tree with the files as they are; refuses what is in two states."""
        found = {path: self._place.entry(path) for path in paths}
        bytes_found = stored_objects(self._repository.root, found)
        self._kept.append(store_pack(self._store / "objects", bytes_found))
        tree = self._room.tree_with(self._ours, found)
        nodes = self._room.nodes(tree)
        twice = [
            path
            for path in found
            if self._index.node(path) not in (self._in_head.get(path), nodes.get(path))
        ]
        if twice:
            raise TargetRefusedError(
                str(self._repository.root),
                f"what is staged is not what is there: {', '.join(sorted(twice))}",
                hint="Stage or unstage these files whole, or commit them",
            )
        return tree

    def _staged(self, merged: str, edited: Iterable[str], placed: str) -> Nodes:
        """Returns what the index gets: what is committed, and what was staged stays so."""
        nodes = self._room.differing(self._ours, merged)
        with_edits = self._room.differing(self._ours, placed)
        for path in edited:
            if self._index.node(path) != self._in_head.get(path) and path in with_edits:
                nodes[path] = with_edits[path]
        return nodes

    def _placements(
        self, present: str, placed: str, edited: Sequence[str]
    ) -> tuple[PathUpdates, list[NewObject]]:
        """Returns what becomes of each file, and the bytes that the mirror may lack."""
        theirs = self._room.nodes(self._theirs)
        differing = self._room.differing(present, placed)
        loose, lost = self._loose_files()
        lost += [path for path in differing if path not in edited and self._is_uncommitted(path)]
        if lost:
            raise UncommittedChangesError(str(self._repository.root), sorted(lost))
        found = {path: self._place.entry(path) for path in differing}
        own = {path for path, node in differing.items() if theirs.get(path) == node} & {*self._new}
        merged = [path for path in differing if path not in own and not is_gone(differing[path])]
        contents = self._room.checked_out(placed, merged) if merged else {}
        new = {path: NewObject.of(ObjectKind.BLOB, content) for path, content in contents.items()}
        files: list[PathUpdate] = []
        for path, (git_mode, _) in differing.items():
            after = None
            if not is_gone(differing[path]):
                raw = self._new.get(path) if path in own else None
                content = new[path].id if raw is None else raw.object_id
                after = TreeEntry(content, self._mode(path, git_mode, found[path]))
            files.append(PathUpdate(path, found[path], after))
        files += [*self._only_raw({*differing}), *loose]
        files.sort(key=lambda item: item.path)
        placements = PathUpdates(files, directory_changes(self._place, self._changes, files))
        blocked = in_the_way(self._place, placements)
        if blocked:
            raise UncommittedChangesError(str(self._repository.root), blocked)
        before = {item.path: item.before for item in files}
        return placements, [*new.values(), *stored_objects(self._repository.root, before)]

    def _loose_files(self) -> tuple[list[PathUpdate], list[str]]:
        """Returns what becomes of files that no commit is to hold, and those that are not free."""
        found: list[PathUpdate] = []
        lost: list[str] = []
        for path in self._loose:
            old, new, present = self._old[path], self._new[path], self._place.entry(path)
            if new is None or not (is_same(present, old) or is_same(present, new)):
                lost.append(path)
                continue
            mode = new.mode if new.is_link else self._mode(path, None, present)
            after = TreeEntry(new.object_id, mode)
            if after != present:
                found.append(PathUpdate(path, present, after))
        return found, lost

    def _only_raw(self, others: set[str]) -> list[PathUpdate]:
        """Returns files whose change no commit would show: line ends, permission bits."""
        shown = self._room.differing(self._base, self._theirs)
        found: list[PathUpdate] = []
        for path in self._tracked - shown.keys() - others:
            old, new, present = self._old[path], self._new[path], self._place.entry(path)
            if old is None or new is None or present is None or present.is_link:
                continue
            content = new if present.object_id == old.object_id else present
            after = TreeEntry(content.object_id, self._mode(path, None, present))
            if after != present:
                found.append(PathUpdate(path, present, after))
        return found

    def _mode(self, path: str, git_mode: str | None, present: TreeEntry | None) -> int:
        """Returns type and permission bits: the plan's where it set them, or else as they are."""
        if git_mode == LINK:
            return LINK_MODE
        old, new = self._old.get(path), self._new.get(path)
        set_by_plan = new is not None and not new.is_link and (old is None or old.mode != new.mode)
        if new is not None and set_by_plan:
            mode = new.mode
        elif present is not None and not present.is_link:
            mode = present.mode
        else:
            return _FILE_MODES[git_mode == EXECUTABLE]
        if git_mode is None or bool(mode & 0o100) == (git_mode == EXECUTABLE):
            return mode
        return mode | 0o111 if git_mode == EXECUTABLE else mode & ~0o111

    @property
    def _head_ref(self) -> str | None:
        return None if self._branch is None else f"refs/heads/{self._branch}"

    def _reflogs(self) -> tuple[tuple[str, int | None], ...]:
        places = [self._repository.git_dir / "logs" / "HEAD"]
        if self._head_ref is not None:
            places.append(self._repository.common_dir / "logs" / self._head_ref)
        return tuple((str(place), _size(place)) for place in places)

    def _journal(
        self,
        placements: PathUpdates,
        move: BranchMove,
        index: IndexMove = _INDEX_STAYS,
    ) -> ApplyJournal:
        before, after = (
            None if content is None else NewObject.of(ObjectKind.BLOB, content).id
            for content in (index.before, index.after)
        )
        return ApplyJournal(
            plan_id=self._work.plan_id,
            root=self._repository.root,
            git_dir=self._repository.git_dir,
            mode=self._request.mode,
            files=placements,
            move=move,
            index_before=before,
            index_after=after,
            index_time=index.time,
            identity=tuple(sorted(self._commits.identity.items())),
        )


def _size(path: Path) -> int | None:
    return path.stat().st_size if path.is_file() else None
