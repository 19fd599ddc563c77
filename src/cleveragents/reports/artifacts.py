"""What a plan made, path by path."""

from __future__ import annotations

from collections import Counter

from cleveragents.application.services.artifact_service import PlanArtifacts
from cleveragents.domain.artifact import Artifact
from cleveragents.reports.report import Report, Table
from cleveragents.reports.words import counted, size


def artifacts_report(found: PlanArtifacts) -> Report:
    plan, summary = found.plan, found.summary
    makers = Counter(item.child_plan or plan.id for item in found.artifacts)
    data: dict[str, object] = {
        "plan_id": plan.id,
        "artifacts": [_artifact_data(found, item) for item in found.artifacts],
        "summary": {
            "total": summary.total,
            "writes": summary.writes,
            "edits": summary.edits,
            "deletes": summary.deletes,
            "total_size": sum(found.sizes.values()),
        },
        "by_plan": [{"plan_id": maker, "artifacts": makers[maker]} for maker in sorted(makers)],
        "applied": plan.is_applied,
        "commits": list(found.commits),
    }
    table = Table(
        "Artifacts",
        ("Resource", "Path", "Type", "Change", "Size", "Tool", "Step"),
        tuple(_row(found, item) for item in found.artifacts),
        empty="The plan has made nothing yet.",
    )
    applied = "in the project" if plan.is_applied else "not applied yet"
    return Report(data, (table,), (f"{counted(summary.total, 'artifact')}, {applied}",))


def _artifact_data(found: PlanArtifacts, item: Artifact) -> dict[str, object]:
    return {
        "resource": item.resource,
        "path": item.path,
        "type": item.type.value,
        "size": found.sizes.get((item.resource, item.path)),
        "change": item.change.value,
        "tool": item.tool,
        "step_index": item.step_index,
        "child_plan": item.child_plan,
        "before_hash": item.before_hash,
        "after_hash": item.after_hash,
    }


def _row(found: PlanArtifacts, item: Artifact) -> tuple[str, ...]:
    known = found.sizes.get((item.resource, item.path))
    return (
        item.resource,
        item.path,
        item.type.value,
        item.change.value,
        "" if known is None else size(known),
        item.tool,
        str(item.step_index + 1),
    )
