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
from typing import Any, ClassVar

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

    def facts(self) -> dict[str, JsonValue]:
        """Returns all fields except the plan, as JSON has them: tuples become lists."""
        fields: dict[str, Any] = vars(self)
        return {
            name: list(value) if isinstance(value, tuple) else value  # pyright: ignore[reportUnknownArgumentType] # the only tuples are of texts
            for name, value in fields.items()
            if name != "plan_id"
        }

    def sentence(self) -> str:
        """Returns what happened, for people."""
        raise NotImplementedError


@dataclass(frozen=True)
class PlanCreated(PlanEventRecord):
    """A plan was created from a plan file."""

    type = "plan.created"
    name: str
    project: str
    phase: str
    state: str

    def sentence(self) -> str:
        return f"Plan `{self.name}` made for {self.project}"


@dataclass(frozen=True)
class PlanPhaseChanged(PlanEventRecord):
    """The plan entered another phase."""

    type = "plan.phase_changed"
    before: str
    after: str

    def sentence(self) -> str:
        return f"Plan moved from {self.before} to {self.after}"


@dataclass(frozen=True)
class PlanStateChanged(PlanEventRecord):
    """The plan's state changed, within its phase or with it."""

    type = "plan.state_changed"
    phase: str
    before: str
    after: str

    def sentence(self) -> str:
        return f"Plan became {self.phase}/{self.after}"


@dataclass(frozen=True)
class PlanErrored(PlanEventRecord):
    """The plan failed."""

    type = "plan.errored"
    message: str
    tool: str | None
    step: str
    step_index: int
    checkpoint_id: str | None

    def sentence(self) -> str:
        return f"Plan failed at step {self.step}: {self.message}"


@dataclass(frozen=True)
class PlanCancelled(PlanEventRecord):
    """The plan was cancelled."""

    type = "plan.cancelled"
    reason: str

    def sentence(self) -> str:
        return f"Plan cancelled: {self.reason}" if self.reason else "Plan cancelled"


@dataclass(frozen=True)
class PlanApplied(PlanEventRecord):
    """The plan's result is in the project."""

    type = "plan.applied"
    operation_id: str
    mode: str
    """`commit`, `no-commit` or `branch`."""
    commits: tuple[str, ...]
    """The new commits, one for each repository that changed."""

    def sentence(self) -> str:
        return "Plan applied" + (f" as {', '.join(self.commits)}" if self.commits else "")


@dataclass(frozen=True)
class ValidationStarted(PlanEventRecord):
    """A validation is about to run."""

    type = "validation.started"
    name: str
    mode: str

    def sentence(self) -> str:
        return f"Validation `{self.name}` started"


@dataclass(frozen=True)
class ValidationPassed(PlanEventRecord):
    """A validation passed."""

    type = "validation.passed"
    validation_id: str
    name: str
    mode: str
    duration_ms: int

    def sentence(self) -> str:
        return f"Validation `{self.name}` passed{_after(self.duration_ms)}"


@dataclass(frozen=True)
class ValidationFailed(PlanEventRecord):
    """A validation failed or could not be run."""

    type = "validation.failed"
    validation_id: str
    name: str
    mode: str
    duration_ms: int
    message: str

    def sentence(self) -> str:
        return f"Validation `{self.name}` failed{_after(self.duration_ms)}: {self.message}"


@dataclass(frozen=True)
class DecisionCreated(PlanEventRecord):
    """A decision was made."""

    type = "decision.created"
    decision_id: str
    decision_type: str
    question: str
    chosen: str
    step_index: int | None

    def sentence(self) -> str:
        return f"Decided on `{self.chosen}`: {self.question}"


@dataclass(frozen=True)
class DecisionSuperseded(PlanEventRecord):
    """A decision is no longer in effect."""

    type = "decision.superseded"
    decision_id: str
    question: str
    superseded_by: str

    def sentence(self) -> str:
        return f"Decision superseded: {self.question}"


@dataclass(frozen=True)
class DecisionReinstated(PlanEventRecord):
    """A superseded decision is in effect again."""

    type = "decision.reinstated"
    decision_id: str
    question: str

    def sentence(self) -> str:
        return f"Decision reinstated: {self.question}"


@dataclass(frozen=True)
class DecisionCorrected(PlanEventRecord):
    """The user corrected a decision."""

    type = "decision.corrected"
    decision_id: str
    correction_id: str
    mode: str
    guidance: str
    choose: str | None

    def sentence(self) -> str:
        return f"Corrected by the user: {self.guidance}"


@dataclass(frozen=True)
class ToolInvoked(PlanEventRecord):
    """A tool is about to run."""

    type = "tool.invoked"
    tool_call_id: str
    step_index: int
    tool: str
    resource: str

    def sentence(self) -> str:
        return f"Step {self.step_index + 1}: {self.tool} started"


@dataclass(frozen=True)
class ToolCompleted(PlanEventRecord):
    """A tool finished successfully."""

    type = "tool.completed"
    tool_call_id: str
    step_index: int
    tool: str
    resource: str
    duration_ms: int | None

    def sentence(self) -> str:
        return f"Step {self.step_index + 1}: {self.tool} done{_after(self.duration_ms)}"


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

    def sentence(self) -> str:
        after = _after(self.duration_ms)
        return f"Step {self.step_index + 1}: {self.tool} failed{after}: {self.message}"


@dataclass(frozen=True)
class ToolRetried(PlanEventRecord):
    """A step whose tool failed is about to be retried."""

    type = "tool.retried"
    step_index: int
    tool: str
    retry: int
    """From 1."""
    max_retries: int

    def sentence(self) -> str:
        count = f"{self.retry} of {self.max_retries}"
        return f"Step {self.step_index + 1}: {self.tool} is retried ({count})"


@dataclass(frozen=True)
class SandboxCreated(PlanEventRecord):
    """A sandbox, the private copy of a resource, was created."""

    type = "sandbox.created"
    sandbox_id: str
    resource: str
    strategy: str
    path: str
    branch: str | None

    def sentence(self) -> str:
        return f"Sandbox of `{self.resource}` made by {self.strategy}"


@dataclass(frozen=True)
class SandboxRolledBack(PlanEventRecord):
    """An operation rolled back a sandbox."""

    type = "sandbox.rolled_back"
    sandbox_id: str
    resource: str
    checkpoint_id: str
    operation_id: str

    def sentence(self) -> str:
        return f"Sandbox of `{self.resource}` rolled back"


@dataclass(frozen=True)
class SandboxCommitted(PlanEventRecord):
    """The content of a sandbox is in the project."""

    type = "sandbox.committed"
    sandbox_id: str
    resource: str
    operation_id: str

    def sentence(self) -> str:
        return f"Sandbox of `{self.resource}` applied to the project"


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

    def sentence(self) -> str:
        return f"Checkpoint `{self.label}` made"


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

    def sentence(self) -> str:
        if self.operation is None:
            return f"Sandbox rolled back to `{self.label}`"
        return f"{_OPERATIONS.get(self.operation, 'Restored')} to `{self.label}`"


@dataclass(frozen=True)
class CheckpointPruned(PlanEventRecord):
    """A checkpoint was removed because the plan had more than its limit."""

    type = "checkpoint.pruned"
    checkpoint_id: str
    group_id: str
    label: str

    def sentence(self) -> str:
        return f"Checkpoint `{self.label}` dropped"


@dataclass(frozen=True)
class CheckpointDeleted(PlanEventRecord):
    """The user deleted a checkpoint."""

    type = "checkpoint.deleted"
    checkpoint_id: str
    group_id: str
    label: str

    def sentence(self) -> str:
        return f"Checkpoint `{self.label}` deleted"


@dataclass(frozen=True)
class CheckpointPinned(PlanEventRecord):
    """A checkpoint was pinned: the limit no longer removes it."""

    type = "checkpoint.pinned"
    checkpoint_id: str
    group_id: str
    label: str

    def sentence(self) -> str:
        return f"Checkpoint `{self.label}` pinned"


@dataclass(frozen=True)
class CheckpointUnpinned(PlanEventRecord):
    """A checkpoint was unpinned: the limit may remove it."""

    type = "checkpoint.unpinned"
    checkpoint_id: str
    group_id: str
    label: str

    def sentence(self) -> str:
        return f"Checkpoint `{self.label}` unpinned"


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


def _after(milliseconds: int | None) -> str:
    if milliseconds is None:
        return ""
    short = milliseconds < 1000
    return f" after {milliseconds} ms" if short else f" after {milliseconds / 1000:.1f} s"
