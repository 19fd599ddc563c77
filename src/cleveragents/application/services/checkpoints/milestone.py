"""What is recorded of one moment: pure construction, so that the service only orchestrates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cleveragents.domain.checkpoints.checkpoint import (
    Checkpoint,
    CheckpointGroup,
    CheckpointMetadata,
    CheckpointType,
    Trigger,
)
from cleveragents.domain.checkpoints.number_ranges import Ranges
from cleveragents.domain.plans.plan import Plan, PlanPhase
from cleveragents.domain.sandboxes.sandbox import SandboxCheckpoint, SandboxRef

Taken = tuple[SandboxRef, SandboxCheckpoint]
"""A sandbox and the snapshot just made of it."""


def snapshot_ids(taken: Sequence[Taken]) -> dict[str, str]:
    """Returns the snapshot of each resource, by the resource's id."""
    return {sandbox.resource_id: made.snapshot_id for sandbox, made in taken}


@dataclass(frozen=True)
class Milestone:
    """Where the plan is when a checkpoint is made, and why one is made."""

    checkpoint_type: CheckpointType
    label: str
    reason: str
    step_index: int
    trigger: Trigger | None = None
    source_tool: str | None = None
    decision_id: str | None = None
    repeated: bool = False
    """A killed process may have recorded it already."""


def is_of_moment(checkpoint: Checkpoint, moment: Milestone, calls: Ranges) -> bool:
    """Returns whether the checkpoint was made at the same place of the plan for the same reason."""
    known = checkpoint.metadata
    return (
        checkpoint.checkpoint_type is moment.checkpoint_type
        and known.label == moment.label
        and known.step_index == moment.step_index
        and known.trigger == (moment.trigger or moment.checkpoint_type.value)
        and known.effective_calls == tuple(calls)
    )


def recorded(taken: Sequence[Taken], before: CheckpointGroup | None) -> Sequence[Taken]:
    """Returns what gets a row of its own: each resource that changed, or else the first.

    A trigger that fired is always visible, also when it found nothing changed.
    """
    known = before.snapshots if before else {}
    changed = [item for item in taken if known.get(item[0].resource_id) != item[1].snapshot_id]
    return changed or taken[:1]


def checkpoint_of(
    checkpoint_id: str,
    group: CheckpointGroup,
    sequence: int,
    plan: Plan,
    moment: Milestone,
    taken: Taken,
    effective_calls: Ranges,
) -> Checkpoint:
    """Returns the record of one snapshot and of where the plan was."""
    sandbox, made = taken
    return Checkpoint(
        id=checkpoint_id,
        plan_id=plan.id,
        group_id=group.id,
        sequence=sequence,
        decision_id=moment.decision_id,
        resource_id=sandbox.resource_id,
        checkpoint_type=moment.checkpoint_type,
        sandbox_ref=made.snapshot_id,
        filesystem_path=sandbox.path,
        size_bytes=made.size_bytes,
        created_at=group.created_at,
        metadata=CheckpointMetadata(
            label=moment.label,
            step_index=moment.step_index,
            last_completed_step=plan.last_completed_step,
            state_hash=made.state_hash,
            phase=PlanPhase.APPLY
            if moment.checkpoint_type is CheckpointType.PRE_APPLY
            else PlanPhase.EXECUTE,
            trigger=moment.trigger or moment.checkpoint_type.value,
            source_tool=moment.source_tool,
            reason=moment.reason,
            resource=sandbox.resource,
            not_captured=made.not_captured,
            evidence=made.evidence,
            partial=made.partial,
            effective_calls=tuple(effective_calls),
        ),
    )
