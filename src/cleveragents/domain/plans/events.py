"""What happens to plans, as records that are stored with the change they describe.

Type names and facts are a stable contract: they are added, never renamed or
removed. `docs/reference/events.md` is generated from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar

from pydantic import JsonValue, TypeAdapter, ValidationError


@dataclass(frozen=True)
class PlanEventRecord:
    """Something that happened to a plan. The fields that a subclass adds are its facts."""

    type: ClassVar[str]
    plan_id: str

    def facts(self) -> dict[str, JsonValue]:
        """Returns all fields except the plan, as JSON has them: tuples become lists."""
        fields: dict[str, Any] = vars(self)
        return {
            name: list(value) if isinstance(value, tuple) else value  # pyright: ignore[reportUnknownArgumentType] # the only tuples are of texts
            for name, value in fields.items()
            if name != "plan_id"
        }


@dataclass(frozen=True)
class PlanCreated(PlanEventRecord):
    """A plan was made from a plan file."""

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
    """The plan was given up."""

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
    """Those that were made, one for each repository that got something."""


@dataclass(frozen=True)
class ValidationStarted(PlanEventRecord):
    """A validation is about to run."""

    type = "validation.started"
    name: str
    mode: str


@dataclass(frozen=True)
class ValidationPassed(PlanEventRecord):
    """A validation found nothing wrong."""

    type = "validation.passed"
    validation_id: str
    name: str
    mode: str
    duration_ms: int


@dataclass(frozen=True)
class ValidationFailed(PlanEventRecord):
    """A validation found something wrong, or could not be run."""

    type = "validation.failed"
    validation_id: str
    name: str
    mode: str
    duration_ms: int
    message: str


@dataclass(frozen=True)
class DecisionCreated(PlanEventRecord):
    """Something was decided."""

    type = "decision.created"
    decision_id: str
    decision_type: str
    question: str
    chosen: str
    step_index: int | None


@dataclass(frozen=True)
class DecisionSuperseded(PlanEventRecord):
    """A decision no longer stands."""

    type = "decision.superseded"
    decision_id: str
    question: str
    superseded_by: str


@dataclass(frozen=True)
class DecisionReinstated(PlanEventRecord):
    """A decision that did not stand stands again."""

    type = "decision.reinstated"
    decision_id: str
    question: str


@dataclass(frozen=True)
class DecisionCorrected(PlanEventRecord):
    """The user had a decision made anew, or added to."""

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
    """A tool did its work."""

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
    """A step whose tool failed is about to be tried again."""

    type = "tool.retried"
    step_index: int
    tool: str
    retry: int
    """From 1."""
    max_retries: int


@dataclass(frozen=True)
class SandboxCreated(PlanEventRecord):
    """The private copy of a resource was made."""

    type = "sandbox.created"
    sandbox_id: str
    resource: str
    strategy: str
    path: str
    branch: str | None


@dataclass(frozen=True)
class SandboxRolledBack(PlanEventRecord):
    """An operation took a sandbox back."""

    type = "sandbox.rolled_back"
    sandbox_id: str
    resource: str
    checkpoint_id: str
    operation_id: str


@dataclass(frozen=True)
class SandboxCommitted(PlanEventRecord):
    """What a sandbox holds is in the project."""

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
    """Those that have a checkpoint in the group: they changed, or it is the first."""


@dataclass(frozen=True)
class CheckpointRestored(PlanEventRecord):
    """Plan and sandboxes are again as the checkpoint has them."""

    type = "checkpoint.restored"
    checkpoint_id: str
    label: str
    operation_id: str | None
    """None when a run did it by itself: after a failure, or before going on."""
    operation: str | None
    """The kind of the operation: `rollback`, `correction`, `undo` or `redo`."""


@dataclass(frozen=True)
class CheckpointPruned(PlanEventRecord):
    """A checkpoint was dropped, because the limit said so."""

    type = "checkpoint.pruned"
    checkpoint_id: str
    group_id: str
    label: str


@dataclass(frozen=True)
class CheckpointDeleted(PlanEventRecord):
    """A checkpoint was deleted, because the user said so."""

    type = "checkpoint.deleted"
    checkpoint_id: str
    group_id: str
    label: str


@dataclass(frozen=True)
class CheckpointPinned(PlanEventRecord):
    """A checkpoint is kept from now on, whatever the limit says."""

    type = "checkpoint.pinned"
    checkpoint_id: str
    group_id: str
    label: str


@dataclass(frozen=True)
class CheckpointUnpinned(PlanEventRecord):
    """A checkpoint is no longer kept whatever the limit says."""

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
    """Grows; of two events of a plan the later has the higher number."""
    plan_id: str
    type: str
    created_at: datetime
    """When it was stored."""
    data: Mapping[str, JsonValue]
    """Its facts."""

    @property
    def record(self) -> PlanEventRecord | None:
        """The record, or None where what is stored is not what this program would store."""
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
