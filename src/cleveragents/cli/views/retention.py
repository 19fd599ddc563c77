"""What was pinned and unpinned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cleveragents.application.services.retention_service import Pinning
from cleveragents.cli.report import Report, Table
from cleveragents.cli.views.checkpoints import checkpoint_data
from cleveragents.cli.views.words import counted
from cleveragents.domain.checkpoint import Checkpoint, CheckpointGroup


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


def _checkpoints_data(
    checkpoints: Sequence[Checkpoint], groups: Mapping[str, CheckpointGroup]
) -> list[dict[str, object]]:
    return [checkpoint_data(item, groups[item.group_id]) for item in checkpoints]


def _table(
    title: str, checkpoints: Sequence[Checkpoint], groups: Mapping[str, CheckpointGroup]
) -> Table:
    several = len({item.metadata.resource for item in checkpoints}) > 1
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
