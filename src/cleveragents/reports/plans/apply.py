"""Applies: what one would do, and what it did."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from cleveragents.application.services.plan_service import PlanStatus
from cleveragents.domain.plans.apply import (
    ApplyMode,
    ApplyPreview,
    ApplyResult,
    LeftOut,
    LeftOutFile,
    Target,
)
from cleveragents.domain.plans.plan import Plan
from cleveragents.domain.plans.validation import ValidationResult, ValidationStatus
from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import DiffFile, SandboxRef
from cleveragents.domain.sandboxes.uncaptured import ReasonKind, reason_from
from cleveragents.domain.wording import counted, first_lines, listed, size
from cleveragents.reports.described import Description, Field
from cleveragents.reports.plans.diffs import FILE, change
from cleveragents.reports.plans.plan import requirements_data
from cleveragents.reports.report import UNCHANGED, Commands, Fields, Report, Section

_SKIPPED = 3
_SHORT_COMMIT = 12
_ADD_THEM = (
    "Add `--include-ignored PATTERN` or `--include-ignored all` to apply them too; "
    "otherwise the sandbox is kept for them"
)
_SETTINGS = {
    ReasonKind.TOO_LARGE: "sandbox.checkpoint.max-file-size",
    ReasonKind.PLAN_LIMIT: "sandbox.checkpoint.max-size-per-plan",
    ReasonKind.OVERDUE: "sandbox.checkpoint.deadline",
}
"""The settings that keep files out of checkpoints."""

_PLACED = Description[tuple[Target, DiffFile]](
    Field(None, "Resource", lambda it: it[0].resource),
    Field(None, "File", lambda it: it[1].path),
    Field(None, "Status", lambda it: it[1].status),
    Field(None, "Lines", lambda it: change(it[1])),
)


def _reason(item: LeftOutFile) -> str:
    """Returns why a file is in no checkpoint, with the setting that decides about it."""
    setting = _SETTINGS.get(reason_from(item.reason).kind)
    return item.reason if setting is None else f"{item.reason}, see `{setting}`"


_LEFT_OUT = Description[LeftOutFile](
    Field("resource", "Resource", lambda it: it.resource),
    Field("path", "File", lambda it: it.path),
    Field("reason", "Reason", lambda it: it.reason, _reason),
    Field("size_bytes", "Size", lambda it: it.size_bytes, lambda it: size(it.size_bytes)),
)

_VALIDATION = Description[ValidationResult](
    Field("name", "Name", lambda it: it.name),
    Field("mode", "Mode", lambda it: it.mode),
    Field("status", "Status", lambda it: it.status),
    Field("message", None, lambda it: it.message),
    Field("output", None, lambda it: it.output),
    Field("changed", None, lambda it: it.changed),
    Field("duration_ms", "Duration (ms)", lambda it: it.duration_ms),
)


def preview_report(preview: ApplyPreview, status: PlanStatus) -> Report:
    """The dry run, in the form of the real report."""
    data = {**_data(preview, status, ()), "dry_run": True, "operation": None, "applied_at": None}
    sections = _sections(preview, (), "Apply Preview")
    warnings = [f"{_left_out_sentence(preview.left_out)}. {_ADD_THEM}"]
    return Report(
        data,
        sections,
        (UNCHANGED, *_to_judge(preview), *_rebuildable(preview.left_out)),
        warnings=tuple(warnings if preview.left_out.count else ()),
        did_something=False,
    )


def result_report(result: ApplyResult, status: PlanStatus) -> Report:
    sandboxes = "removed" if result.sandboxes_removed else "kept"
    has_branch = any(sandbox.branch for sandbox in status.sandboxes)
    data = {
        **_data(result, status, result.validations),
        "dry_run": False,
        "operation": result.operation_id,
        "applied_at": status.plan.finished_at,
        "sandbox_cleanup": {
            "worktree": sandboxes,
            "branch": sandboxes if has_branch else None,
            "checkpoint": "archived",
        },
    }
    sections = _sections(result, result.validations, "Apply Summary")
    warnings = [f"{problem}; run `agents gc` to try again" for problem in result.problems]
    if result.left_out.count:
        warnings.append(
            f"{_left_out_sentence(result.left_out)}. The sandbox is kept: copy what you need, "
            f"then remove it with `agents plan cancel {result.plan_id} --discard`"
        )
    return Report(
        data,
        (*sections, _cleanup(result, status), *_next(result)),
        (_sentence(result), *_rebuildable(result.left_out)),
        exit_code=_SKIPPED if warnings else 0,
        warnings=tuple(warnings),
    )


def preview_text(preview: ApplyPreview) -> str:
    """Returns the text shown before the user confirms."""
    several = len(preview.targets) > 1
    lines: list[str] = []
    for target in preview.targets:
        lines.append(f"{_what(target, preview.mode)}{_total(target)}")
        lines += first_lines([f"{item.status:<9} {item.path}" for item in target.files])
    if preview.validations:
        lines.insert(0, f"Validations run first: {', '.join(preview.validations)}")
    lines += _to_judge(preview)
    left_out = preview.left_out
    if left_out.count:
        lines.append(f"{_left_out_sentence(left_out)}:")
        lines += [
            f"  {_path(item, several=several)} ({_reason(item)}), {size(item.size_bytes)}"
            for item in left_out.files
        ]
        if left_out.count > len(left_out.files):
            lines.append(f"  … and {left_out.count - len(left_out.files)} more")
        lines.append(_ADD_THEM)
    lines += _rebuildable(left_out)
    return "\n".join(lines)


def _data(
    apply: ApplyPreview | ApplyResult, status: PlanStatus, results: Sequence[ValidationResult]
) -> dict[str, object]:
    plan, files = status.plan, [item for target in apply.targets for item in target.files]
    return {
        "plan_id": plan.id,
        "project": plan.project,
        "mode": apply.mode,
        "artifacts": len(files),
        "changes": {
            "insertions": sum(item.insertions or 0 for item in files),
            "deletions": sum(item.deletions or 0 for item in files),
        },
        "targets": [
            {
                "resource": target.resource,
                "type": target.type,
                "path": target.path,
                "commit": target.commit,
                "branch": target.branch,
                "files": FILE.list(target.files),
            }
            for target in apply.targets
        ],
        "left_out": {
            "count": apply.left_out.count,
            "size_bytes": apply.left_out.size_bytes,
            "files": _LEFT_OUT.list(apply.left_out.files),
            "rebuildable": apply.left_out.rebuildable,
        },
        "validation": {
            "passed": _count(results, ValidationStatus.PASSED),
            "failed": _count(results, ValidationStatus.FAILED),
            "duration_s": round(sum(item.duration_ms for item in results) / 1000, 3),
            "results": _VALIDATION.list(results),
        },
        "definition_of_done": requirements_data(status, plan.definition.definition_of_done),
        "invariants": requirements_data(status, plan.definition.invariants),
        "lifecycle": {
            "phase": plan.phase,
            "state": plan.state,
            "attempt": plan.attempt,
            "checkpoints": len(status.checkpoints),
            "total_duration": _seconds(plan),
            "decisions_made": status.decisions_made,
            "child_plans": len(status.children),
        },
    }


def _sections(
    apply: ApplyPreview | ApplyResult, results: Sequence[ValidationResult], title: str
) -> tuple[Section, ...]:
    rows = [(target.resource, _what(target, apply.mode)) for target in apply.targets]
    table = _PLACED.table(
        "Files",
        [(target, item) for target in apply.targets for item in target.files],
        ("Resource", "File", "Status", "Lines"),
        empty="No differences.",
        limited=True,
    )
    sections: list[Section] = [Fields(title, tuple(rows)), table]
    if apply.left_out.count:
        columns = ("Resource", "File", "Reason", "Size")
        sections.append(_LEFT_OUT.table("Not applied", apply.left_out.files, columns))
    if results:
        columns = ("Name", "Mode", "Status", "Duration (ms)")
        sections.append(_VALIDATION.table("Validation", results, columns))
    return tuple(sections)


def _cleanup(result: ApplyResult, status: PlanStatus) -> Section:
    rows = [(item.resource, _fate(result, item)) for item in status.sandboxes]
    rows.append(("checkpoints", f"{len(status.checkpoints)}, all kept"))
    return Fields("Sandbox Cleanup", tuple(rows))


def _next(result: ApplyResult) -> tuple[Section, ...]:
    """Returns the git commands that show the commits, and the command that undoes the apply."""
    rows: list[tuple[str, str]] = []
    for target in result.targets:
        if result.mode is ApplyMode.COMMIT and target.commit is not None:
            shown = f"git -C {shlex.quote(target.path)} show {target.commit[:_SHORT_COMMIT]}"
            rows.append(("Look at the commit", shown))
    if not any(target.document for target in result.targets):
        return ()
    rows.append(("Undo it", f"agents plan undo {result.plan_id}"))
    return (Commands("Next", tuple(rows)),)


def _fate(result: ApplyResult, sandbox: SandboxRef) -> str:
    if sandbox.strategy is SandboxStrategy.NONE:
        return "the resource itself"
    return "removed" if result.sandboxes_removed else f"kept: {sandbox.path}"


def _seconds(plan: Plan) -> float:
    """Returns the time from the creation of the plan to its end, or to its last change."""
    return round(((plan.finished_at or plan.updated_at) - plan.created_at).total_seconds(), 3)


def _what(target: Target, mode: ApplyMode) -> str:
    files = counted(len(target.files), "file")
    if not target.document:
        return f"{target.path}: nothing changes"
    if mode is ApplyMode.BRANCH:
        return f"{target.path}: {files} in the new branch {target.branch}"
    if target.commit is None:
        return f"{target.path}: {files}, not committed"
    return f"{target.path}: {files}, committed to {target.branch or 'the detached HEAD'}"


def _total(target: Target) -> str:
    """Returns how many lines change, if any of the files has lines."""
    added = sum(item.insertions or 0 for item in target.files)
    removed = sum(item.deletions or 0 for item in target.files)
    return f" (+{added} -{removed} lines)" if added or removed else ""


def _sentence(result: ApplyResult) -> str:
    count = sum(len(target.files) for target in result.targets)
    return f"Applied {counted(count, 'file')}" if count else "Nothing to apply"


def _left_out_sentence(left_out: LeftOut) -> str:
    files = counted(left_out.count, "file")
    return f"{files} ({size(left_out.size_bytes)}) in no checkpoint and not applied"


def _to_judge(preview: ApplyPreview) -> tuple[str, ...]:
    return tuple(f"No validation checks this, so you decide: {text}" for text in preview.unchecked)


def _rebuildable(left_out: LeftOut) -> tuple[str, ...]:
    if not left_out.rebuildable:
        return ()
    return (f"Not applied, because a tool can make it again: {listed(left_out.rebuildable)}",)


def _path(item: LeftOutFile, *, several: bool) -> str:
    return f"{item.resource}/{item.path}" if several else item.path


def _count(results: Sequence[ValidationResult], status: ValidationStatus) -> int:
    return sum(item.status is status for item in results)
