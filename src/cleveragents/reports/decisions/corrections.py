"""Corrections: what one would do, and what it did."""

from __future__ import annotations

from collections.abc import Sequence

from cleveragents.application.services.correction_service import (
    AppendRequest,
    AppendResult,
    CorrectionComparison,
    CorrectionPreview,
    PromptResult,
    RevertResult,
)
from cleveragents.domain.checkpoints.operation import RollbackPreview, RollbackResult
from cleveragents.domain.decisions.correction import CorrectionAttempt, RevertedDecision
from cleveragents.domain.plans.plan import Plan
from cleveragents.domain.wording import counted, first_lines, joined
from cleveragents.reports.checkpoints.checkpoint import UNCAPTURED
from cleveragents.reports.checkpoints.restores import (
    VERIFIED,
    change_lines,
    changes_data,
    changes_done,
    changes_to_do,
    effects_data,
    left_alone,
    not_undone,
    remarks,
    replaced,
)
from cleveragents.reports.checkpoints.rollbacks import state_rows
from cleveragents.reports.decisions.decision import DECISION
from cleveragents.reports.described import Description, Field
from cleveragents.reports.plans import diffs
from cleveragents.reports.report import UNCHANGED, Commands, Fields, Report

_COLUMNS = ("Decision", "Question", "Chosen")
_HINT = "run the same command without --dry-run"
_NONE = "None: the plan's prompt itself is kept."

_CORRECTION = Description[CorrectionAttempt](
    Field("correction_id", None, lambda it: it.id),
    Field("mode", None, lambda it: it.mode),
    Field("new_decision", None, lambda it: it.new_decision_id),
    Field("corrects", None, lambda it: it.original_decision_id),
    Field("attempt", None, lambda it: it.attempt),
    Field("guidance", None, lambda it: it.guidance),
    Field("choose", None, lambda it: it.choose),
)

_ATTEMPT = _CORRECTION.with_fields(
    Field("state", None, lambda it: it.state),
    Field("child_plan_id", None, lambda it: it.child_plan_id),
    Field("archived_checkpoint_id", None, lambda it: it.archived_checkpoint_id),
    Field("archived_artifacts_path", None, lambda it: it.archived_artifacts_path),
    Field("created_at", None, lambda it: it.created_at),
    Field("completed_at", None, lambda it: it.completed_at),
)

_SUPERSEDED = Description[RevertedDecision](
    Field(None, "Decision", lambda it: it.decision_id),
    Field(None, "Question", lambda it: it.question),
    Field(None, "Chosen", lambda it: it.chosen),
)


def preview_report(preview: CorrectionPreview, guidance: str, choose: str | None) -> Report:
    """The dry run of a revert."""
    rollback = preview.rollback
    data: dict[str, object] = {
        "dry_run": True,
        "correction": {
            "mode": "revert",
            "impact": f"{counted(len(preview.affected), 'decision')} would be superseded",
            "new_decision": None,
            "corrects": preview.decision.id,
            "attempt": preview.plan.attempt + 1,
            "guidance": guidance,
            "choose": choose,
        },
        "affected_subtree": {
            "decisions_invalidated": len(preview.affected),
            "child_plans_rolled_back": rollback.child_plans_after,
            "artifacts_archived": list(preview.artifacts),
            "unaffected_decisions": len(preview.unaffected),
        },
        "decisions_to_invalidate": DECISION.list(preview.affected),
        "excluded_decisions": DECISION.list(preview.unaffected),
        "sandbox_rollback": {
            "checkpoint": rollback.checkpoint.id,
            "files_reverted": len(rollback.changes),
            "status": "would be restored",
        },
        "estimated_recompute_time_seconds": round(preview.seconds, 3),
        "phase_transition_target": rollback.phase.value,
        **_rollback_data(rollback),
        "hint": _HINT,
    }
    sections = (
        Fields(
            "Correction Preview",
            (
                ("Plan", preview.plan.id),
                ("Corrects", preview.decision.question),
                *_course(guidance, choose, preview.plan.attempt + 1),
                *_target(rollback),
                ("Files", f"{len(rollback.changes)} would be reverted"),
                ("Tool Calls", f"{rollback.tool_calls_after} would be undone"),
                ("Child Plans", f"{rollback.child_plans_after} would be rolled back"),
                ("Decisions", _decisions("would be ", preview.affected, preview.unaffected)),
                ("Steps To Repeat", f"took {preview.seconds:.1f} s last time"),
            ),
        ),
        DECISION.table(
            "Decisions That Would Be Superseded", preview.affected, _COLUMNS, empty=_NONE
        ),
        changes_to_do(rollback.changes),
        *left_alone(rollback.left_alone),
        *replaced(rollback.replaced),
        Commands("Next", (("Do it", _HINT),)),
    )
    warnings = not_undone(rollback)
    return Report(data, sections, (UNCHANGED,), did_something=False, warnings=warnings)


def preview_text(preview: CorrectionPreview) -> str:
    """Returns the text shown before the user confirms."""
    rollback = preview.rollback
    consequences = [
        f"roll back to `{rollback.checkpoint.metadata.label}`",
        f"revert {counted(len(rollback.changes), 'path')}",
        f"undo {counted(rollback.tool_calls_after, 'tool call')}",
    ]
    if rollback.child_plans_after:
        consequences.append(f"roll back {counted(rollback.child_plans_after, 'child plan')}")
    consequences.append(f"supersede {counted(len(preview.affected), 'decision')}")
    lines = [
        f"Correcting `{preview.decision.question}` would {joined(consequences)}.",
        *first_lines([f"{item.question}: {item.chosen_option}" for item in preview.affected]),
        *change_lines(rollback.changes),
        *remarks(rollback),
    ]
    return "\n".join(lines)


def revert_report(done: RevertResult, history: Sequence[CorrectionAttempt]) -> Report:
    attempt, rollback = done.attempt, done.rollback
    superseded = attempt.original_subtree
    artifacts = sorted({path for item in superseded for path in item.artifacts})
    data: dict[str, object] = {
        "correction": {
            **_CORRECTION.data(attempt),
            "impact": f"{counted(len(superseded), 'decision')} superseded",
        },
        "affected_subtree": {
            "decisions_invalidated": len(superseded),
            "child_plans_rolled_back": rollback.child_plans_invalidated,
            "artifacts_archived": artifacts,
            "unaffected_decisions": len(done.unaffected),
        },
        "sandbox_rollback": {
            "checkpoint": done.plan.last_checkpoint_id,
            "files_reverted": len(rollback.changes),
            "status": "restored",
        },
        "recompute": {"queued": True, "eta": round(done.seconds, 3)},
        "history": _ATTEMPT.list(history),
        "checkpoint_restored": done.plan.last_checkpoint_id,
        "actor_state_ref": done.plan.last_checkpoint_id,
        "archived_checkpoint_id": attempt.archived_checkpoint_id,
        "user_intervention_decision_id": attempt.new_decision_id,
        "phase_transition_target": done.plan.phase.value,
        "verified": rollback.verified,
        **_rollback_data(rollback),
    }
    sections = (
        Fields(
            "Correction",
            (
                ("Plan", done.plan.id),
                ("Corrects", done.decision.question),
                *_course(attempt.guidance, attempt.choose, attempt.attempt),
                *_target(rollback),
                ("Files", f"{len(rollback.changes)} reverted"),
                ("Tool Calls", f"{rollback.tool_calls_undone} undone"),
                ("Child Plans", f"{rollback.child_plans_invalidated} rolled back"),
                ("Decisions", _decisions("", superseded, done.unaffected)),
            ),
        ),
        _SUPERSEDED.table("Decisions Superseded", superseded, _COLUMNS, empty=_NONE),
        changes_done("Changes Reverted", rollback.changes),
        Fields("Post-Correction State", (*state_rows(rollback), VERIFIED)),
        *left_alone(rollback.left_alone),
        *replaced(rollback.replaced),
        Commands(
            "Next",
            (
                ("Continue with it", f"agents plan execute {done.plan.id}"),
                ("Compare with before", f"agents plan diff --correction {attempt.id}"),
                ("Undo it", f"agents plan undo {done.plan.id}"),
            ),
        ),
    )
    warnings = not_undone(rollback)
    return Report(data, sections, ("Correction complete",), warnings=warnings)


def append_preview_report(work: AppendRequest) -> Report:
    """The dry run of an append."""
    decision, steps = work.decision, work.more.steps if work.more else []
    data: dict[str, object] = {
        "dry_run": True,
        "correction": {
            "mode": "append",
            "impact": "none: nothing is computed again",
            "new_decision": None,
            "corrects": decision.id,
            "guidance": work.guidance,
            "choose": work.choose,
        },
        "steps": [step.name for step in steps],
        "hint": _HINT,
    }
    rows = (
        ("Plan", decision.plan_id),
        ("Adds To", decision.question),
        ("Guidance", work.guidance),
        *(("Step", step.name) for step in steps),
    )
    sections = (Fields("Correction Preview", rows), Commands("Next", (("Do it", _HINT),)))
    return Report(data, sections, (UNCHANGED,), did_something=False)


def append_text(work: AppendRequest) -> str:
    """Returns the text shown before the user confirms."""
    if work.more is None:
        return "This would only create a child plan with the guidance as its prompt."
    steps = counted(len(work.more.steps), "step")
    return f"This would add {steps} at the end of the plan, in a child plan. Nothing runs again."


def append_report(done: AppendResult) -> Report:
    attempt, child, plan = done.attempt, done.child.id, done.plan
    runs = bool(done.child.definition.steps)
    note = (
        f"the child plan runs when {plan.id} is executed, and its result is added to the plan"
        if runs
        else "the child plan has the guidance as its prompt, and no steps"
    )
    following = [("Show it", f"agents plan status {child}")]
    if runs:
        following.insert(0, ("Run it", f"agents plan execute {plan.id}"))
    following.append(("Cancel it", f"agents plan cancel {child}"))
    data: dict[str, object] = {
        "correction": {
            **_CORRECTION.data(attempt),
            "impact": "none: nothing is computed again",
        },
        "append_detail": {
            "original_decision_preserved": True,
            "existing_artifacts_kept": True,
            "additional_work": attempt.guidance,
            "note": note,
        },
        "queued": {"new_child": child, "eta": done.seconds},
        "user_intervention_decision_id": attempt.new_decision_id,
        "phase_transition_target": plan.phase.value if runs else None,
    }
    sections = (
        Fields(
            "Correction",
            (
                ("Plan", attempt.plan_id),
                ("Adds To", done.decision.question),
                ("Guidance", attempt.guidance),
                ("Child Plan", child),
                *(("Step", step.name) for step in done.child.definition.steps),
            ),
        ),
        Commands("Next", tuple(following)),
    )
    return Report(data, sections, ("Child plan created",))


def prompt_report(done: PromptResult) -> Report:
    decision = done.decision
    data: dict[str, object] = {
        "guidance_added": {
            "plan": done.plan.id,
            "guidance": decision.chosen_option,
            "scope": "plan",
            "phase": done.plan.phase.value,
            "state_transition": None,
        },
        "decision_created": {
            "type": decision.decision_type.value,
            "id": decision.id,
            "parent": decision.parent_id,
        },
        "queue": {"pending": done.pending, "applied": done.applied},
    }
    rows = (("Plan", done.plan.id), ("Guidance", decision.chosen_option), ("Decision", decision.id))
    return Report(data, (Fields("Guidance", rows),), ("Guidance recorded",))


def diff_report(plan: Plan, comparison: CorrectionComparison) -> Report:
    """Compares the plan with its state before a correction."""
    found = diffs.diff_report(plan, comparison.before, comparison.after, comparison.difference)
    files = comparison.difference.files
    data: dict[str, object] = {
        **found.data,
        "correction": _ATTEMPT.data(comparison.attempt),
        "files_changed": len(files),
        "new_insertions": sum(item.insertions or 0 for item in files),
        "new_deletions": sum(item.deletions or 0 for item in files),
    }
    return Report(data, found.sections, warnings=found.warnings)


def _rollback_data(rollback: RollbackPreview | RollbackResult) -> dict[str, object]:
    return {
        "changes_reverted": changes_data(rollback.changes),
        "effects_not_undone": effects_data(rollback.effects_not_undone),
        "left_alone": UNCAPTURED.list(rollback.left_alone),
        "special_files_replaced": UNCAPTURED.list(rollback.replaced),
    }


def _course(guidance: str, choose: str | None, attempt: int) -> tuple[tuple[str, str], ...]:
    """Returns rows for what the user wants instead."""
    now = choose or "to be decided again"
    return (("Now", now), ("Guidance", guidance), ("Attempt", str(attempt)))


def _target(rollback: RollbackPreview | RollbackResult) -> tuple[tuple[str, str], ...]:
    """Returns rows for the checkpoint that is restored."""
    checkpoint = rollback.checkpoint
    return (("Checkpoint", checkpoint.id), ("Label", checkpoint.metadata.label))


def _decisions(would: str, superseded: Sequence[object], unaffected: Sequence[object]) -> str:
    return f"{len(superseded)} {would}superseded, {len(unaffected)} unaffected"
