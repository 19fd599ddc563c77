"""Events of plans: records that are stored together with the change they describe.

Type names and facts are a stable contract: they are added, never renamed or
removed. `docs/reference/events.md` is generated from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import ClassVar

import msgspec

from cleveragents.domain.record import JsonValue

_OPERATIONS = {
    "rollback": "Rolled back",
    "correction": "Reverted for a correction",
    "undo": "Undone, back",
    "redo": "Redone, back",
}


class PlanEventRecord(msgspec.Struct, frozen=True):
    """Something that happened to a plan. The fields that a subclass adds are its facts."""

    type: ClassVar[str]
    plan_id: str


class PlanCreated(PlanEventRecord, frozen=True):
    """A plan was created from a plan file."""

    type = "plan.created"
    name: str
    project: str
    phase: str
    state: str


class PlanPhaseChanged(PlanEventRecord, frozen=True):
    """The plan entered another phase."""

    type = "plan.phase_changed"
    before: str
    after: str


class PlanStateChanged(PlanEventRecord, frozen=True):
    """The plan's state changed, within its phase or with it."""

    type = "plan.state_changed"
    phase: str
    before: str
    after: str


class PlanErrored(PlanEventRecord, frozen=True):
    """The plan failed."""

    type = "plan.errored"
    message: str
    tool: str | None
    step: str
    step_index: int
    checkpoint_id: str | None


class PlanCancelled(PlanEventRecord, frozen=True):
    """The plan was cancelled."""

    type = "plan.cancelled"
    reason: str


class PlanApplied(PlanEventRecord, frozen=True):
    """The plan's result is in the project."""

    type = "plan.applied"
    operation_id: str
    mode: str
    """`commit`, `no-commit` or `branch`."""
    commits: tuple[str, ...]
    """The new commits, one for each repository that changed."""


class PlanUnapplied(PlanEventRecord, frozen=True):
    """The apply was undone: the project is as before it, and the plan is complete again."""

    type = "plan.unapplied"
    operation_id: str
    mode: str
    commits: tuple[str, ...]
    """The commits that the branches no longer have."""


class ValidationStarted(PlanEventRecord, frozen=True):
    """A validation is about to run."""

    type = "validation.started"
    name: str
    mode: str


class ValidationPassed(PlanEventRecord, frozen=True):
    """A validation passed."""

    type = "validation.passed"
    validation_id: str
    name: str
    mode: str
    duration_ms: int


class ValidationFailed(PlanEventRecord, frozen=True):
    """A validation failed or could not be run."""

    type = "validation.failed"
    validation_id: str
    name: str
    mode: str
    duration_ms: int
    message: str


class DecisionCreated(PlanEventRecord, frozen=True):
    """A decision was made."""

    type = "decision.created"
    decision_id: str
    decision_type: str
    question: str
    chosen: str
    step_index: int | None


class DecisionSuperseded(PlanEventRecord, frozen=True):
    """A decision is no longer in effect."""

    type = "decision.superseded"
    decision_id: str
    question: str
    superseded_by: str


class DecisionReinstated(PlanEventRecord, frozen=True):
    """A superseded decision is in effect again."""

    type = "decision.reinstated"
    decision_id: str
    question: str


class DecisionCorrected(PlanEventRecord, frozen=True):
    """The user corrected a decision."""

    type = "decision.corrected"
    decision_id: str
    correction_id: str
    mode: str
    guidance: str
    choose: str | None


class ToolInvoked(PlanEventRecord, frozen=True):
    """A tool is about to run."""

    type = "tool.invoked"
    tool_call_id: str
    step_index: int
    tool: str
    resource: str


class ToolCompleted(PlanEventRecord, frozen=True):
    """A tool finished successfully."""

    type = "tool.completed"
    tool_call_id: str
    step_index: int
    tool: str
    resource: str
    duration_ms: int | None


class ToolErrored(PlanEventRecord, frozen=True):
    """A tool failed."""

    type = "tool.errored"
    tool_call_id: str
    step_index: int
    tool: str
    resource: str
    duration_ms: int | None
    message: str


class ToolRetried(PlanEventRecord, frozen=True):
    """A step whose tool failed is about to be retried."""

    type = "tool.retried"
    step_index: int
    tool: str
    retry: int
    """From 1."""
    max_retries: int


class SandboxCreated(PlanEventRecord, frozen=True):
    """A sandbox, the private copy of a resource, was created."""

    type = "sandbox.created"
    sandbox_id: str
    resource: str
    strategy: str
    path: str
    branch: str | None


class SandboxRolledBack(PlanEventRecord, frozen=True):
    """An operation rolled back a sandbox."""

    type = "sandbox.rolled_back"
    sandbox_id: str
    resource: str
    checkpoint_id: str
    operation_id: str


class SandboxCommitted(PlanEventRecord, frozen=True):
    """The content of a sandbox is in the project."""

    type = "sandbox.committed"
    sandbox_id: str
    resource: str
    operation_id: str


class CheckpointCreated(PlanEventRecord, frozen=True):
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


class CheckpointRestored(PlanEventRecord, frozen=True):
    """Plan and sandboxes were restored to the checkpoint."""

    type = "checkpoint.restored"
    checkpoint_id: str
    label: str
    operation_id: str | None
    """None when a run did it itself, after a failure or before it resumed."""
    operation: str | None
    """The kind of the operation: `rollback`, `correction`, `undo` or `redo`."""


class CheckpointPruned(PlanEventRecord, frozen=True):
    """A checkpoint was removed because the plan had more than its limit."""

    type = "checkpoint.pruned"
    checkpoint_id: str
    group_id: str
    label: str


class CheckpointDeleted(PlanEventRecord, frozen=True):
    """The user deleted a checkpoint."""

    type = "checkpoint.deleted"
    checkpoint_id: str
    group_id: str
    label: str


class CheckpointPinned(PlanEventRecord, frozen=True):
    """A checkpoint was pinned: the limit no longer removes it."""

    type = "checkpoint.pinned"
    checkpoint_id: str
    group_id: str
    label: str


class CheckpointUnpinned(PlanEventRecord, frozen=True):
    """A checkpoint was unpinned: the limit may remove it."""

    type = "checkpoint.unpinned"
    checkpoint_id: str
    group_id: str
    label: str


EVENT_TYPES: Mapping[str, type[PlanEventRecord]] = MappingProxyType(
    {kind.type: kind for kind in PlanEventRecord.__subclasses__()}
)
"""Every class of event record, by its type name."""


class StoredEvent(msgspec.Struct, frozen=True):
    """A stored event, as the database holds it and as it is streamed once it is stored."""

    sequence: int
    """Grows: the later of two events of a plan has the higher number."""
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
            return msgspec.convert({**self.data, "plan_id": self.plan_id}, kind)
        except msgspec.ValidationError:
            return None
