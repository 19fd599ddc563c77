"""What a rollback would do, and what it did."""

from __future__ import annotations

from collections.abc import Sequence

from cleveragents.cli.report import Fields, Report, Section, Table
from cleveragents.cli.views.checkpoints import uncaptured_data
from cleveragents.cli.views.words import counted
from cleveragents.domain.checkpoint import Checkpoint
from cleveragents.domain.effects import Effect
from cleveragents.domain.operation import OperationKind, RollbackPreview, RollbackResult
from cleveragents.domain.plan import PlanState
from cleveragents.domain.sandbox import ChangeAction, FileChange, Uncaptured

AWAITING = "queued (awaiting input)"
_VERBS = {ChangeAction.RESTORED: "restore", ChangeAction.REMOVED: "remove"}


def preview_report(preview: RollbackPreview) -> Report:
    """The dry run: the same shape as the real thing, and nothing was changed."""
    impact: dict[str, object] = {
        "child_plans_invalidated": preview.child_plans_after,
        "sandbox": f"would be restored to {preview.checkpoint.id}",
        "decisions_after_cp": f"{preview.decisions_after} would be discarded",
        "tool_calls_after_cp": f"{preview.tool_calls_after} would be undone",
    }
    after: dict[str, object] = {
        "phase": preview.phase.value,
        "state": _state(preview.state),
        "checkpoints_remaining": preview.checkpoints_remaining,
    }
    extra: dict[str, object] = {
        "dry_run": True,
        "verified": None,
        "operation": None,
        "effects_not_undone": effects_data(preview.effects_not_undone),
        "left_alone": uncaptured_data(preview.left_alone),
    }
    return _report(
        preview.checkpoint,
        preview.changes,
        preview.left_alone,
        impact,
        after,
        extra,
        "Dry run: nothing was changed",
        preview.effects_not_undone,
    )


def result_report(result: RollbackResult) -> Report:
    impact: dict[str, object] = {
        "child_plans_invalidated": result.child_plans_invalidated,
        "sandbox": f"restored to {result.checkpoint.id}",
        "decisions_after_cp": f"{result.decisions_discarded} discarded",
        "tool_calls_after_cp": f"{result.tool_calls_undone} undone",
    }
    after: dict[str, object] = {
        "phase": result.phase.value,
        "state": _state(result.state),
        "checkpoints_remaining": result.checkpoints_remaining,
    }
    extra: dict[str, object] = {
        "verified": result.verified,
        "operation": {
            "operation_id": result.operation_id,
            "kind": result.kind.value,
            "takes_back": result.takes_back.id if result.takes_back else None,
            "safety_checkpoint_id": result.safety_checkpoint_id,
        },
        "brought_back": {
            "decisions": result.decisions_brought_back,
            "tool_calls": result.tool_calls_brought_back,
        },
        "effects_not_undone": effects_data(result.effects_not_undone),
        "left_alone": uncaptured_data(result.left_alone),
    }
    report = _report(
        result.checkpoint,
        result.changes,
        result.left_alone,
        impact,
        after,
        extra,
        f"{result.kind.value.capitalize()} complete",
        result.effects_not_undone,
    )
    act = "redo" if result.kind is OperationKind.UNDO else "undo"
    rows = [
        ("Verified", "yes: the sandbox was read back and is what it was"),
        ("Take it back", f"agents plan {act} {result.plan_id}"),
    ]
    if result.decisions_brought_back or result.tool_calls_brought_back:
        decisions = counted(result.decisions_brought_back, "decision")
        calls = counted(result.tool_calls_brought_back, "tool call")
        rows.insert(1, ("Brought back", f"{decisions}, {calls}"))
    if result.state is not PlanState.COMPLETE:
        rows.append(("Run on from here", f"agents plan execute {result.plan_id}"))
    verified = Fields("Next", tuple(rows))
    return Report(
        report.data, (*report.sections, verified), report.messages, warnings=report.warnings
    )


def preview_text(preview: RollbackPreview) -> str:
    """What is shown before the user is asked."""
    counts = {
        action: sum(1 for change in preview.changes if change.action == action)
        for action in ("restored", "removed")
    }
    what = (
        f"Taking back the {preview.takes_back.note}"
        if preview.takes_back
        else f"Rolling back to `{preview.checkpoint.metadata.label}`"
    )
    lines = [
        f"{what} would restore "
        f"{counted(counts['restored'], 'path')}, remove {counted(counts['removed'], 'path')}, "
        f"undo {counted(preview.tool_calls_after, 'tool call')} and set aside "
        f"{counted(preview.checkpoints_after, 'checkpoint')}.",
        *(f"  {_VERBS[change.action]:<8} {change.file}" for change in preview.changes[:20]),
    ]
    if len(preview.changes) > 20:
        lines.append(f"  … and {len(preview.changes) - 20} more")
    if preview.left_alone:
        lines.append(f"{counted(len(preview.left_alone), 'path')} no checkpoint holds stay as is.")
    if preview.effects_not_undone:
        lines.append(not_undone(preview.effects_not_undone))
    lines.append("The present state is saved as a checkpoint first.")
    return "\n".join(lines)


def _state(state: PlanState) -> str:
    return AWAITING if state is PlanState.QUEUED else state.value


def effects_data(effects: Sequence[Effect]) -> list[dict[str, object]]:
    return [effect.model_dump(mode="json") for effect in effects]


def not_undone(effects: Sequence[Effect]) -> str:
    """Says what stays done although the sandbox goes back."""
    return "No rollback can undo what these did: " + ", ".join(str(effect) for effect in effects)


def _report(
    checkpoint: Checkpoint,
    changes: Sequence[FileChange],
    left_alone: Sequence[Uncaptured],
    impact: dict[str, object],
    after: dict[str, object],
    extra: dict[str, object],
    message: str,
    effects: Sequence[Effect],
) -> Report:
    data: dict[str, object] = {
        "rollback_summary": {
            "plan": checkpoint.plan_id,
            "checkpoint": checkpoint.id,
            "label": checkpoint.metadata.label,
            "files_reverted": len(changes),
        },
        "changes_reverted": [
            {"file": change.file, "action": change.action.value} for change in changes
        ],
        "impact": impact,
        "post_rollback_state": after,
        **extra,
    }
    sections: list[Section] = [
        Fields(
            "Rollback Summary",
            (
                ("Plan", checkpoint.plan_id),
                ("Checkpoint", checkpoint.id),
                ("Label", checkpoint.metadata.label),
                ("Files", f"{len(changes)} reverted"),
            ),
        ),
        Table(
            "Changes Reverted",
            ("File", "Action"),
            tuple((change.file, change.action.value) for change in changes),
            empty="The sandbox already was in this state.",
        ),
        Fields(
            "Impact",
            (
                ("Child Plans", f"{impact['child_plans_invalidated']} invalidated"),
                ("Sandbox", str(impact["sandbox"])),
                ("Decisions After CP", str(impact["decisions_after_cp"])),
                ("Tool Calls After CP", str(impact["tool_calls_after_cp"])),
            ),
        ),
        Fields(
            "Post-Rollback State",
            (
                ("Phase", str(after["phase"])),
                ("State", str(after["state"])),
                ("Checkpoints Remaining", str(after["checkpoints_remaining"])),
            ),
        ),
    ]
    if left_alone:
        rows = tuple((item.path, item.reason) for item in left_alone)
        sections.append(Table("Left Alone", ("Path", "Reason"), rows))
    warnings = (not_undone(effects),) if effects else ()
    return Report(data, tuple(sections), (message,), warnings=warnings)
