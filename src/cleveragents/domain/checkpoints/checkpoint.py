"""Checkpoints: the records of one snapshot and of the plan's position."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from cleveragents.domain.checkpoints.number_ranges import holds
from cleveragents.domain.plans.plan import PlanPhase
from cleveragents.domain.record import Record
from cleveragents.domain.sandboxes.sandbox import Evidence, Uncaptured
from cleveragents.domain.tools.tool import ToolCall


class Trigger(StrEnum):
    """Events that create a checkpoint if the configuration lists them."""

    BEFORE_STEP = "before_step"
    AFTER_STEP = "after_step"
    BEFORE_TOOL_EXECUTE = "before_tool_execute"
    AFTER_TOOL_EXECUTE = "after_tool_execute"
    ON_SUBPLAN_SPAWN = "on_subplan_spawn"
    AFTER_SUBPLAN = "after_subplan"
    ON_ERROR = "on_error"


class CheckpointType(StrEnum):
    """Why a checkpoint exists: a `Trigger` creates `automatic` ones."""

    PRE_EXECUTE = "pre_execute"
    POST_EXECUTE = "post_execute"
    PRE_APPLY = "pre_apply"
    AUTOMATIC = "automatic"
    DECISION = "decision"
    MANUAL = "manual"
    SAFETY = "safety"
    COMBINED = "combined"
    """Combined from others, for a partial rollback."""


class CheckpointMetadata(Record):
    """The plan's position. Stored as JSON, so that fields can be added."""

    label: str
    step_index: int
    """The index of the current step."""
    last_completed_step: int
    """After a rollback to here the plan continues behind this step; -1 before the first."""
    state_hash: str
    phase: PlanPhase
    trigger: str
    """A `Trigger`, or the checkpoint's type if no trigger created it."""
    source_tool: str | None
    reason: str
    resource: str
    not_captured: tuple[Uncaptured, ...]
    evidence: Evidence | None = None
    """How the snapshot's content was determined; None in older records."""
    partial: bool = False
    """The deadline passed before everything was checked."""
    tool_calls: tuple[str, ...] = ()
    """The ids of the calls, in records of older versions, which have no `effective_calls`."""
    effective_calls: tuple[tuple[int, int], ...] | None = None
    """The tool calls whose effects the sandbox contains: ranges of sequence numbers, first and
    last of each. Ranges keep a checkpoint small however many calls there were."""

    head: str | None = None
    """The commit of the project's `HEAD` in a session in place; no rollback moves it."""

    def knows(self, call: ToolCall) -> bool:
        """Returns whether the sandbox contains the effects of the call."""
        if self.effective_calls is None:
            return call.id in self.tool_calls
        return holds(self.effective_calls, call.sequence)


class Checkpoint(Record):
    """The record of one snapshot of one resource, and of the plan's position."""

    id: str
    plan_id: str
    group_id: str
    sequence: int
    decision_id: str | None
    resource_id: str
    checkpoint_type: CheckpointType
    sandbox_ref: str
    """The snapshot: a commit in the project's private mirror."""
    filesystem_path: str
    size_bytes: int
    created_at: datetime
    metadata: CheckpointMetadata


@dataclass(frozen=True)
class EffectiveRecords:
    """The records of a plan that are in effect, as ranges of sequence numbers."""

    calls: tuple[tuple[int, int], ...]
    """Tool calls that are not undone."""
    decisions: tuple[tuple[int, int], ...]
    """Decisions that are not superseded."""
    groups: tuple[tuple[int, int], ...]
    """Groups that are not set aside."""


class Lineage(Record):
    """The records in effect at a checkpoint, so that a rollback can restore them."""

    groups: tuple[tuple[int, int], ...]
    """The groups that no operation had set aside: ranges of sequence numbers."""
    decisions: tuple[tuple[int, int], ...]
    """The decisions in effect: ranges of sequence numbers."""
    choices: dict[str, str] | None = None
    """The value of `Plan.choices`, if a correction had changed it."""
    calls: tuple[tuple[int, int], ...] | None = None
    """The tool calls whose effects the sandboxes contain, as in `CheckpointMetadata`, which may
    be damaged: a group can be restored without it. None in older records."""
    last_completed_step: int | None = None
    """The same step as in `CheckpointMetadata`; None in older records."""


class CheckpointGroup(Record):
    """All checkpoints made at the same time; enough to restore every resource."""

    id: str
    plan_id: str
    sequence: int
    created_at: datetime
    snapshots: dict[str, str]
    """The snapshot of every resource, changed or not, by resource id."""
    state_hashes: dict[str, str]
    """The state hash that each restored snapshot must have, by resource id."""
    pinned: bool
    set_aside_by: str | None
    """The operation that rolled back past it."""
    way: Lineage | None = None
    """The records in effect here; None in older records."""
