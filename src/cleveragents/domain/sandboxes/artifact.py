"""Artifacts: the combined changes of a plan's tool calls, one for each path."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from cleveragents.domain.record import Record
from cleveragents.domain.sandboxes.change import (
    AuthoredChange,
    ChangeOperation,
    PathChange,
    change_of,
)


class ArtifactType(StrEnum):
    """What is at a path, or was there before it was deleted."""

    FILE = "file"
    """Also a database."""
    SYMLINK = "symlink"
    DIRECTORY = "directory"


class Author(Record):
    """A tool call that changed the artifact."""

    tool: str
    step_index: int
    call_id: str
    plan_id: str


class Artifact(Record):
    """One path that differs from its state before the plan."""

    resource: str
    path: str
    type: ArtifactType
    change: ChangeOperation
    """What all calls did to it together."""
    before_hash: str | None
    after_hash: str | None
    authors: tuple[Author, ...]
    """The latest first."""
    child_plan: str | None
    """The plan of the latest author, if it is a child of the plan in question."""

    @property
    def tool(self) -> str:
        return self.authors[0].tool

    @property
    def step_index(self) -> int:
        return self.authors[0].step_index


class ArtifactSummary(Record):
    """How many artifacts there are."""

    total: int
    writes: int
    """Paths that did not exist before."""
    edits: int
    deletes: int


def net_artifacts(plan_id: str, changes: Iterable[AuthoredChange]) -> list[Artifact]:
    """Returns the net change of each path, sorted by resource and path.

    A path that has its old state again is not included. Neither is a directory that was created
    or deleted together with something in it.

    Args:
        plan_id: The plan in question.
        changes: The changes in effect, of the plan and its child plans, oldest first.
    """
    of_path: dict[tuple[str, str], list[AuthoredChange]] = {}
    for change in changes:
        of_path.setdefault((change.resource, change.path), []).append(change)
    found = [
        _artifact(plan_id, net, of_path[place])
        for place in sorted(of_path)
        if (net := _net(of_path[place])) is not None
    ]
    implied = {item for artifact in found for item in _parents(artifact)}
    return [
        artifact
        for artifact in found
        if artifact.type is not ArtifactType.DIRECTORY
        or (artifact.resource, artifact.path, artifact.change) not in implied
    ]


def summary_of(artifacts: Sequence[Artifact]) -> ArtifactSummary:
    made = [artifact.change for artifact in artifacts]
    writes, deletes = made.count(ChangeOperation.CREATED), made.count(ChangeOperation.DELETED)
    total = len(made)
    return ArtifactSummary(
        total=total, writes=writes, edits=total - writes - deletes, deletes=deletes
    )


def _net(changes: Sequence[AuthoredChange]) -> PathChange | None:
    return change_of(changes[0].path, changes[0].before, changes[-1].after)


def _artifact(plan_id: str, net: PathChange, changes: Sequence[AuthoredChange]) -> Artifact:
    last = changes[-1]
    authors = {
        change.call_id: Author(
            tool=change.tool,
            step_index=change.step_index,
            call_id=change.call_id,
            plan_id=change.plan_id,
        )
        for change in reversed(changes)
    }
    return Artifact(
        resource=last.resource,
        path=net.path,
        type=_type_of(net),
        change=net.operation,
        before_hash=net.before_hash,
        after_hash=net.after_hash,
        authors=tuple(authors.values()),
        child_plan=None if last.plan_id == plan_id else last.plan_id,
    )


def _type_of(change: PathChange) -> ArtifactType:
    mode = (change.before_mode if change.after_mode is None else change.after_mode) or 0
    if stat.S_ISLNK(mode):
        return ArtifactType.SYMLINK
    return ArtifactType.DIRECTORY if stat.S_ISDIR(mode) else ArtifactType.FILE


def _parents(artifact: Artifact) -> Iterator[tuple[str, str, ChangeOperation]]:
    """Yields the directories above, with the same change as the artifact."""
    path = artifact.path
    while path := path.rpartition("/")[0]:
        yield artifact.resource, path, artifact.change
