"""Applying: how a plan's result gets into the project, and what is needed to do it whole."""

from __future__ import annotations

from enum import StrEnum

from cleveragents.domain.plans.validation import ValidationResult
from cleveragents.domain.record import Record
from cleveragents.domain.sandboxes.change import PathChange
from cleveragents.domain.sandboxes.resource import ResourceType
from cleveragents.domain.sandboxes.sandbox import DiffFile, Resource, SandboxRef


class ApplyMode(StrEnum):
    """What moves in a repository."""

    COMMIT = "commit"
    """Its branch and its files: the result is merged into the branch."""
    NO_COMMIT = "no-commit"
    """Its files only: the result is left uncommitted."""
    BRANCH = "branch"
    """Nothing that is there: a new branch gets the result."""


class ApplyRequest(Record):
    """What the user asks for."""

    mode: ApplyMode = ApplyMode.COMMIT
    branch: str | None = None
    """The branch to make, for `ApplyMode.BRANCH`."""
    include_uncommitted: bool = False
    """Merge with uncommitted changes in the files that the plan changed."""


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
    """What is to become of one resource, and how far to undo it: entered in the journal."""

    resource_id: str
    resource: str
    type: ResourceType
    path: str
    store: str
    """Where `document` is kept."""
    document: str
    """Names what was found and what is to be there, in the store; empty if nothing changes."""
    files: tuple[DiffFile, ...]
    """What differs afterwards."""
    commit: str | None = None
    """The commit that is made, in a repository."""
    branch: str | None = None
    """The branch that moves or is made; None where `HEAD` is detached, or nothing is committed."""

    @property
    def is_nothing(self) -> bool:
        return not self.document


class ApplyRecord(Record):
    """What an apply is about, as the journal keeps it."""

    mode: ApplyMode
    include_uncommitted: bool
    targets: tuple[Target, ...]
    remove_sandboxes: bool
    """Whether the plan's sandboxes go when it is applied."""


class ApplyPreview(Record):
    """What an apply would do; the project was only looked at."""

    plan_id: str
    mode: ApplyMode
    targets: tuple[Target, ...]
    validations: tuple[str, ...]
    """The names of what would be run first."""


class ApplyResult(Record):
    """What an apply did."""

    plan_id: str
    operation_id: str
    mode: ApplyMode
    targets: tuple[Target, ...]
    validations: tuple[ValidationResult, ...]
    sandboxes_removed: bool
    problems: tuple[str, ...]
    """What was left undone after the result was in the project, in sentences."""
