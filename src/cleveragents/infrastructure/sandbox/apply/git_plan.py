"""Plans the apply to a git repository: its new files, index and commit. Changes nothing there.

There are two kinds of bytes. A snapshot has the *raw bytes* of files as they are on disk. A commit
has what git makes of these: the project's attributes may convert line endings, and of the
permission bits only one is left. The plan's changes are known as raw bytes, merging needs what a
commit would hold, and the project's files need raw bytes again. So:

1. `base` and `theirs`: the tree that the plan started from, with the plan's files before and
   after, converted as a commit would.
2. `ours`: the tree of the project's present commit, or with `--include-uncommitted` that tree
   with the user's edits.
3. Merge these; conflicts end it here.
4. Files: whatever differs between `ours` and the merged tree. A file gets the plan's own raw bytes
   where the merge came to the same as the plan, and else what git would check out.
5. Index and commit follow from the merged tree.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from cleveragents.domain.errors import (
    ProjectRefusedError,
    TargetRefusedError,
    UncommittedChangesError,
    UsageError,
)
from cleveragents.domain.plans.apply import ApplyMode, ApplyRequest, Target, TargetWork
from cleveragents.domain.sandboxes.sandbox import ProjectFacts
from cleveragents.domain.sandboxes.uncaptured import GIT_OPERATIONS
from cleveragents.infrastructure.sandbox.apply.file_plan import (
    directory_changes,
    files_of,
    in_the_way,
    is_same,
    status_of,
    stored_objects,
    target_of,
)
from cleveragents.infrastructure.sandbox.apply.journal import (
    ApplyJournal,
    BranchMove,
    PathUpdate,
    PathUpdates,
)
from cleveragents.infrastructure.sandbox.apply.merge_workspace import (
    GONE,
    IndexMove,
    MergeWorkspace,
)
from cleveragents.infrastructure.sandbox.apply.project_writer import ProjectFiles
from cleveragents.infrastructure.sandbox.files.ignore_rules import GitIgnoreRules
from cleveragents.infrastructure.sandbox.git.command import Git, git_on_sandbox
from cleveragents.infrastructure.sandbox.git.objects import (
    EMPTY_TREE,
    NewObject,
    ObjectKind,
    escaped,
    stored_pack,
)
from cleveragents.infrastructure.sandbox.git.repository import (
    Repository,
    find_repository,
    inspect_repository,
)
from cleveragents.infrastructure.sandbox.states.difference import TOP
from cleveragents.infrastructure.sandbox.states.path_changes import line_counts
from cleveragents.infrastructure.sandbox.store.captured_state import (
    EXECUTABLE,
    LINK,
    LINK_MODE,
    TreeEntry,
)
from cleveragents.infrastructure.sandbox.store.mirror import refresh_mirror

_NOT_COMMITTED = (
    "The plan's change depends on work that is not committed: commit that first, "
    "or add `--no-commit`; the project was not changed"
)
_BY_HAND = (
    "Run `agents plan apply {plan_id} --branch NAME` and merge that branch yourself; "
    "the project was not changed"
)
_FILE_MODES = {True: stat.S_IFREG | 0o755, False: stat.S_IFREG | 0o644}


def plan_git(
    git: Git, workspace: MergeWorkspace, work: TargetWork, request: ApplyRequest
) -> Target:
    """Computes the changes to a repository, and stores them in its mirror.

    Raises:
        TargetRefusedError: nothing can be applied to it as it is.
        UncommittedChangesError: the plan would overwrite what no commit holds.
        MergeConflictError: both have changed the same.
    """
    repository, facts = _look_at_target(git, work)
    mirrors = Path(work.sandbox.store).parent
    refresh_mirror(repository, git, mirrors, facts.head_commit, with_refs=False)
    with ExitStack() as packs:
        plan = _GitPlan(git, workspace, repository, facts, work, request, packs)
        if request.mode is ApplyMode.BRANCH:
            return plan.on_new_branch(request.branch or "")
        return plan.in_working_tree()


class _GitPlan:
    """One repository, the plan's changes, and what comes of both."""

    def __init__(
        self,
        git: Git,
        workspace: MergeWorkspace,
        repository: Repository,
        facts: ProjectFacts,
        work: TargetWork,
        request: ApplyRequest,
        packs: ExitStack,
    ) -> None:
        """Args: `packs` keeps objects from being collected until the journal names them."""
        self._workspace = workspace
        self._repository = repository
        self._project = git.at(repository.git_dir)
        self._project_files = ProjectFiles(repository.root)
        self._work = work
        self._request = request
        self._packs = packs
        known = self._project.settings(of_user=True)
        self._identity: dict[str, str] = {}
        """Git's variables for who commits: the user, or nothing if nothing names one."""
        for role in ("AUTHOR", "COMMITTER"):
            # As git decides it: a variable counts more than a setting.
            named = {
                f"GIT_{role}_{part}": git.environment.get(f"GIT_{role}_{part}", "").strip()
                or known.get(f"user.{part.lower()}", "").strip()
                for part in ("NAME", "EMAIL")
            }
            if all(named.values()):
                self._identity |= named
        self._branch = facts.branch
        self._head = facts.head_commit
        self._head_ref = None if facts.branch is None else f"refs/heads/{facts.branch}"
        self._changes = {change.path: change for change in work.changes if change.path != TOP}
        self._old, self._new = files_of(self._changes.values())
        # The plan may have started from more than a commit: from files that were not committed,
        # or that its commit has with other line endings. So the base is the commit with the files
        # that the plan changed as it found them; then a merge sees the plan's own changes only.
        start = self._tree_of(work.sandbox.base_commit)
        self._untracked = self._ignored(git, start)
        self._tracked = self._new.keys() - self._untracked
        self._base = workspace.tree_with(start, {path: self._old[path] for path in self._tracked})
        self._theirs = workspace.tree_with(
            self._base, {path: self._new[path] for path in self._tracked}
        )

    def on_new_branch(self, name: str) -> Target:
        """The plan's work alone, as a commit on the one it started from; no file changes."""
        ref = _new_branch(self._project, self._repository.root, name, self._head_ref)
        base = self._work.sandbox.base_commit
        parents = [] if base is None else [base]
        commit = self._commit(f"Plan {self._work.plan_name}", self._theirs, parents)
        move = BranchMove(ref, self._head_ref, None, commit, (), self._head)
        journal = self._journal(PathUpdates((), ()), move, IndexMove())
        statuses = {path: status_of(self._old[path], self._new[path]) for path in self._tracked}
        counts = line_counts(self._workspace.git, self._base, self._theirs)
        return target_of(self._workspace.git, self._work, journal, (), statuses, counts, name)

    def in_working_tree(self) -> Target:
        """The merge with the project, in its files and, unless `--no-commit`, as a commit."""
        workspace = self._workspace
        self._ours = self._tree_of(self._head)
        self._in_head = workspace.differing(EMPTY_TREE, self._ours)
        self._index = workspace.index_of(self._repository)

        # With uncommitted edits there are two merges: one for the files, which have the edits,
        # and one for the commit, which must not contain them.
        edited: list[str] = []
        if self._request.include_uncommitted:
            edited = [path for path in sorted(self._tracked) if self._is_uncommitted(path)]
        present = self._with_uncommitted(edited) if edited else self._ours
        root, merged = self._repository.root, self._ours
        by_hand = _BY_HAND.format(plan_id=self._work.plan_id)
        in_files = workspace.merge(self._base, present, self._theirs, root=root, hint=by_hand)
        if self._request.mode is ApplyMode.COMMIT:
            merged = in_files
            if edited:
                merged = workspace.merge(
                    self._base, self._ours, self._theirs, root=root, hint=_NOT_COMMITTED
                )

        updates, new = self._updates(present, in_files, edited)
        index, commit = IndexMove(), None
        if merged != self._ours:
            nodes = workspace.differing(self._ours, merged)
            with_edits = workspace.differing(self._ours, in_files)
            for path in edited:  # What was staged stays staged.
                if self._index.nodes.get(path) != self._in_head.get(path) and path in with_edits:
                    nodes[path] = with_edits[path]
            index = workspace.index_with(self._repository, nodes)
            commit = self._merge_commit(merged)

        logs = [self._repository.git_dir / "logs" / "HEAD"]
        if self._head_ref is not None:
            logs.append(self._repository.common_dir / "logs" / self._head_ref)
        # Undoing removes what was added to these logs, if nothing else was added.
        sizes = tuple((str(log), log.stat().st_size if log.is_file() else None) for log in logs)
        move = BranchMove("HEAD", self._head_ref, self._head, commit, sizes, self._head)
        journal = self._journal(updates, move, index)
        contents = (index.before, index.after)
        new += [NewObject.of(ObjectKind.BLOB, each) for each in contents if each is not None]
        statuses = {item.path: status_of(item.before, item.after) for item in updates.files}
        counts = line_counts(workspace.git, present, in_files)
        branch = None if commit is None else self._branch
        return target_of(workspace.git, self._work, journal, new, statuses, counts, branch)

    def _tree_of(self, commit: str | None) -> str:
        if commit is None:
            return EMPTY_TREE
        return self._workspace.git.run("rev-parse", f"{commit}^{{tree}}").decode().strip()

    def _ignored(self, git: Git, start: str) -> set[str]:
        """Returns files of the plan that no commit will hold: `git add` would leave them out.

        They are written into the project's files all the same.
        """
        made = [path for path, entry in self._new.items() if entry is not None]
        place = self._work.sandbox.path
        outside = self._workspace.git.with_variables(GIT_WORK_TREE=place)
        with closing(GitIgnoreRules(outside, place)) as rules:
            rules.learn(made)
            found = {path for path in made if rules.covers(path)}
        if not found:
            return found
        # Git tracks an ignored file that was added by force, or that a commit has. It cannot
        # say so where the sandbox's own git is damaged.
        inside = git_on_sandbox(git, self._work.sandbox)
        listing = inside.run("ls-files", "-z", ok=(0, 128))
        added = set(map(os.fsdecode, listing.split(b"\0")))
        return found - added - self._workspace.differing(EMPTY_TREE, start).keys()

    def _is_uncommitted(self, path: str) -> bool:
        """Says whether there is something at a path that the project's commit does not have."""
        if self._index.nodes.get(path) != self._in_head.get(path):
            return True
        if path in self._in_head:
            return path in self._index.changed
        return self._project_files.entry(path) is not None

    def _with_uncommitted(self, paths: Iterable[str]) -> str:
        """Returns the project's tree with the user's edits of some files.

        Refuses a file that is staged in one state and has another: only one can be merged.
        """
        found = {path: self._project_files.entry(path) for path in paths}
        objects = stored_objects(self._repository.root, found)
        mirror = Path(self._work.sandbox.store)
        self._packs.enter_context(stored_pack(mirror / "objects", objects))
        tree = self._workspace.tree_with(self._ours, found)
        nodes = self._workspace.differing(EMPTY_TREE, tree)
        twice = [
            path
            for path in found
            if self._index.nodes.get(path) not in (self._in_head.get(path), nodes.get(path))
        ]
        if twice:
            raise TargetRefusedError(
                str(self._repository.root),
                f"the staged content differs from the files: {', '.join(sorted(twice))}",
                hint="Stage or unstage these files whole, or commit them",
            )
        return tree

    def _updates(
        self, present: str, merged: str, edited: Iterable[str]
    ) -> tuple[PathUpdates, list[NewObject]]:
        """Returns the new state of each file, and the bytes that the mirror may lack."""
        differing = self._workspace.differing(present, merged)
        files, lost = self._uncommitted_updates(differing)
        lost += [path for path in differing if path not in edited and self._is_uncommitted(path)]
        if lost:
            raise UncommittedChangesError(str(self._repository.root), sorted(lost))

        # Checking out would change raw bytes that the plan has written, such as line endings,
        # so only what the merge itself has made is checked out.
        theirs = self._workspace.differing(EMPTY_TREE, self._theirs)
        raw = {
            path: self._new[path]
            for path, node in differing.items()
            if path in self._new and theirs.get(path) == node
        }
        made = [path for path, (mode, _) in differing.items() if path not in raw and mode != GONE]
        contents = self._workspace.checked_out(merged, made) if made else {}
        new = {path: NewObject.of(ObjectKind.BLOB, content) for path, content in contents.items()}
        for path, (git_mode, _) in differing.items():
            found = self._project_files.entry(path)
            after = None
            if git_mode != GONE:
                own = raw.get(path)
                content = new[path].id if own is None else own.object_id
                after = TreeEntry(content, self._mode(path, git_mode, found))
            files.append(PathUpdate(path, found, after))
        files.sort(key=lambda item: item.path)

        directories = directory_changes(self._project_files, self._changes, files)
        updates = PathUpdates(files, directories)
        blocked = in_the_way(self._project_files, updates)
        if blocked:
            raise UncommittedChangesError(str(self._repository.root), blocked)
        before = {item.path: item.before for item in files}
        return updates, [*new.values(), *stored_objects(self._repository.root, before)]

    def _uncommitted_updates(self, others: Iterable[str]) -> tuple[list[PathUpdate], list[str]]:
        """Returns updates of files whose change no commit shows, and the paths in the way.

        These are ignored files, and changes of line endings or permission bits alone.
        """
        found: list[PathUpdate] = []
        lost: list[str] = []
        shown = self._workspace.differing(self._base, self._theirs)
        for path in self._untracked | (self._tracked - shown.keys() - {*others}):
            old, new, present = self._old[path], self._new[path], self._project_files.entry(path)
            if path in self._untracked:
                if new is None or not (is_same(present, old) or is_same(present, new)):
                    lost.append(path)
                    continue
                content = new
            elif old is None or new is None or present is None or stat.S_ISLNK(present.mode):
                continue
            else:
                content = new if present.object_id == old.object_id else present
            mode = content.mode if stat.S_ISLNK(content.mode) else self._mode(path, None, present)
            after = TreeEntry(content.object_id, mode)
            if after != present:
                found.append(PathUpdate(path, present, after))
        return found, lost

    def _mode(self, path: str, git_mode: str | None, present: TreeEntry | None) -> int:
        """Returns type and permission bits: the plan's where it set them, or else the user's.

        A commit has one of the bits only, which the merge may have decided: `git_mode`.
        """
        if git_mode == LINK:
            return LINK_MODE
        old, new = self._old.get(path), self._new.get(path)
        if new is not None and not stat.S_ISLNK(new.mode) and (old is None or old.mode != new.mode):
            mode = new.mode
        elif present is not None and not stat.S_ISLNK(present.mode):
            mode = present.mode
        else:
            return _FILE_MODES[git_mode == EXECUTABLE]
        if git_mode is None or bool(mode & 0o100) == (git_mode == EXECUTABLE):
            return mode
        return mode | 0o111 if git_mode == EXECUTABLE else mode & ~0o111

    def _commit(self, subject: str, tree: str, parents: Sequence[str]) -> str:
        body = (self._work.description.strip(), f"Plan: {self._work.plan_id}")
        message = "\n\n".join([subject, *(part for part in body if part)])
        return self._workspace.commit(tree, parents, f"{message}\n", self._identity)

    def _merge_commit(self, tree: str) -> str:
        """Makes the commit that the project gets.

        Where the commit that the plan started from is no longer in the project's history, a
        merge would return it there; so the commit has one parent only.
        """
        name, base, head = self._work.plan_name, self._work.sandbox.base_commit, self._head
        parents = [] if head is None else [head]
        git = self._workspace.git
        if base and head and git.succeeds("merge-base", "--is-ancestor", base, head):
            parents.append(self._commit(f"Plan {name}", self._theirs, [base]))
        return self._commit(f"Apply plan {name}", tree, parents)

    def _journal(self, updates: PathUpdates, move: BranchMove, index: IndexMove) -> ApplyJournal:
        before, after = (
            None if content is None else NewObject.of(ObjectKind.BLOB, content).id
            for content in (index.before, index.after)
        )
        return ApplyJournal(
            plan_id=self._work.plan_id,
            root=self._repository.root,
            git_dir=self._repository.git_dir,
            mode=self._request.mode,
            files=updates,
            move=move,
            index_before=before,
            index_after=after,
            index_time=index.time,
            identity=tuple(sorted(self._identity.items())),
        )


def _look_at_target(git: Git, work: TargetWork) -> tuple[Repository, ProjectFacts]:
    """Returns the repository that a plan's result goes to.

    Raises:
        TargetRefusedError: nothing can be brought into it, or it cannot hold the result.
    """
    path = Path(work.resource.path)
    try:
        repository = find_repository(path, None)
        facts = inspect_repository(repository, git)
    except ProjectRefusedError as error:
        raise TargetRefusedError(str(path), error.reason, hint=error.hint) from error
    if repository.root != path:
        raise TargetRefusedError(
            str(path),
            f"its own repository is missing; it lies inside that of {repository.root}",
            hint="Restore its `.git`",
        )
    if repository.git_dir == repository.common_dir:
        _refuse_other_working_trees(repository, git.at(repository.git_dir))
    for name, operation in GIT_OPERATIONS.items():
        if os.path.lexists(repository.git_dir / name):
            raise TargetRefusedError(str(path), f"it has {operation.text}", hint="End that first")
    for change in work.changes:
        if any(escaped(part) != part for part in change.path.split("/")):
            raise TargetRefusedError(
                str(path),
                f"the plan made `{change.path}`, which no commit can hold",
                hint="Have the plan remove it, or apply a checkpoint from before it",
            )
    return repository, facts


def _new_branch(project: Git, root: Path, name: str, checked_out: str | None) -> str:
    """Returns the ref of a branch that can be made.

    Args:
        project: Git on the project.
        root: The project.
        name: What the user calls the branch.
        checked_out: The ref that `HEAD` names, which may not exist yet.

    Raises:
        UsageError: no branch can have that name.
        TargetRefusedError: there is such a branch, or one that keeps it from being made.
    """
    ref = f"refs/heads/{name}"
    is_name = project.succeeds("check-ref-format", "--branch", name)
    if not (name and is_name and project.succeeds("check-ref-format", ref)):
        raise UsageError(f"`{name}` cannot be the name of a branch")
    said = os.fsdecode(project.run("for-each-ref", "--format=%(refname)", "refs/heads"))
    present = [*said.split(), *([checked_out] if checked_out else [])]
    for other in present:
        if other == ref or other.startswith(f"{ref}/") or ref.startswith(f"{other}/"):
            raise TargetRefusedError(
                str(root),
                f"it has a branch `{other.removeprefix('refs/heads/')}` already",
                hint="Choose another name for `--branch`",
            )
    return ref


def _refuse_other_working_trees(repository: Repository, git: Git) -> None:
    """A linked worktree takes no notice of these settings."""
    root, hint = str(repository.root), "Unset `core.{}` in its configuration"
    if git.run("config", "--type=bool", "--get", "core.bare", ok=(0, 1)) == b"true\n":
        raise TargetRefusedError(
            root, "git treats it as a bare repository", hint=hint.format("bare")
        )
    place = os.fsdecode(git.run("config", "--get", "core.worktree", ok=(0, 1))).removesuffix("\n")
    if place and (repository.git_dir / place).resolve() != repository.root:
        raise TargetRefusedError(
            root, f"git has its files elsewhere: in {place}", hint=hint.format("worktree")
        )
