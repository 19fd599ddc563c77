"""Applying: how a plan's result gets into the project, and what is needed to do it whole."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from cleveragents.domain.errors import BusinessRuleViolation, CleverAgentsError, ConflictError
from cleveragents.domain.plans.validation import ValidationResult
from cleveragents.domain.record import Record
from cleveragents.domain.sandboxes.change import PathChange
from cleveragents.domain.sandboxes.resource import ResourceType
from cleveragents.domain.sandboxes.sandbox import DiffFile, Resource, SandboxRef
from cleveragents.domain.wording import listed


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


class TargetRefusedError(BusinessRuleViolation):
    """The project is in a state that nothing can be brought into safely."""

    code = "target_refused"

    def __init__(self, path: str, reason: str, *, hint: str | None = None) -> None:
        super().__init__(
            f"Nothing can be applied to {path}: {reason}", hint=hint, path=path, reason=reason
        )


class ChildPlanError(BusinessRuleViolation):
    """What a child plan made gets into the project with its parent."""

    code = "child_plan"

    def __init__(self, plan_id: str, parent_id: str) -> None:
        super().__init__(
            f"Plan {plan_id} is a part of plan {parent_id}, and is applied with it",
            hint=f"Run `agents plan apply {parent_id}`",
            plan_id=plan_id,
            parent_plan_id=parent_id,
        )


class UncommittedChangesError(BusinessRuleViolation):
    """Files that the plan changed have changes in the project that no commit holds."""

    code = "uncommitted_changes"

    def __init__(self, path: str, files: Sequence[str]) -> None:
        super().__init__(
            f"{path} has uncommitted changes in files that the plan changed: "
            f"{listed(files, most=10)}",
            hint="Commit or stash them, or add `--include-uncommitted` to merge with them",
            path=path,
            files=list(files),
        )


class MergeConflictError(CleverAgentsError):
    """The plan and the project changed the same places; nothing was changed."""

    code = "merge_conflict"
    exit_code = 6

    def __init__(self, path: str, files: Sequence[str], *, hint: str) -> None:
        super().__init__(
            f"The plan and {path} have both changed: {listed(files, most=10)}",
            hint=hint,
            path=path,
            files=list(files),
        )


class TargetChangedError(ConflictError):
    """Somebody is at work on the project, or has been since it was looked at."""

    code = "target_changed"

    def __init__(self, path: str, what: str, *, hint: str) -> None:
        super().__init__(f"{path} is not as it was found: {what}", hint=hint, path=path, what=what)


class ValidationFailedError(BusinessRuleViolation):
    """A required validation failed, so the plan was not applied."""

    code = "validation_failed"

    def __init__(self, plan_id: str, results: Sequence[ValidationResult]) -> None:
        failed = [item for item in results if item.blocks]
        super().__init__(
            "The plan was not applied: "
            + "; ".join(item.message or f"`{item.name}` failed" for item in failed),
            hint=f"Mend the cause in the plan and run it again, or go back with "
            f"`agents plan rollback {plan_id}`",
            plan_id=plan_id,
            validations=[item.model_dump(mode="json") for item in results],
        )


class SandboxChangedError(BusinessRuleViolation):
    """The sandbox holds what no checkpoint of the plan holds, so nobody has looked at it."""

    code = "sandbox_changed"

    def __init__(self, plan_id: str, files: Sequence[str]) -> None:
        super().__init__(
            f"The sandbox was changed after the plan had run: {listed(files, most=10)}",
            hint=f"Keep it with `agents plan checkpoint create {plan_id}`, or drop it with "
            f"`agents plan rollback {plan_id} @latest`; then apply",
            plan_id=plan_id,
            files=list(files),
        )
