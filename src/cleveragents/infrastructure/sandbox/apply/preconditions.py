"""Whether anything can be brought into a repository as it is, found out by looking at it."""

from __future__ import annotations

import os
from pathlib import Path

from cleveragents.domain.errors import (
    ProjectRefusedError,
    TargetRefusedError,
    UsageError,
)
from cleveragents.domain.plans.apply import TargetWork
from cleveragents.domain.sandboxes.sandbox import ProjectFacts
from cleveragents.domain.sandboxes.uncaptured import GIT_OPERATIONS
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.objects import escaped
from cleveragents.infrastructure.sandbox.git.repository import (
    Repository,
    find_repository,
    inspect_repository,
)


def look_at_target(git: Git, work: TargetWork) -> tuple[Repository, ProjectFacts]:
    """Returns the repository that a plan's result goes to.

    Raises:
        TargetRefusedError: nothing can be brought into it, or it cannot hold the result.
    """
    path = Path(work.resource.path)
    try:
        repository = find_repository(path, None)
        facts = inspect_repository(repository, git)
    except ProjectRefusedError as error:
        reason = str(error.details["reason"])
        raise TargetRefusedError(str(path), reason, hint=error.hint) from error
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
    _refuse_names(work)
    return repository, facts


def new_branch(project: Git, root: Path, name: str, checked_out: str | None) -> str:
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


def _refuse_names(work: TargetWork) -> None:
    for change in work.changes:
        if any(escaped(part) != part for part in change.path.split("/")):
            raise TargetRefusedError(
                work.resource.path,
                f"the plan made `{change.path}`, which no commit can hold",
                hint="Have the plan remove it, or apply a checkpoint from before it",
            )
