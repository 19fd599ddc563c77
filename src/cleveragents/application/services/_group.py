"""What is recorded of one moment: pure construction, so that the service only orchestrates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cleveragents.domain.checkpoint import (
    Checkpoint,
    CheckpointGroup,
    CheckpointMetadata,
    CheckpointType,
    Trigger,
)
from cleveragents.domain.number_ranges import Ranges
from cleveragents.domain.plan import Plan, PlanPhase
from cleveragents.domain.sandbox import SandboxCheckpoint, SandboxRef, TreeDiff

Taken = tuple[SandboxRef, SandboxCheckpoint]
"""A sandbox and the snapshot just made of it."""


def snapshot_ids(taken: Sequence[Taken]) -> dict[str, str]:
    """Returns the snapshot of each resource, by the resource's id."""
    return {sandbox.resource_id: made.snapshot_id for sandbox, made in taken}


@dataclass(frozen=True)
class Moment:
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


def is_of_moment(checkpoint: Checkpoint, moment: Moment, calls: Ranges) -> bool:
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
    moment: Moment,
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


def united_diff(parts: Sequence[tuple[SandboxRef, TreeDiff]], *, several: bool) -> TreeDiff:
    """Returns differences as one; with several resources a path names its resource first."""
    if not several:
        return parts[0][1] if parts else TreeDiff(files=(), patch="", patch_truncated=False)
    files = [
        item.model_copy(update={"path": f"{sandbox.resource}/{item.path}"})
        for sandbox, part in parts
        for item in part.files
    ]
    return TreeDiff(
        files=tuple(files),
        patch="".join(_named(part.patch, sandbox.resource) for sandbox, part in parts),
        patch_truncated=any(part.patch_truncated for _, part in parts),
    )


def _named(patch: str, resource: str) -> str:
    """Returns a patch in which every path begins with the name of its resource."""
    sections: list[str] = []
    for section in re.split(r"^(?=diff --git )", patch, flags=re.MULTILINE):
        header, hunks, rest = section.partition("\n@@")
        named = re.sub(
            r'^(diff --git |--- |\+\+\+ )("?)a/', rf"\1\2a/{resource}/", header, flags=re.M
        )
        named = re.sub(r'^(\+\+\+ )("?)b/', rf"\1\2b/{resource}/", named, flags=re.M)
        named = re.sub(r'^(diff --git .*? )("?)b/', rf"\1\2b/{resource}/", named, count=1)
        sections.append(named + hunks + rest)
    text = "".join(sections)
    return text if not text or text.endswith("\n") else f"{text}\n"
