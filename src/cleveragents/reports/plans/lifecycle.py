"""Plans that stopped early: where they resume, and what the user can do."""

from __future__ import annotations

from collections.abc import Sequence

from cleveragents.application.services.plan_resume_service import ResumeSummary
from cleveragents.application.services.plan_service import Cancellation, PlanProblems, PlanStatus
from cleveragents.domain.plans.plan import PlanState
from cleveragents.domain.plans.recovery import RecoveryHint
from cleveragents.domain.plans.validation import ValidationResult
from cleveragents.domain.sandboxes.sandbox import SandboxRef, SandboxState
from cleveragents.domain.tools.tool import ToolCall
from cleveragents.domain.wording import counted
from cleveragents.reports.checkpoints.restores import effects_data
from cleveragents.reports.described import Description, Field
from cleveragents.reports.plans.conflicts import CONFLICT, conflict_table
from cleveragents.reports.report import UNCHANGED, Commands, Fields, Report, Section, paragraph

_SENTENCES = {
    "complete": "The plan is complete: there is nothing to resume",
    "cancelled": "The plan is cancelled; roll it back to a checkpoint to continue it",
    "applied": "The plan is applied: there is nothing to resume",
    "constrained": "A validation failed; apply the plan again, or roll it back",
    "in_apply": "The plan has run; apply it again",
    "held": "Another process is working on the plan",
}

_CALL = Description[ToolCall](
    Field("tool_call_id", None, lambda it: it.id),
    Field("step_index", "Step", lambda it: it.step_index, lambda it: str(it.step_index + 1)),
    Field("tool", "Tool", lambda it: it.tool),
    Field(
        "message",
        "What happened",
        lambda it: it.error,
        lambda it: " ".join((it.error or "").split()),
    ),
    Field("output", None, lambda it: it.output),
    Field("started_at", "When (UTC)", lambda it: it.started_at),
    Field("finished_at", None, lambda it: it.finished_at),
    Field("undone", None, lambda it: it.undone_by is not None),
)

_VALIDATION = Description[ValidationResult](
    Field("validation_id", None, lambda it: it.id),
    Field("name", "Validation", lambda it: it.name),
    Field("mode", "Mode", lambda it: it.mode),
    Field(
        "message",
        "What happened",
        lambda it: it.message,
        lambda it: " ".join((it.message or "").split()),
    ),
    Field("output", None, lambda it: it.output),
    Field("started_at", "When (UTC)", lambda it: it.started_at),
    Field("finished_at", None, lambda it: it.finished_at),
)

_HINT = Description[RecoveryHint](
    Field("action", None, lambda it: it.action),
    Field("message", None, lambda it: it.message),
    Field("cli_command", None, lambda it: it.cli_command),
)


def resume_report(summary: ResumeSummary) -> Report:
    """The dry run: where the plan would resume."""
    plan, point = summary.plan, summary.checkpoint
    data: dict[str, object] = {
        "plan_id": plan.id,
        "dry_run": True,
        "eligible": summary.eligible,
        "reason": summary.reason,
        "phase": plan.phase,
        "state": plan.state,
        "next_step": summary.next_step,
        "step_name": summary.step_name,
        "steps": len(plan.step_sequence),
        "decision_id": summary.decision.id if summary.decision else None,
        "checkpoint": point.id if point else None,
        "checkpoint_label": point.metadata.label if point else None,
        "drifted": list(summary.drifted),
        "effects_to_repeat": effects_data(summary.effects),
        "interrupted_operation": summary.operation.id if summary.operation else None,
        "held_by": str(summary.holder) if summary.holder else None,
    }
    rows = [
        ("plan", plan.id),
        ("phase", plan.phase.value),
        ("state", plan.state.value),
        ("next step", _next_step(summary)),
        ("checkpoint", f"{point.id} ({point.metadata.label})" if point else "none yet"),
    ]
    if summary.drifted:
        changed = ", ".join(summary.drifted)
        rows.append(("changed since", f"{changed}: would be saved and reverted"))
    if summary.operation is not None:
        rows.append(
            (
                "interrupted",
                f"the {summary.operation.kind.value} {summary.operation.id} is finished first",
            )
        )
    if summary.effects:
        rows.append(("would be repeated", ", ".join(str(effect) for effect in summary.effects)))
    warnings = () if summary.eligible else (_SENTENCES.get(summary.reason, summary.reason),)
    section = Fields("Resume", tuple(rows))
    return Report(data, (section,), (UNCHANGED,), did_something=False, warnings=warnings)


def resume_sentence(summary: ResumeSummary) -> str:
    """Returns the text shown before the run continues."""
    point = summary.checkpoint
    where = f" from the checkpoint `{point.metadata.label}` ({point.id})" if point else ""
    return f"Resuming{where}: {_next_step(summary)}"


def _next_step(summary: ResumeSummary) -> str:
    if not summary.eligible:
        return "none"
    if summary.step_name is None:
        return "only the last checkpoint is missing"
    return f"step {summary.next_step + 1} of {len(summary.plan.step_sequence)}: {summary.step_name}"


def _in_state(status: PlanStatus, state: PlanState) -> int:
    return sum(child.state is state for child in status.children)


def cancel_report(cancelled: Cancellation) -> Report:
    status, plan = cancelled.status, cancelled.status.plan
    # What is not private is the project itself: it is neither kept nor discarded.
    private = [item for item in status.sandboxes if item.strategy.is_private]
    kept = [item for item in private if item.state is not SandboxState.CLEANED_UP]
    discarded = bool(private) and not kept
    recovery = [f"agents plan rollback {plan.id}"] if status.checkpoints else []
    data: dict[str, object] = {
        "plan_id": plan.id,
        "phase": plan.phase,
        "state": plan.state,
        "reason": plan.cancel_reason,
        "cancelled_at": plan.updated_at,
        "sandbox": {
            "status": _sandbox_status(status, kept),
            "paths": [sandbox.path for sandbox in kept],
            "files_modified": status.files_modified,
            "checkpoints": len(status.checkpoints),
        },
        "child_plans": {
            "completed": _in_state(status, PlanState.COMPLETE),
            "cancelled": _in_state(status, PlanState.CANCELLED),
            "artifacts_preserved": cancelled.files_kept_by_children,
        },
        "recovery": recovery,
    }
    rows = [("plan", plan.id), ("state", f"{plan.phase.value}/{plan.state.value}")]
    if plan.cancel_reason:
        rows.append(("reason", plan.cancel_reason))
    rows += [("sandbox kept", sandbox.path) for sandbox in kept]
    if discarded:
        rows.append(("sandbox", "discarded; the checkpoints are kept"))
    if plan.state is PlanState.APPLIED:
        done = "Sandbox removed; the plan is applied"
        return Report(data, (Fields("Discarded", tuple(rows)),), (done,))
    sections: list[Section] = [Fields("Cancelled", tuple(rows))]
    if recovery:
        reason = "Rebuild the sandbox from a checkpoint" if discarded else "Continue it"
        sections.append(Commands("Next", tuple((reason, command) for command in recovery)))
    return Report(data, tuple(sections), (_cancelled(cancelled, discarded=discarded),))


def _cancelled(cancelled: Cancellation, *, discarded: bool) -> str:
    if not cancelled.was_cancelled:
        return "Plan cancelled"
    return "The plan was already cancelled; its sandbox is " + (
        "discarded" if discarded else "kept"
    )


def discard_text(status: PlanStatus) -> str | None:
    """Returns the text shown before the user confirms; None if there is nothing to discard."""
    kept = [
        item
        for item in status.sandboxes
        if item.state is not SandboxState.CLEANED_UP and item.strategy.is_private
    ]
    if not kept:
        return None
    files, count = counted(status.files_modified, "file"), len(status.checkpoints)
    return "\n".join(
        [
            f"Discarding would remove the sandbox, with {files} that the plan changed:",
            *(f"  {item.path}" for item in kept),
            f"{counted(count, 'checkpoint')} would be kept; a rollback to one of them creates "
            "the sandbox again, without what no checkpoint has.",
        ]
    )


def _sandbox_status(status: PlanStatus, kept: Sequence[SandboxRef]) -> str | None:
    if not any(item.strategy.is_private for item in status.sandboxes):
        return None
    return "preserved" if kept else "removed"


def errors_report(problems: PlanProblems) -> Report:
    plan = problems.status.plan
    data: dict[str, object] = {
        "plan_id": plan.id,
        "phase": plan.phase,
        "state": plan.state,
        "error": plan.error.model_dump(mode="json") if plan.error else None,
        "errors": _CALL.list(problems.failed_calls),
        "conflicts": CONFLICT.list(problems.status.conflicts),
        "recovery_hints": _HINT.list(problems.hints),
        "validations": _VALIDATION.list(problems.failed_validations),
    }
    sections: list[Section] = []
    if plan.error is not None:
        rows = [("step", plan.error.step), ("tool", plan.error.tool or "")]
        rows += paragraph("message", plan.error.message)
        if plan.error.hint:
            rows.append(("hint", plan.error.hint))
        rows.append(("failed state", plan.error.checkpoint or "not kept"))
        sections.append(Fields("Error", tuple(rows)))
    if problems.status.conflicts:
        several = len(problems.status.sandboxes) > 1
        sections.append(conflict_table(problems.status.conflicts, several=several))
    columns = ("Step", "Tool", "When (UTC)", "What happened")
    calls = _CALL.table(
        "Failed Calls", problems.failed_calls, columns, empty="No tool call of this plan failed."
    )
    hints = Commands(
        "What You Can Do",
        tuple((it.action.value, it.message, it.cli_command) for it in problems.hints),
    )
    validations: list[Section] = []
    if problems.failed_validations:
        columns = ("Validation", "Mode", "When (UTC)", "What happened")
        validations.append(
            _VALIDATION.table("Failed Validations", problems.failed_validations, columns)
        )
    return Report(data, (*sections, calls, *validations, hints))
