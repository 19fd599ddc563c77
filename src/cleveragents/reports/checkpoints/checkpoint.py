"""Checkpoints: one, a list, and those that were pinned or deleted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointGroup
from cleveragents.domain.sandboxes.sandbox import Uncaptured
from cleveragents.domain.wording import counted, first_lines, size
from cleveragents.reports.described import Description, Field, shown, times
from cleveragents.reports.report import UNCHANGED, Column, Report, Section, Table

if TYPE_CHECKING:
    # A command needs at most one of these services, and importing both takes time.
    from cleveragents.application.services.checkpoint_service import CheckpointList
    from cleveragents.application.services.retention_service import DeletionResult, PinResult

_SHORT_HASH = 12
_LIST_COLUMNS = ("Step", "State", "Created (UTC)", "Added", "Not captured")


class _Grouped(NamedTuple):
    checkpoint: Checkpoint
    group: CheckpointGroup


def _left_out(item: _Grouped) -> str:
    metadata = item.checkpoint.metadata
    words = counted(len(metadata.not_captured), "path") if metadata.not_captured else ""
    return f"partial: {words}" if metadata.partial else words


UNCAPTURED = Description[Uncaptured](
    Field("path", "Path", lambda it: it.path),
    Field("reason", "Reason", lambda it: it.reason),
)

_CHECKPOINT = Description[_Grouped](
    Field("checkpoint_id", "Checkpoint", lambda it: it.checkpoint.id),
    Field("group_id", None, lambda it: it.checkpoint.group_id),
    Field("plan_id", None, lambda it: it.checkpoint.plan_id),
    Field("sequence", None, lambda it: it.checkpoint.sequence),
    Field("label", "Label", lambda it: it.checkpoint.metadata.label),
    Field("trigger", "Trigger", lambda it: it.checkpoint.metadata.trigger),
    Field("checkpoint_type", None, lambda it: it.checkpoint.checkpoint_type),
    Field("phase", None, lambda it: it.checkpoint.metadata.phase),
    Field(
        "step_index",
        "Step",
        lambda it: it.checkpoint.metadata.step_index,
        lambda it: str(it.checkpoint.metadata.step_index + 1),
    ),
    Field("state_hash", "State hash", lambda it: it.checkpoint.metadata.state_hash),
    Field(None, "State", lambda it: it.checkpoint.metadata.state_hash[:_SHORT_HASH]),
    Field("decision_id", None, lambda it: it.checkpoint.decision_id),
    Field("resource", "Resource", lambda it: it.checkpoint.metadata.resource),
    Field("source_tool", "Tool", lambda it: it.checkpoint.metadata.source_tool),
    Field("reason", "Reason", lambda it: it.checkpoint.metadata.reason),
    Field("sandbox_ref", "Snapshot", lambda it: it.checkpoint.sandbox_ref),
    Field("filesystem_path", "Sandbox", lambda it: it.checkpoint.filesystem_path),
    Field(
        "size_bytes",
        "Added",
        lambda it: it.checkpoint.size_bytes,
        lambda it: size(it.checkpoint.size_bytes),
    ),
    Field("created_at", "Created (UTC)", lambda it: it.checkpoint.created_at),
    Field(None, "Made", lambda it: f"{shown(it.checkpoint.created_at)} UTC"),
    Field("pinned", "Pinned", lambda it: it.group.pinned),
    Field("set_aside", None, lambda it: it.group.set_aside_by is not None),
    Field(
        "not_captured",
        "Not captured",
        lambda it: UNCAPTURED.list(it.checkpoint.metadata.not_captured),
        _left_out,
    ),
    Field("evidence", None, lambda it: it.checkpoint.metadata.evidence),
    Field("partial", None, lambda it: it.checkpoint.metadata.partial),
)


_PINNED = Field[_Grouped](None, "Pinned", lambda it: "pinned" if it.group.pinned else "")


def checkpoint_list_report(
    listed: CheckpointList, plan_id: str, *, if_empty: str | None = None
) -> Report:
    """Lists the checkpoints of a plan; `if_empty` is said if there are none."""
    checkpoints = _grouped(listed.checkpoints, listed.groups)
    data: dict[str, object] = {
        "plan_id": plan_id,
        "checkpoints": _CHECKPOINT.list(checkpoints),
        "summary": {
            "count": len(checkpoints),
            "limit": listed.retention.limit,
            "states": listed.retention.states,
            "dropped": listed.retention.dropped,
            "total_size_bytes": sum(item.size_bytes for item in listed.checkpoints),
        },
    }
    resource = ("Resource",) if _has_several_resources(listed.checkpoints) else ()
    table = _CHECKPOINT.table(
        f"Checkpoints of {plan_id}",
        checkpoints,
        ("Checkpoint", "Label", *resource, *_LIST_COLUMNS, _PINNED),
        empty="This plan has no checkpoints yet.",
        lines=_lines(checkpoints, resource),
    )
    said = () if checkpoints or if_empty is None else (if_empty,)
    messages = (*listed.retention.messages, *said)
    return Report(data, (table,), messages, did_something=False)


def _lines(checkpoints: Sequence[_Grouped], resource: Sequence[str]) -> list[Column]:
    column = _CHECKPOINT.column
    return [
        Column("", tuple(_relative(checkpoints))),
        column("Checkpoint", checkpoints),
        column("Label", checkpoints, cut="end"),
        *(column(heading, checkpoints, cut="end") for heading in resource),
        column("Step", checkpoints),
        times("Created", [item.checkpoint.created_at for item in checkpoints]),
        column("Not captured", checkpoints),
        Column("Pinned", tuple("pinned" if item.group.pinned else "" for item in checkpoints)),
        column("Added", checkpoints, optional=True),
        column("State", checkpoints, optional=True),
    ]


def _relative(checkpoints: Sequence[_Grouped]) -> Iterator[str]:
    """Yields `@-N` for each checkpoint that the user can name so; one set aside has no number."""
    number = sum(item.group.set_aside_by is None for item in checkpoints)
    for item in checkpoints:
        if item.group.set_aside_by is not None:
            yield ""
            continue
        yield f"@-{number}"
        number -= 1


def checkpoint_report(
    checkpoint: Checkpoint, group: CheckpointGroup, messages: tuple[str, ...] = ()
) -> Report:
    item = _Grouped(checkpoint, group)
    headings = ("Checkpoint", "Label", "Made", "Reason", "Trigger", "Step", "Tool", "Resource")
    more = ("State hash", "Snapshot", "Sandbox", "Added")
    sections: list[Section] = [_CHECKPOINT.fields("Checkpoint", item, *headings, *more, "Pinned")]
    if checkpoint.metadata.not_captured:
        left_out = checkpoint.metadata.not_captured
        sections.append(UNCAPTURED.table("Not captured", left_out, ("Path", "Reason")))
    return Report(_CHECKPOINT.data(item), tuple(sections), messages)


def pinning_report(pinning: PinResult, *, pinned: bool) -> Report:
    """The report after pinning or, if not `pinned`, unpinning checkpoints."""
    changed = [item for item in pinning.checkpoints if item.group_id in pinning.changed]
    same = len(pinning.checkpoints) - len(changed)
    messages: list[str] = []
    if changed:
        verb = "Pinned" if pinned else "Unpinned"
        messages.append(f"{verb} {counted(len(changed), 'checkpoint')}")
    if same:
        verb, state = "was" if same == 1 else "were", "already" if pinned else "not"
        messages.append(f"{counted(same, 'checkpoint')} {verb} {state} pinned")
    return Report(
        {
            "plan_id": pinning.plan_id,
            "checkpoints": _CHECKPOINT.list(_grouped(pinning.checkpoints, pinning.groups)),
            "changed": [item.id for item in changed],
        },
        (_table(f"Checkpoints of {pinning.plan_id}", pinning.checkpoints, pinning.groups),),
        tuple(messages),
    )


def deletion_preview_report(deletion: DeletionResult) -> Report:
    """The dry run, in the form of the real report."""
    return _deletion_report(deletion, (UNCHANGED,), dry_run=True)


def deletion_report(deletion: DeletionResult) -> Report:
    messages = [f"Deleted {counted(len(deletion.checkpoints), 'checkpoint')}"]
    if deletion.snapshots_dropped:
        messages.append("Run `agents gc` to reclaim the space")
    elif deletion.snapshots_dropped == 0:
        messages.append("Other checkpoints have the same files, so there is no space to reclaim")
    return _deletion_report(deletion, tuple(messages), dry_run=False)


def _deletion_report(
    deletion: DeletionResult, messages: tuple[str, ...], *, dry_run: bool
) -> Report:
    title = "Would be deleted" if dry_run else "Deleted"
    return Report(
        {
            "plan_id": deletion.plan_id,
            "dry_run": dry_run,
            "checkpoints": _CHECKPOINT.list(_grouped(deletion.checkpoints, deletion.groups)),
            "not_undoable": [
                {"operation_id": item.id, "kind": item.kind, "note": item.note}
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
        did_something=not dry_run,
        warnings=tuple(_losses(deletion)),
    )


def deletion_text(deletion: DeletionResult) -> str:
    """Returns the text shown before the user confirms."""
    several = _has_several_resources(deletion.checkpoints)
    lines = [
        f"This would delete {counted(len(deletion.checkpoints), 'checkpoint')} for good:",
        *first_lines(
            [
                f"{item.id}  {item.metadata.label}"
                + (f" ({item.metadata.resource})" if several else "")
                for item in deletion.checkpoints
            ]
        ),
        *(f"{loss}." for loss in _losses(deletion)),
    ]
    return "\n".join(lines)


def _losses(deletion: DeletionResult) -> Iterator[str]:
    """Yields a sentence for each thing that will no longer be possible."""
    labels = {item.group_id: item.metadata.label for item in reversed(deletion.checkpoints)}
    for operation in deletion.not_undoable:
        label = labels[operation.safety_group_id]
        yield f"Without `{label}`, the {operation.note} cannot be undone"
    if deletion.first is not None:
        label = deletion.first.metadata.label
        yield f"Without `{label}`, the plan's changes are shown from a later checkpoint on"


def _table(
    title: str, checkpoints: Sequence[Checkpoint], groups: Mapping[str, CheckpointGroup]
) -> Table:
    several = _has_several_resources(checkpoints)
    resource = Field[_Grouped](
        None, "Resource", lambda it: it.checkpoint.metadata.resource if several else ""
    )
    columns = ("Checkpoint", "Label", resource, _PINNED)
    return _CHECKPOINT.table(title, _grouped(checkpoints, groups), columns)


def _grouped(
    checkpoints: Sequence[Checkpoint], groups: Mapping[str, CheckpointGroup]
) -> list[_Grouped]:
    return [_Grouped(item, groups[item.group_id]) for item in checkpoints]


def _has_several_resources(checkpoints: Sequence[Checkpoint]) -> bool:
    return len({item.metadata.resource for item in checkpoints}) > 1
