"""Checkpoints, as lists and one by one."""

from __future__ import annotations

from collections.abc import Sequence

from cleveragents.application.services.checkpoint_service import CheckpointList
from cleveragents.domain.checkpoint import Checkpoint, CheckpointGroup
from cleveragents.domain.sandbox import Uncaptured
from cleveragents.reports.report import Fields, Report, Table
from cleveragents.reports.words import SHORT_HASH, counted, moment, readable, size


def uncaptured_data(items: Sequence[Uncaptured]) -> list[dict[str, str]]:
    return [{"path": item.path, "reason": item.reason} for item in items]


def checkpoint_data(checkpoint: Checkpoint, group: CheckpointGroup) -> dict[str, object]:
    """Returns the fields that every checkpoint has in JSON; names are a stable contract."""
    metadata = checkpoint.metadata
    return {
        "checkpoint_id": checkpoint.id,
        "group_id": checkpoint.group_id,
        "plan_id": checkpoint.plan_id,
        "sequence": checkpoint.sequence,
        "label": metadata.label,
        "trigger": metadata.trigger,
        "checkpoint_type": checkpoint.checkpoint_type.value,
        "phase": metadata.phase.value,
        "step_index": metadata.step_index,
        "state_hash": metadata.state_hash,
        "decision_id": checkpoint.decision_id,
        "resource": metadata.resource,
        "source_tool": metadata.source_tool,
        "reason": metadata.reason,
        "sandbox_ref": checkpoint.sandbox_ref,
        "filesystem_path": checkpoint.filesystem_path,
        "size_bytes": checkpoint.size_bytes,
        "created_at": moment(checkpoint.created_at),
        "pinned": group.pinned,
        "set_aside": group.set_aside_by is not None,
        "not_captured": uncaptured_data(metadata.not_captured),
        "evidence": metadata.evidence.value if metadata.evidence else None,
        "partial": metadata.partial,
    }


def checkpoint_list_report(listed: CheckpointList, plan_id: str) -> Report:
    data: dict[str, object] = {
        "plan_id": plan_id,
        "checkpoints": [
            checkpoint_data(item, listed.groups[item.group_id]) for item in listed.checkpoints
        ],
        "summary": {
            "count": len(listed.checkpoints),
            "limit": listed.limit,
            "total_size_bytes": sum(item.size_bytes for item in listed.checkpoints),
        },
    }
    several = len({item.metadata.resource for item in listed.checkpoints}) > 1
    rows = tuple(
        (
            item.id,
            item.metadata.label,
            *([item.metadata.resource] if several else []),
            str(item.metadata.step_index + 1),
            item.metadata.state_hash[:SHORT_HASH],
            readable(item.created_at),
            size(item.size_bytes),
            _left_out(item),
            "pinned" if listed.groups[item.group_id].pinned else "",
        )
        for item in listed.checkpoints
    )
    table = Table(
        f"Checkpoints of {plan_id}",
        (
            *("Checkpoint", "Label", *(["Resource"] if several else [])),
            *("Step", "State", "Created (UTC)", "Added", "Not captured", "Pinned"),
        ),
        rows,
        empty="This plan has no checkpoints yet.",
    )
    return Report(data, (table,))


def _left_out(checkpoint: Checkpoint) -> str:
    left_out = checkpoint.metadata.not_captured
    words = counted(len(left_out), "path") if left_out else ""
    return f"partial: {words}" if checkpoint.metadata.partial else words


def checkpoint_report(
    checkpoint: Checkpoint, group: CheckpointGroup, messages: tuple[str, ...] = ()
) -> Report:
    metadata = checkpoint.metadata
    fields = Fields(
        "Checkpoint",
        (
            ("checkpoint", checkpoint.id),
            ("label", metadata.label),
            ("made", f"{readable(checkpoint.created_at)} UTC"),
            ("reason", metadata.reason),
            ("trigger", metadata.trigger),
            ("step", str(metadata.step_index + 1)),
            ("tool", metadata.source_tool or ""),
            ("resource", metadata.resource),
            ("state hash", metadata.state_hash),
            ("snapshot", checkpoint.sandbox_ref),
            ("sandbox", checkpoint.filesystem_path),
            ("added", size(checkpoint.size_bytes)),
            ("pinned", "yes" if group.pinned else "no"),
        ),
    )
    sections: tuple[Fields | Table, ...] = (fields,)
    if metadata.not_captured:
        rows = tuple((item.path, item.reason) for item in metadata.not_captured)
        sections += (Table("Not captured", ("Path", "Reason"), rows),)
    return Report(checkpoint_data(checkpoint, group), sections, messages)
