"""Plans: one by one and as lists, and what they changed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from cleveragents.application.services.plan_service import PlanStatus
from cleveragents.domain.apply import ApplyRecord
from cleveragents.domain.checkpoint import Checkpoint
from cleveragents.domain.plan import Plan, PlanPhase, PlanState
from cleveragents.domain.sandbox import DiffFile, FilePatch, SandboxRef, TreeDiff
from cleveragents.reports.conflicts import conflict_data
from cleveragents.reports.report import Fields, Report, Section, Table, Text
from cleveragents.reports.words import moment, readable, with_article


def plan_data(status: PlanStatus) -> dict[str, object]:
    """Returns the fields of `plan run`, `use`, `execute` and `status`: a stable contract."""
    plan = status.plan
    sandboxes = [_sandbox_data(sandbox) for sandbox in status.sandboxes]
    return {
        "plan_id": plan.id,
        "name": plan.name,
        "action": plan.name,
        "phase": plan.phase.value,
        "state": plan.state.value,
        "project": plan.project,
        "plan_file": plan.plan_file,
        "arguments": plan.arguments,
        "include_uncommitted": any(item.include_uncommitted for item in status.resources),
        "attempt": plan.attempt,
        "steps": len(plan.step_sequence),
        "last_completed_step": plan.last_completed_step,
        "last_checkpoint_id": plan.last_checkpoint_id,
        "progress": [{"step": name, "status": state} for name, state in _progress(plan).items()],
        "timing": {
            "created": moment(plan.created_at),
            "started": moment(plan.started_at),
            "finished": moment(plan.finished_at),
        },
        "execution": {
            "sandbox": sandboxes[0] if sandboxes else None,
            "sandboxes": sandboxes,
            "tool_calls": sum(1 for call in status.tool_calls if call.undone_by is None),
            "files_modified": status.files_modified,
            "child_plans": _child_plans(status.children),
            "checkpoints": len(status.checkpoints),
        },
        "checkpoints": [
            {
                "checkpoint_id": item.id,
                "label": item.metadata.label,
                "created_at": moment(item.created_at),
            }
            for item in status.checkpoints
        ],
        "validations": [
            {"name": item.name, "mode": item.mode.value, "status": item.status.value}
            for item in status.validations
        ],
        "applied": None if status.applied is None else _applied_data(status.applied),
        "parent_plan_id": plan.parent_plan_id,
        "children": [
            {
                "plan_id": child.id,
                "name": child.name,
                "phase": child.phase.value,
                "state": child.state.value,
            }
            for child in status.children
        ],
        "conflicts": [conflict_data(item) for item in status.conflicts],
        "cancel_reason": plan.cancel_reason,
        "held_by": str(status.holder) if status.holder else None,
        "interrupted": _is_interrupted(status),
        "interrupted_operation": status.interrupted.id if status.interrupted else None,
        "error": plan.error.model_dump(mode="json") if plan.error else None,
    }


def _child_plans(children: Sequence[Plan]) -> str:
    """Counts the children that were not given up."""
    done = (PlanState.COMPLETE, PlanState.APPLIED)
    states = [child.state for child in children if child.state is not PlanState.CANCELLED]
    return f"{sum(state in done for state in states)}/{len(states)} complete"


def _applied_data(applied: ApplyRecord) -> dict[str, object]:
    return {
        "mode": applied.mode.value,
        "targets": [
            {
                "resource": target.resource,
                "path": target.path,
                "commit": target.commit,
                "branch": target.branch,
                "files": len(target.files),
            }
            for target in applied.targets
        ],
    }


def _is_interrupted(status: PlanStatus) -> bool:
    """A plan under way that no process works on was left behind by one that ended."""
    return status.plan.state is PlanState.PROCESSING and status.holder is None


def plan_report(status: PlanStatus, messages: tuple[str, ...] = ()) -> Report:
    plan = status.plan
    done = f"{plan.last_completed_step + 1} of {len(plan.step_sequence)}"
    rows = [
        ("plan", plan.id),
        ("name", plan.name),
        ("project", plan.project),
        ("phase", plan.phase.value),
        ("state", plan.state.value),
        ("steps done", done),
        ("checkpoints", str(len(status.checkpoints))),
        ("last checkpoint", plan.last_checkpoint_id or "none yet"),
    ]
    rows += [("sandbox", sandbox.path) for sandbox in status.sandboxes]
    rows += [
        ("validation", f"{item.name} ({item.mode.value}): {item.status.value}")
        for item in status.validations
    ]
    if plan.parent_plan_id is not None:
        rows.append(("part of", plan.parent_plan_id))
    rows += [
        ("subplan", f"{child.name}: {child.phase.value}/{child.state.value} ({child.id})")
        for child in status.children
        if child.state is not PlanState.CANCELLED
    ]
    rows += [
        ("conflict", f"{item.conflict.path} (subplan {item.name})") for item in status.conflicts
    ]
    if status.applied is not None:
        rows += [("applied to", target.path) for target in status.applied.targets]
    if plan.cancel_reason:
        rows.append(("cancelled", plan.cancel_reason))
    if status.holder is not None:
        rows.append(("held by", str(status.holder)))
    if _is_interrupted(status):
        verb = "apply" if plan.phase is PlanPhase.APPLY else "resume"
        rows.append(("interrupted", f"run `agents plan {verb} {plan.id}` to go on"))
    if status.interrupted is not None:
        kind, operation = status.interrupted.kind.value, status.interrupted.id
        rows.append(("interrupted", f"{with_article(kind)} began and was not ended: {operation}"))
    sections: list[Section] = [Fields("Plan", tuple(rows))]
    if plan.error is not None:
        sections.append(
            Fields(
                "Error",
                (
                    ("step", plan.error.step),
                    ("tool", plan.error.tool or ""),
                    ("message", plan.error.message),
                    ("failed state", plan.error.checkpoint or "not kept"),
                ),
            )
        )
    return Report(plan_data(status), tuple(sections), messages)


def plan_list_report(plans: Sequence[Plan], filters: Mapping[str, str | None]) -> Report:
    states = [plan.state for plan in plans if plan.phase is not PlanPhase.STRATEGIZE]
    data: dict[str, object] = {
        "plans": [
            {
                "id": plan.id,
                "name": plan.name,
                "action": plan.name,
                "phase": plan.phase.value,
                "state": plan.state.value,
                "project": plan.project,
                "created_at": moment(plan.created_at),
                "updated_at": moment(plan.updated_at),
                "last_checkpoint_id": plan.last_checkpoint_id,
                "parent_plan_id": plan.parent_plan_id,
            }
            for plan in plans
        ],
        "filters": dict(filters),
        "summary": {
            "total": len(plans),
            "processing": states.count(PlanState.PROCESSING),
            "completed": states.count(PlanState.COMPLETE),
            "errored": states.count(PlanState.ERRORED),
        },
    }
    table = Table(
        "Plans",
        ("Plan", "Name", "Phase", "State", "Project", "Created (UTC)"),
        tuple(
            (
                plan.id,
                plan.name,
                plan.phase.value,
                plan.state.value,
                plan.project,
                readable(plan.created_at),
            )
            for plan in plans
        ),
        empty="There are no plans yet. `agents plan run plan.yaml` makes one.",
    )
    return Report(data, (table,))


def diff_report(plan: Plan, old: Checkpoint, new: Checkpoint, diff: TreeDiff) -> Report:
    insertions = sum(item.insertions or 0 for item in diff.files)
    deletions = sum(item.deletions or 0 for item in diff.files)
    data: dict[str, object] = {
        "diff_summary": {
            "plan": plan.id,
            "project": plan.project,
            "from": old.id,
            "to": new.id,
            "files_changed": len(diff.files),
            "insertions": insertions,
            "deletions": deletions,
            "net_change": insertions - deletions,
            "applied": plan.is_applied,
        },
        "files": [
            {
                "path": item.path,
                "change": _change(item),
                "status": item.status,
            }
            for item in diff.files
        ],
        "patch_preview": [{"file": item.path, "hunks": _hunks(item)} for item in diff.patches],
        "patch_truncated": diff.patch_truncated,
    }
    rows = tuple((item.path, item.status, _change(item)) for item in diff.files)
    table = Table(
        f"From `{old.metadata.label}` to `{new.metadata.label}`",
        ("File", "Status", "Lines"),
        rows,
        empty="Nothing differs.",
    )
    sections: list[Section] = [table]
    if diff.patches:
        sections.append(Text("Patch", diff.patch))
    warnings = ("The patch is too long and was cut",) if diff.patch_truncated else ()
    is_result = plan.is_applied and new.id == plan.last_checkpoint_id
    messages = ("This was applied to the project",) if is_result else ()
    return Report(data, tuple(sections), messages, warnings=warnings)


def _sandbox_data(sandbox: SandboxRef) -> dict[str, object]:
    return {
        "resource": sandbox.resource,
        "strategy": sandbox.strategy.value,
        "path": sandbox.path,
        "branch": sandbox.branch,
        "status": sandbox.state.value,
        "copy": sandbox.copied_by,
        "skipped": [item.model_dump() for item in sandbox.skipped],
    }


def _progress(plan: Plan) -> dict[str, str]:
    """Returns how each phase stands: done, at the plan's state, or still to come."""
    phases = list(PlanPhase)
    at = phases.index(plan.phase)
    return {
        phase.value.capitalize(): "complete"
        if position < at
        else plan.state.value
        if position == at
        else "pending"
        for position, phase in enumerate(phases)
    }


def _change(item: DiffFile) -> str:
    if item.path.endswith("/"):
        return ""
    return "binary" if item.insertions is None else f"+{item.insertions} -{item.deletions}"


def _hunks(patch: FilePatch) -> list[str]:
    """Returns the hunks of one section of a patch: in it, only a hunk begins with `@@`."""
    return re.split(r"^(?=@@ )", patch.text, flags=re.MULTILINE)[1:]
