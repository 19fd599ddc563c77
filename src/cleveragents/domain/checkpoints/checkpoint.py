"""Checkpoints: the record of one snapshot and of where the plan was."""

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
    """Moments at which a checkpoint is made when the configuration names them."""

    BEFORE_STEP = "before_step"
    AFTER_STEP = "after_step"
    BEFORE_TOOL_EXECUTE = "before_tool_execute"
    AFTER_TOOL_EXECUTE = "after_tool_execute"
    ON_SUBPLAN_SPAWN = "on_subplan_spawn"
    AFTER_SUBPLAN = "after_subplan"
    ON_ERROR = "on_error"


class CheckpointType(StrEnum):
    """Why a checkpoint exists: `automatic` ones are asked for by a `Trigger`."""

    PRE_EXECUTE = "pre_execute"
    POST_EXECUTE = "post_execute"
    PRE_APPLY = "pre_apply"
    AUTOMATIC = "automatic"
    DECISION = "decision"
    MANUAL = "manual"
    SAFETY = "safety"
    COMBINED = "combined"
    """Put together from others, for a rollback of a part."""


class CheckpointMetadata(Record):
    """Where the plan was. Stored as JSON, so that it can grow."""

    label: str
    step_index: int
    """The step under way, from 0."""
    last_completed_step: int
    """Where the plan goes on from after a rollback to here; -1 before the first step."""
    state_hash: str
    phase: PlanPhase
    trigger: str
    """A `Trigger`, or the checkpoint's type where no trigger asked for it."""
    source_tool: str | None
    reason: str
    resource: str
    not_captured: tuple[Uncaptured, ...]
    evidence: Evidence | None = None
    """How the snapshot's content was found out; None in older records."""
    partial: bool = False
    """A deadline passed before everything was looked at."""
    tool_calls: tuple[str, ...] = ()
    """What records of older programs have in place of `effective_calls`: the ids."""
    effective_calls: tuple[tuple[int, int], ...] | None = None
    """The tool calls whose effects the sandbox holds at this moment: ranges of their sequence
    numbers, first and last of each. So a checkpoint stays small however many calls there were."""

    def knows(self, call: ToolCall) -> bool:
        """Returns whether the sandbox holds the effects of the call at this moment."""
        if self.effective_calls is None:
            return call.id in self.tool_calls
        return holds(self.effective_calls, call.sequence)


class Checkpoint(Record):
    """The record of one snapshot of one resource, and of where the plan was."""

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
    """What of a plan's records is in effect at a moment, as ranges of sequence numbers."""

    calls: tuple[tuple[int, int], ...]
    """Tool calls that are not undone."""
    decisions: tuple[tuple[int, int], ...]
    """Decisions that are not superseded."""
    groups: tuple[tuple[int, int], ...]
    """Groups that are not set aside."""


class Lineage(Record):
    """How a plan had come to a moment, so that going back there brings back all of it."""

    groups: tuple[tuple[int, int], ...]
    """The groups that no operation had gone past: ranges of their sequence numbers."""
    decisions: tuple[tuple[int, int], ...]
    """The decisions that stood: ranges of their sequence numbers."""
    choices: dict[str, str] | None = None
    """What `Plan.choices` was, where a correction had changed it."""


class CheckpointGroup(Record):
    """All checkpoints of one moment; it restores alone."""

    id: str
    plan_id: str
    sequence: int
    created_at: datetime
    snapshots: dict[str, str]
    """The snapshot of every resource, also of those that did not change, by resource id."""
    state_hashes: dict[str, str]
    """What each of those snapshots must read back as, by resource id."""
    pinned: bool
    set_aside_by: str | None
    """The operation that went back past it."""
    way: Lineage | None = None
    """How the plan had come here; None in older records."""
