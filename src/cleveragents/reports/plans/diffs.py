"""Differences between two checkpoints."""

from __future__ import annotations

import re

from cleveragents.domain.checkpoints.checkpoint import Checkpoint
from cleveragents.domain.plans.plan import Plan, PlanState
from cleveragents.domain.sandboxes.sandbox import DiffFile, FilePatch, TreeDiff
from cleveragents.reports.described import Description, Field
from cleveragents.reports.report import Report, Section, Text


def change(item: DiffFile) -> str:
    """Returns how many lines were added and removed; nothing for a directory."""
    if item.path.endswith("/"):
        return ""
    return "binary" if item.insertions is None else f"+{item.insertions} -{item.deletions}"


def _hunks(patch: FilePatch) -> list[str]:
    """Returns the hunks of a file's patch, where only a hunk can start with `@@`."""
    return re.split(r"^(?=@@ )", patch.text, flags=re.MULTILINE)[1:]


FILE = Description[DiffFile](
    Field("path", "File", lambda it: it.path),
    Field("change", "Lines", change),
    Field("status", "Status", lambda it: it.status),
)

_PATCH = Description[FilePatch](
    Field("file", None, lambda it: it.path),
    Field("hunks", None, _hunks),
)


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
            "applied": plan.state is PlanState.APPLIED,
        },
        "files": FILE.list(diff.files),
        "patch_preview": _PATCH.list(diff.patches),
        "patch_truncated": diff.patch_truncated,
    }
    title = f"From `{old.metadata.label}` to `{new.metadata.label}`"
    columns = ("File", "Status", "Lines")
    sections: list[Section] = [
        FILE.table(title, diff.files, columns, empty="No differences.", limited=True)
    ]
    if diff.patches:
        sections.append(Text("Patch", diff.patch))
    warnings = ("The patch is too long and was truncated",) if diff.patch_truncated else ()
    is_result = plan.state is PlanState.APPLIED and new.id == plan.last_checkpoint_id
    messages = ("These changes were applied to the project",) if is_result else ()
    return Report(data, tuple(sections), messages, did_something=False, warnings=warnings)
