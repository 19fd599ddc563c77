"""Changes: how one path differs between two states.

Only what snapshots capture counts: bytes, links, permission bits and directories. `HEAD`, branch
and index are part of a snapshot, but they are not paths.
"""

from __future__ import annotations

import stat
from enum import StrEnum

from cleveragents.domain.record import Record


class ChangeOperation(StrEnum):
    """How a path changed. If several apply, the first in this order is used."""

    CREATED = "created"
    """The path did not exist before."""
    DELETED = "deleted"
    """The path no longer exists."""
    TYPE_CHANGED = "type_changed"
    """A file, link or directory became one of the others."""
    MODIFIED = "modified"
    """The bytes or the link target differ; the permission bits may differ too."""
    MODE_CHANGED = "mode_changed"
    """Only the permission bits differ."""


class PathState(Record):
    """What is at a path."""

    mode: int
    """Type and all permission bits, as `lstat` gives them."""
    hash: str | None
    """The git blob id of a file's bytes or a link's target, the state hash of a database; None
    for a directory."""


class PathChange(Record):
    """How one path differs between two snapshots."""

    path: str
    """Relative to the sandbox, which itself is `.`; for a database, its file name."""
    operation: ChangeOperation
    before_hash: str | None
    """As `PathState.hash`; None also if the path did not exist."""
    after_hash: str | None
    before_mode: int | None
    """As `PathState.mode`; None if the path did not exist."""
    after_mode: int | None

    @property
    def before(self) -> PathState | None:
        return _state(self.before_mode, self.before_hash)

    @property
    def after(self) -> PathState | None:
        return _state(self.after_mode, self.after_hash)


class AuthoredChange(PathChange):
    """A change, and the tool call that made it."""

    resource: str
    """The name of the resource."""
    plan_id: str
    call_id: str
    call_sequence: int
    step_index: int
    tool: str
    undone_by: str | None
    """The operation that undid the call's effects."""


class ChangeCounts(Record):
    """How much tool calls changed."""

    changes: int
    """A path counts once for each call that changed it; directories count too."""
    files: int
    """Changed files, links and databases, each counted once."""


def change_of(path: str, before: PathState | None, after: PathState | None) -> PathChange | None:
    """Returns how a path changed, or None if it did not."""
    if before == after:
        return None
    if before is None:
        operation = ChangeOperation.CREATED
    elif after is None:
        operation = ChangeOperation.DELETED
    elif stat.S_IFMT(before.mode) != stat.S_IFMT(after.mode):
        operation = ChangeOperation.TYPE_CHANGED
    elif before.hash != after.hash:
        operation = ChangeOperation.MODIFIED
    else:
        operation = ChangeOperation.MODE_CHANGED
    return PathChange(
        path=path,
        operation=operation,
        before_hash=None if before is None else before.hash,
        after_hash=None if after is None else after.hash,
        before_mode=None if before is None else before.mode,
        after_mode=None if after is None else after.mode,
    )


def _state(mode: int | None, content: str | None) -> PathState | None:
    return None if mode is None else PathState(mode=mode, hash=content)
