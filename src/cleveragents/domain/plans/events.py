"""Events of plans: records that are stored together with the change they describe.

Type names and facts are a stable contract: they are added, never renamed or
removed. `docs/reference/events.md` is generated from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from types import MappingProxyType
from typing import ClassVar

from pydantic import JsonValue, TypeAdapter, ValidationError

_OPERATIONS = {
    "rollback": "Rolled back",
    "correction": "Reverted for a correction",
    "undo": "Undone, back",
    "redo": "Redone, back",
}


@dataclass(frozen=True)
class PlanEventRecord:
    """Something that happened to a plan. The fields that a subclass adds are its facts."""

    type: ClassVar[str]
    plan_id: str


@dataclass(frozen=True)
class PlanCreated(PlanEventRecord):
    """A plan was created from a plan file."""

    type = "plan.created"
    name: str
    project: str
    phase: str
    state: str


@dataclass(frozen=True)
class PlanPhaseChanged(PlanEventRecord):
    """The plan entered another phase."""

    type = "plan.phase_changed"
    before: str
    after: str


@dataclass(frozen=True)
class PlanStateChanged(PlanEventRecord):
    """The plan's state changed, within its phase or with it."""

    type = "plan.state_changed"
    phase: str
    before: str
    after: str


@dataclass(frozen=True)
class PlanErrored(PlanEventRecord):
    """The plan failed."""

    type = "plan.errored"
    message: str
    tool: str | None
    step: str
    step_index: int
    checkpoint_id: str | None


@dataclass(frozen=True)
class PlanCancelled(PlanEventRecord):
    """The plan was cancelled."""

    type = "plan.cancelled"
    reason: str


@dataclass(frozen=True)
class PlanApplied(PlanEventRecord):
    """The plan's result is in the project."""

    type = "plan.applied"
    operation_id: str
    mode: str
    """`commit`, `no-commit` or `branch`."""
    commits: tuple[str, ...]
    """The new commits, one for each repository that changed."""


@dataclass(frozen=True)
class ValidationStarted(PlanEventRecord):
    """A validation is about to run."""

    type = "validation.started"
    name: str
    mode: str


@dataclass(frozen=True)
class ValidationPassed(PlanEventRecord):
    """A validation passed."""

    type = "validation.passed"
    validation_id: str
    name: str
    mode: str
    duration_ms: int


@dataclass(frozen=True)
class ValidationFailed(PlanEventRecord):
    """A validation failed or could not be run."""

    type = "validation.failed"
    validation_id: str
    name: str
    mode: str
    duration_ms: int
    message: str


@dataclass(frozen=True)
class DecisionCreated(PlanEventRecord):
    """A decision was made."""

    type = "decision.created"
    decision_id: str
    decision_type: str
    question: str
    chosen: str
    step_index: int | None


@dataclass(frozen=True)
class DecisionSuperseded(PlanEventRecord):
    """A decision is no longer in effect."""

    type = "decision.superseded"
    decision_id: str
    question: str
    superseded_by: str


@dataclass(frozen=True)
class DecisionReinstated(PlanEventRecord):
    """A superseded decision is in effect again."""

    type = "decision.reinstated"
    decision_id: str
    question: str


@dataclass(frozen=True)
class DecisionCorrected(PlanEventRecord):
    """The user corrected a decision."""

    type = "decision.corrected"
    decision_id: str
    correction_id: str
    mode: str
    guidance: str
    choose: str | None


@dataclass(frozen=True)
class ToolInvoked(PlanEventRecord):
    """A tool is about to run."""

    type = "tool.invoked"
    tool_call_id: str
    step_index: int
    tool: str
    resource: str


@dataclass(frozen=True)
class ToolCompleted(PlanEventRecord):
    """A tool finished successfully."""

    type = "tool.completed"
    tool_call_id: str
    step_index: int
    tool: str
    resource: str
    duration_ms: int | None


@dataclass(frozen=True)
class ToolErrored(PlanEventRecord):
    """A tool failed."""

    type = "tool.errored"
    tool_call_id: str
    step_index: int
    tool: str
    resource: str
    duration_ms: int | None
    message: str


@dataclass(frozen=True)
class ToolRetried(PlanEventRecord):
    """A step whose tool failed is about to be retried."""

    type = "tool.retried"
    step_index: int
    tool: str
    retry: int
    """From 1."""
    max_retries: int


@dataclass(frozen=True)
class SandboxCreated(PlanEventRecord):
    """A sandbox, the private copy of a resource, was created."""

    type = "sandbox.created"
    sandbox_id: str
    resource: str
    strategy: str
    path: str
    branch: str | None


@dataclass(frozen=True)
class SandboxRolledBack(PlanEventRecord):
    """An operation rolled back a sandbox."""

    type = "sandbox.rolled_back"
    sandbox_id: str
    resource: str
    checkpoint_id: str
    operation_id: str


@dataclass(frozen=True)
class SandboxCommitted(PlanEventRecord):
    """The content of a sandbox is in the project."""

    type = "sandbox.committed"
    sandbox_id: str
    resource: str
    operation_id: str


@dataclass(frozen=True)
class CheckpointCreated(PlanEventRecord):
    """A checkpoint of every resource is durable."""

    type = "checkpoint.created"
    checkpoint_id: str
    """The first of the group."""
    group_id: str
    label: str
    checkpoint_type: str
    trigger: str
    step_index: int
    resources: tuple[str, ...]
    """The resources that changed, or all of them in the first group."""


@dataclass(frozen=True)
class CheckpointRestored(PlanEventRecord):
    """Plan and sandboxes were restored to the checkpoint."""

    type = "checkpoint.restored"
    checkpoint_id: str
    label: str
    operation_id: str | None
    """None when a run did it itself, after a failure or before it resumed."""
    operation: str | None
    """The kind of the operation: `rollback`, `correction`, `undo` or `redo`."""


@dataclass(frozen=True)
class CheckpointPruned(PlanEventRecord):
    """A checkpoint was removed because the plan had more than its limit."""

    type = "checkpoint.pruned"
    checkpoint_id: str
    group_id: str
    label: str


@dataclass(frozen=True)
class CheckpointDeleted(PlanEventRecord):
    """The user deleted a checkpoint."""

    type = "checkpoint.deleted"
    checkpoint_id: str
    group_id: str
    label: str


@dataclass(frozen=True)
class CheckpointPinned(PlanEventRecord):
    """A checkpoint was pinned: the limit no longer removes it."""

    type = "checkpoint.pinned"
    checkpoint_id: str
    group_id: str
    label: str


@dataclass(frozen=True)
class CheckpointUnpinned(PlanEventRecord):
    """A checkpoint was unpinned: the limit may remove it."""

    type = "checkpoint.unpinned"
    checkpoint_id: str
    group_id: str
    label: str


EVENT_TYPES: Mapping[str, type[PlanEventRecord]] = MappingProxyType(
    {kind.type: kind for kind in PlanEventRecord.__subclasses__()}
)
"""Every class of event record, by its type name."""


@dataclass(frozen=True)
class StoredEvent:
    """A stored event, as the database holds it and as it is streamed once it is stored."""

    sequence: int
    """Of two events of a plan, the later one has the higher number."""
    plan_id: str
    type: str
    created_at: datetime
    """When it was stored."""
    data: Mapping[str, JsonValue]
    """Its facts."""

    @property
    def record(self) -> PlanEventRecord | None:
        """The record; None if this version does not know the event or its fields."""
        kind = EVENT_TYPES.get(self.type)
        if kind is None:
            return None
        try:
            return _reader(kind).validate_python({**self.data, "plan_id": self.plan_id})
        except ValidationError:
            return None


@cache
def _reader(kind: type[PlanEventRecord]) -> TypeAdapter[PlanEventRecord]:
    return TypeAdapter(kind)
