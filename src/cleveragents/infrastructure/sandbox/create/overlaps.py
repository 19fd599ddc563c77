"""Which resources of one plan share a sandbox?

What two resources both hold must exist once, or it would be rolled back and applied twice. So a
directory that another resource's sandbox holds has no sandbox of its own: it is a place in that
one. Where this cannot be, the plan is refused.

A repository may have other resources inside it that its commit does not track: its sandbox does
not hold them, and they have their own.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from cleveragents.domain.errors import ProjectRefusedError
from cleveragents.domain.sandboxes.resource import ResourceType
from cleveragents.domain.sandboxes.sandbox import Resource, SharedPlace
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.repository import find_repository


def shared_places(resources: Sequence[Resource], git: Git) -> dict[str, SharedPlace]:
    """Returns the resources that are in the sandbox of another one, by name.

    Raises:
        ProjectRefusedError: two resources hold the same, and cannot share a sandbox.
    """
    owners: list[Resource] = []
    shared: dict[str, SharedPlace] = {}
    # The outermost first, and a repository before the directory at its top.
    for resource in sorted(resources, key=_outermost_first):
        places = [found for owner in owners if (found := _place(resource, owner, git))]
        if places:
            shared[resource.name] = places[0]
        else:
            owners.append(resource)
    return shared


def _outermost_first(resource: Resource) -> tuple[int, bool, int]:
    is_repository = resource.type is ResourceType.GIT_CHECKOUT
    return len(Path(resource.path).parts), not is_repository, resource.position


def _place(inner: Resource, outer: Resource, git: Git) -> SharedPlace | None:
    """Returns where a resource is in the sandbox of another; None if it is not in there."""
    if inner.path != outer.path and os.path.samefile(inner.path, outer.path):
        raise ProjectRefusedError(
            inner.path,
            f"the resources {outer.name} and {inner.name} are the same",
            hint="Leave one of them out of the plan's `resources`",
        )
    if not Path(inner.path).is_relative_to(outer.path):
        return None
    place = os.path.relpath(inner.path, outer.path)
    if place == "." and inner.type is outer.type:
        return SharedPlace(sandbox=outer.name, place="")
    if outer.type is not ResourceType.GIT_CHECKOUT:
        return _in_directory(inner, outer, place)
    if place.split("/")[0] == ".git":
        raise ProjectRefusedError(
            inner.path, f"it belongs to the repository of the resource {outer.name}"
        )
    if place != "." and not _is_tracked(Path(outer.path), place, git):
        return None
    if inner.type is not ResourceType.FS_DIRECTORY:
        raise ProjectRefusedError(
            inner.path,
            f"it is in the commit of the resource {outer.name}, so two sandboxes would hold it",
            hint=f"Leave {inner.name} out of the plan's `resources`, or take it out of git",
        )
    return SharedPlace(sandbox=outer.name, place="" if place == "." else place)


def _in_directory(inner: Resource, outer: Resource, place: str) -> SharedPlace:
    if inner.type is not ResourceType.FS_DIRECTORY:
        raise ProjectRefusedError(
            inner.path,
            f"the resource {inner.name} lies inside the resource {outer.name}",
            hint="Leave one of them out of the plan's `resources`",
        )
    return SharedPlace(sandbox=outer.name, place=place)


def _is_tracked(root: Path, place: str, git: Git) -> bool:
    there = git.at(find_repository(root, None).git_dir)
    if not there.succeeds("rev-parse", "--verify", "-q", "HEAD"):
        return False
    return bool(there.run("ls-tree", "--full-tree", "-z", "HEAD", "--", place))
