"""What was pinned, and what was or would be deleted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cleveragents.application.services.retention_service import Deletion, Pinning
from cleveragents.domain.checkpoint import Checkpoint, CheckpointGroup
from cleveragents.reports.checkpoints import checkpoint_data
from cleveragents.reports.report import Report, Table
from cleveragents.reports.words import counted

_LISTED = 20


def pinned_report(pinning: Pinning) -> Report:
    return _pinning_report(pinning, "Pinned {}", "{} pinned already")


def unpinned_report(pinning: Pinning) -> Report:
    return _pinning_report(pinning, "Unpinned {}", "{} not pinned")


def _pinning_report(pinning: Pinning, done: str, already: str) -> Report:
    changed = [item for item in pinning.checkpoints if item.group_id in pinning.changed]
    same = len(pinning.checkpoints) - len(changed)
    messages = (
        *([done.format(counted(len(changed), "checkpoint"))] if changed else []),
        *([already.format(_were(same))] if same else []),
    )
    return Report(
        {
            "plan_id": pinning.plan_id,
            "checkpoints": _checkpoints_data(pinning.checkpoints, pinning.groups),
            "changed": [item.id for item in changed],
        },
        (_table(f"Checkpoints of {pinning.plan_id}", pinning.checkpoints, pinning.groups),),
        messages,
    )


def _were(count: int) -> str:
    return f"{counted(count, 'checkpoint')} {'was' if count == 1 else 'were'}"


def rehearsal_report(deletion: Deletion) -> Report:
    """The dry run: the same shape as the real thing, and nothing was changed."""
    return _deletion_report(deletion, ("Dry run: nothing was changed",), dry_run=True)


def deletion_report(deletion: Deletion) -> Report:
    messages = [f"Deleted {counted(len(deletion.checkpoints), 'checkpoint')}"]
    if deletion.snapshots_dropped:
        messages.append("Run `agents gc` to get the space back")
    elif deletion.snapshots_dropped == 0:
        messages.append("Others have the same files, so there is no space to get back")
    return _deletion_report(deletion, tuple(messages), dry_run=False)


def _deletion_report(deletion: Deletion, messages: tuple[str, ...], *, dry_run: bool) -> Report:
    title = "Would be deleted" if dry_run else "Deleted"
    return Report(
        {
            "plan_id": deletion.plan_id,
            "dry_run": dry_run,
            "checkpoints": _checkpoints_data(deletion.checkpoints, deletion.groups),
            "not_undoable": [
                {"operation_id": item.id, "kind": item.kind.value, "note": item.note}
                for item in deletion.not_undoable
            ],
            "summary": {
                "checkpoints": len(deletion.checkpoints),
                "groups": len(deletion.groups),
                "checkpoints_remaining": deletion.remaining,
                "snapshots_dropped": deletion.snapshots_dropped,
            },
        },
        (_table(title, deletion.checkpoints, deletion.groups),),
        messages,
        warnings=tuple(_losses(deletion)),
    )


def deletion_text(deletion: Deletion) -> str:
    """What is shown before the user is asked."""
    several = _has_several_resources(deletion.checkpoints)
    lines = [
        f"Deleting would take {counted(len(deletion.checkpoints), 'checkpoint')} for good:",
        *(
            f"  {item.id}  {item.metadata.label}"
            + (f" ({item.metadata.resource})" if several else "")
            for item in deletion.checkpoints[:_LISTED]
        ),
    ]
    if len(deletion.checkpoints) > _LISTED:
        lines.append(f"  … and {len(deletion.checkpoints) - _LISTED} more")
    return "\n".join([*lines, *(f"{loss}." for loss in _losses(deletion))])


def _losses(deletion: Deletion) -> Iterator[str]:
    """Gives what can no longer be done afterwards."""
    labels = {item.group_id: item.metadata.label for item in reversed(deletion.checkpoints)}
    for operation in deletion.not_undoable:
        label = labels[operation.safety_group_id]
        yield f"Without `{label}` the {operation.note} cannot be undone"
    if deletion.first is not None:
        label = deletion.first.metadata.label
        yield f"Without `{label}` what the plan changed is shown from a later checkpoint on"


def _checkpoints_data(
    checkpoints: Sequence[Checkpoint], groups: Mapping[str, CheckpointGroup]
) -> list[dict[str, object]]:
    return [checkpoint_data(item, groups[item.group_id]) for item in checkpoints]


def _table(
    title: str, checkpoints: Sequence[Checkpoint], groups: Mapping[str, CheckpointGroup]
) -> Table:
    several = _has_several_resources(checkpoints)
    rows = tuple(
        (
            item.id,
            item.metadata.label,
            item.metadata.resource if several else "",
            "pinned" if groups[item.group_id].pinned else "",
        )
        for item in checkpoints
    )
    columns = ("Checkpoint", "Label", "Resource", "Pinned")
    return Table(title, columns, rows)


def _has_several_resources(checkpoints: Sequence[Checkpoint]) -> bool:
    return len({item.metadata.resource for item in checkpoints}) > 1
