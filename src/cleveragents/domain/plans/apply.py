"""Applying: how a plan's result gets into the project, completely or not at all."""

from __future__ import annotations

from enum import StrEnum

from msgspec.structs import replace

from cleveragents.domain.plans.validation import ValidationResult
from cleveragents.domain.record import Record
from cleveragents.domain.sandboxes.change import PathChange
from cleveragents.domain.sandboxes.resource import ResourceType
from cleveragents.domain.sandboxes.sandbox import DiffFile, Resource, SandboxRef


class ApplyMode(StrEnum):
    """What an apply changes in a repository."""

    COMMIT = "commit"
    """Branch and files: the result is merged into the branch."""
    NO_COMMIT = "no-commit"
    """Files only: the result is left uncommitted."""
    BRANCH = "branch"
    """Neither: a new branch gets the result."""


class ApplyRequest(Record):
    """What the user asks for."""

    mode: ApplyMode = ApplyMode.COMMIT
    branch: str | None = None
    """The branch to create, for `ApplyMode.BRANCH`."""
    include_uncommitted: bool = False
    """Merge with uncommitted changes in the files that the plan changed."""
    include_ignored: tuple[str, ...] = ()
    """Patterns of files that no checkpoint holds and that are applied too; `all` for every one."""

    def as_if_worked_there(self) -> ApplyRequest:
        """Returns the request for a session: what nobody committed arrives uncommitted."""
        if self.mode is not ApplyMode.COMMIT:
            return replace(self, include_uncommitted=True)
        return replace(self, mode=ApplyMode.NO_COMMIT, include_uncommitted=True)


class LeftOutFile(Record):
    """A file of a sandbox that no checkpoint holds and that an apply leaves out."""

    resource: str
    path: str
    reason: str
    size_bytes: int


class LeftOut(Record):
    """Everything that an apply leaves out."""

    files: tuple[LeftOutFile, ...] = ()
    """The first of them."""
    count: int = 0
    size_bytes: int = 0
    rebuildable: tuple[str, ...] = ()
    """Directories that a tool can make again; these do not count."""


class TargetWork(Record):
    """What a plan did to one resource, from its first snapshot to its last."""

    plan_id: str
    plan_name: str
    description: str
    resource: Resource
    sandbox: SandboxRef
    first: str
    last: str
    changes: tuple[PathChange, ...]


class Target(Record):
    """What an apply does to one resource, as the journal records it before the apply starts."""

    resource_id: str
    resource: str
    type: ResourceType
    path: str
    store: str
    """The mirror that contains `document`."""
    document: str
    """The id of the journal of the resource: states before and after. Empty if nothing changes."""
    files: tuple[DiffFile, ...]
    """The files that the apply changes."""
    commit: str | None = None
    """The new commit, in a repository."""
    branch: str | None = None
    """The branch that moves or is created; None if `HEAD` is detached or nothing is committed."""


class ApplyRecord(Record):
    """What an apply does, as its journal entry stores it."""

    mode: ApplyMode
    include_uncommitted: bool
    targets: tuple[Target, ...]
    remove_sandboxes: bool
    """Whether the plan's sandboxes are removed when it is applied."""
    left_out: LeftOut = LeftOut()


class ApplyPreview(Record):
    """What an apply would do; the project was only read."""

    plan_id: str
    mode: ApplyMode
    targets: tuple[Target, ...]
    validations: tuple[str, ...]
    """The names of the validations that would run first."""
    left_out: LeftOut
    unchecked: tuple[str, ...] = ()
    """The requirements that no validation checks, so that the user has to judge them."""


class ApplyResult(Record):
    """What an apply did."""

    plan_id: str
    operation_id: str
    mode: ApplyMode
    targets: tuple[Target, ...]
    validations: tuple[ValidationResult, ...]
    sandboxes_removed: bool
    problems: tuple[str, ...]
    """Messages about work that failed after the result was in the project."""
    left_out: LeftOut
