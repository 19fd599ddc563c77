"""Rollbacks, undos and redos: what one would do, and what it did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from cleveragents.domain.checkpoints.operation import OperationKind, RollbackPreview, RollbackResult
from cleveragents.domain.checkpoints.reversal import ReversalPreview, ReversalResult
from cleveragents.domain.plans.plan import PlanState
from cleveragents.domain.sandboxes.sandbox import ChangeAction
from cleveragents.domain.wording import counted, joined
from cleveragents.reports.checkpoints.checkpoint import UNCAPTURED
from cleveragents.reports.checkpoints.restores import (
    VERIFIED,
    change_lines,
    changes_data,
    changes_done,
    changes_to_do,
    commits_stay,
    effects_data,
    left_alone,
    not_undone,
    remarks,
    replaced,
)
from cleveragents.reports.report import UNCHANGED, Commands, Fields, Report, Section

AWAITING = "queued (awaiting input)"

Rollback: TypeAlias = RollbackPreview | RollbackResult


def preview_report(preview: RollbackPreview, part: str = "") -> Report:
    """The dry run, with the data of the real report.

    Args:
        preview: What would be done.
        part: The arguments of the command if it is a partial rollback.
    """
    how = "in part from" if preview.in_part else "to"
    impact: dict[str, object] = {
        "child_plans_invalidated": preview.child_plans_after,
        "sandbox": f"would be restored {how} {preview.checkpoint.id}",
        "decisions_after_cp": f"{preview.decisions_after} would be discarded",
        "tool_calls_after_cp": f"{preview.tool_calls_after} would be undone",
    }
    data = _data(preview, impact) | {"dry_run": True, "verified": None, "operation": None}
    if not _is_rollback(preview):
        data |= undo_data(preview)
    sections = (
        Fields(f"{_name(preview)} Preview", _summary(preview, "would be ")),
        changes_to_do(preview.changes),
        Fields("Impact", _impact(preview, impact, "would be ")),
        Fields("State Afterwards", state_rows(preview)),
        *left_alone(preview.left_alone),
        *replaced(preview.replaced),
        Commands("Next", (("Do it", _command(preview, part)),)),
    )
    warnings = not_undone(preview)
    if preview.commits_kept:
        warnings = (*warnings, commits_stay(preview))
    return Report(data, sections, (UNCHANGED,), did_something=False, warnings=warnings)


def result_report(result: RollbackResult) -> Report:
    impact: dict[str, object] = {
        "child_plans_invalidated": result.child_plans_invalidated,
        "sandbox": f"restored to {result.checkpoint.id}",
        "decisions_after_cp": f"{result.decisions_discarded} discarded",
        "tool_calls_after_cp": f"{result.tool_calls_undone} undone",
    }
    data = _data(result, impact) | {
        "verified": result.verified,
        "operation": {
            "operation_id": result.operation_id,
            "kind": result.kind.value,
            "takes_back": result.takes_back.id if result.takes_back else None,
            "safety_checkpoint_id": result.safety_checkpoint_id,
        },
    }
    messages: tuple[str, ...] = (f"{_name(result)} complete",)
    if not _is_rollback(result):
        data |= undo_data(result)
        messages = (*messages, undo_sentence(result))
    name = _name(result)
    sections: tuple[Section, ...] = (
        Fields(f"{name} Summary", _summary(result, "")),
        changes_done(f"Changes {'Reverted' if _is_rollback(result) else 'Made'}", result.changes),
        Fields("Impact", _impact(result, impact, "")),
        Fields(f"Post-{name} State", (*state_rows(result), VERIFIED)),
        *left_alone(result.left_alone),
        *replaced(result.replaced),
        Commands("Next", _next(result)),
    )
    warnings = not_undone(result)
    if result.commits_kept:
        warnings = (*warnings, commits_stay(result))
    return Report(data, sections, messages, warnings=warnings)


def preview_text(preview: RollbackPreview) -> str:
    """Returns the text shown before the user confirms."""
    verb = "Undoing" if preview.kind is OperationKind.UNDO else "Reversing"
    what = f"Rolling back to `{preview.label}`"
    if preview.takes_back is not None:
        what = f"{verb} the {preview.takes_back.note}"
    elif preview.what is not None:
        what = f"{verb} {preview.what}"
    lines = [f"{what} would {joined(_consequences(preview))}.", *change_lines(preview.changes)]
    back = _brought_back(preview)
    if back:
        lines.append(f"It would reinstate {joined(back)}.")
    return "\n".join([*lines, *remarks(preview)])


def undo_data(done: Rollback | ReversalPreview | ReversalResult) -> dict[str, object]:
    """Returns what an undo or a redo is about, and what the next ones would be about."""
    undoing = done.kind is OperationKind.UNDO
    known = isinstance(done, RollbackResult | ReversalResult)
    return {
        "undone": done.what if undoing else None,
        "redone": None if undoing else done.what,
        "next_undo": done.next_undo if known else None,
        "next_redo": done.next_redo if known else None,
    }


def undo_sentence(done: RollbackResult | ReversalResult) -> str:
    """Says in one line what was undone or redone, and what the next undo would undo."""
    act = "Undone" if done.kind is OperationKind.UNDO else "Redone"
    if done.next_undo is None:
        return f"{act}: {done.what}; nothing is left to undo"
    return f"{act}: {done.what}; the next undo would undo: {done.next_undo}"


def _consequences(preview: RollbackPreview) -> list[str]:
    actions = [change.action for change in preview.changes]
    always = [
        f"restore {counted(actions.count(ChangeAction.RESTORED), 'path')}",
        f"remove {counted(actions.count(ChangeAction.REMOVED), 'path')}",
    ]
    sometimes = (
        ("discard", preview.decisions_after, "decision"),
        ("undo", preview.tool_calls_after, "tool call"),
        ("invalidate", preview.child_plans_after, "child plan"),
        ("set aside", preview.checkpoints_after, "checkpoint"),
    )
    return always + [f"{verb} {counted(count, noun)}" for verb, count, noun in sometimes if count]


def _brought_back(rollback: Rollback) -> list[str]:
    nouns = {
        "decision": rollback.decisions_brought_back,
        "tool call": rollback.tool_calls_brought_back,
        "child plan": rollback.child_plans_brought_back,
    }
    return [counted(count, noun) for noun, count in nouns.items() if count]


def _data(rollback: Rollback, impact: Mapping[str, object]) -> dict[str, object]:
    return {
        "rollback_summary": {
            "plan": rollback.plan_id,
            "checkpoint": rollback.checkpoint.id,
            "label": rollback.label,
            "files_reverted": len(rollback.changes),
        },
        "changes_reverted": changes_data(rollback.changes),
        "impact": impact,
        "post_rollback_state": {
            "phase": rollback.phase,
            "state": _state(rollback.state),
            "checkpoints_remaining": rollback.checkpoints_remaining,
        },
        "brought_back": {
            "decisions": rollback.decisions_brought_back,
            "tool_calls": rollback.tool_calls_brought_back,
            "child_plans": rollback.child_plans_brought_back,
        },
        "effects_not_undone": effects_data(rollback.effects_not_undone),
        "in_place": rollback.in_place,
        "commits_kept": list(rollback.commits_kept),
        "left_alone": UNCAPTURED.list(rollback.left_alone),
        "special_files_replaced": UNCAPTURED.list(rollback.replaced),
    }


def _summary(rollback: Rollback, would: str) -> tuple[tuple[str, str], ...]:
    reversed_note = rollback.takes_back.note if rollback.takes_back else rollback.what
    taken_back = [("Reverses", reversed_note)] if reversed_note else []
    done = "reverted" if _is_rollback(rollback) else "changed"
    return (
        ("Plan", rollback.plan_id),
        *taken_back,
        ("Checkpoint", rollback.checkpoint.id),
        ("Label", rollback.label),
        ("Files", f"{len(rollback.changes)} {would}{done}"),
    )


def _impact(
    rollback: Rollback, impact: Mapping[str, object], would: str
) -> tuple[tuple[str, str], ...]:
    later = _is_rollback(rollback)
    back = _brought_back(rollback)
    return (
        ("Child Plans", f"{impact['child_plans_invalidated']} {would}invalidated"),
        ("Sandbox", str(impact["sandbox"])),
        ("Later decisions" if later else "Decisions", str(impact["decisions_after_cp"])),
        ("Later tool calls" if later else "Tool Calls", str(impact["tool_calls_after_cp"])),
        *((("Reinstated", joined(back)),) if back else ()),
    )


def state_rows(rollback: Rollback) -> tuple[tuple[str, str], ...]:
    return (
        ("Phase", rollback.phase.value),
        ("State", _state(rollback.state)),
        ("Checkpoints Remaining", str(rollback.checkpoints_remaining)),
    )


def _next(result: RollbackResult) -> tuple[tuple[str, str], ...]:
    act = "redo" if result.kind is OperationKind.UNDO else "undo"
    rows = [(f"{act.capitalize()} it", f"agents plan {act} {result.plan_id}")]
    if result.in_place is not None:
        rows.append(("See the checkpoints", f"agents plan rollback {result.plan_id}"))
    elif result.state is PlanState.COMPLETE:
        rows.append(("Apply it to the project", f"agents plan apply {result.plan_id}"))
    elif result.state not in (PlanState.CANCELLED, PlanState.PROCESSING):
        # What is processed again is a session whose command runs: nobody has to continue it.
        rows.append(("Continue from here", f"agents plan execute {result.plan_id}"))
    return tuple(rows)


def _command(preview: RollbackPreview, part: str) -> str:
    command = f"agents plan {preview.kind.value} {preview.plan_id}"
    return f"{command} {part or preview.checkpoint.id}" if _is_rollback(preview) else command


def _name(rollback: Rollback) -> str:
    return rollback.kind.value.capitalize()


def _is_rollback(rollback: Rollback) -> bool:
    """Whether this is a rollback rather than an undo or a redo, which are worded differently."""
    return rollback.kind is OperationKind.ROLLBACK


def _state(state: PlanState) -> str:
    return AWAITING if state is PlanState.QUEUED else state.value
