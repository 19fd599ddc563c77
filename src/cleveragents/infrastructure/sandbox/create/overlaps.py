"""May two resources of one plan lie inside each other?

Each resource has a sandbox of its own, so what two of them hold would exist
twice and go back twice. Only a repository may have others inside it, as long as
its commit tracks nothing of them: then its sandbox does not hold them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from cleveragents.domain.errors import ProjectRefusedError
from cleveragents.domain.sandboxes.resource import ResourceType
from cleveragents.domain.sandboxes.sandbox import Resource
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.repository import find_repository


def refuse_overlaps(resources: Sequence[Resource], git: Git) -> None:
    """Raises ProjectRefusedError for the first two that share something."""
    for one, other in combinations(resources, 2):
        if one.path == other.path or os.path.samefile(one.path, other.path):
            raise ProjectRefusedError(
                other.path,
                f"the resources {one.name} and {other.name} are the same",
                hint="Leave one of them out of the plan's `resources`",
            )
        for inner, outer in ((one, other), (other, one)):
            if Path(inner.path).is_relative_to(outer.path):
                _refuse_unless_separate(inner, outer, git)


def _refuse_unless_separate(inner: Resource, outer: Resource, git: Git) -> None:
    if outer.type is not ResourceType.GIT_CHECKOUT:
        raise ProjectRefusedError(
            inner.path,
            f"the resource {inner.name} lies inside the resource {outer.name}",
            hint="Leave one of them out of the plan's `resources`",
        )
    place = os.path.relpath(inner.path, outer.path)
    if place.split("/")[0] == ".git":
        raise ProjectRefusedError(
            inner.path, f"it belongs to the repository of the resource {outer.name}"
        )
    if _is_tracked(Path(outer.path), place, git):
        raise ProjectRefusedError(
            inner.path,
            f"it is in the commit of the resource {outer.name}, so two sandboxes would hold it",
            hint=f"Leave {inner.name} out of the plan's `resources`, or take it out of git",
        )


def _is_tracked(root: Path, place: str, git: Git) -> bool:
    there = git.at(find_repository(root, None).git_dir)
    if not there.succeeds("rev-parse", "--verify", "-q", "HEAD"):
        return False
    return bool(there.run("ls-tree", "--full-tree", "-z", "HEAD", "--", place))
