"""Artifacts: the paths that a plan changed, and the tool that changed each."""

from __future__ import annotations

from collections import Counter

from cleveragents.application.services.artifact_service import PlanArtifacts
from cleveragents.domain.plans.plan import PlanState
from cleveragents.domain.sandboxes.artifact import Artifact
from cleveragents.domain.wording import counted, size
from cleveragents.reports.described import Description, Field
from cleveragents.reports.report import Report

_COLUMNS = ("Resource", "Path", "Type", "Change", "Size", "Tool", "Step")


def artifacts_report(found: PlanArtifacts) -> Report:
    plan, summary = found.plan, found.summary
    makers = Counter(item.child_plan or plan.id for item in found.artifacts)
    artifact = _artifact(found)
    data: dict[str, object] = {
        "plan_id": plan.id,
        "artifacts": artifact.list(found.artifacts),
        "summary": {
            "total": summary.total,
            "writes": summary.writes,
            "edits": summary.edits,
            "deletes": summary.deletes,
            "total_size": sum(found.sizes.values()),
        },
        "by_plan": [{"plan_id": maker, "artifacts": makers[maker]} for maker in sorted(makers)],
        "applied": plan.state is PlanState.APPLIED,
        "commits": list(found.commits),
    }
    table = artifact.table(
        "Artifacts",
        found.artifacts,
        _COLUMNS,
        empty="The plan has no artifacts yet.",
        limited=True,
    )
    applied = "applied to the project" if plan.state is PlanState.APPLIED else "not applied yet"
    total = f"{counted(summary.total, 'artifact')}, {applied}"
    return Report(data, (table,), (total,), did_something=False)


def _artifact(found: PlanArtifacts) -> Description[Artifact]:
    def size_of(item: Artifact) -> int | None:
        return found.sizes.get((item.resource, item.path))

    def size_text(item: Artifact) -> str:
        known = size_of(item)
        return "" if known is None else size(known)

    return Description(
        Field("resource", "Resource", lambda it: it.resource),
        Field("path", "Path", lambda it: it.path),
        Field("type", "Type", lambda it: it.type),
        Field("size", "Size", size_of, size_text),
        Field("change", "Change", lambda it: it.change),
        Field("tool", "Tool", lambda it: it.tool),
        Field("step_index", "Step", lambda it: it.step_index, lambda it: str(it.step_index + 1)),
        Field("child_plan", None, lambda it: it.child_plan),
        Field("before_hash", None, lambda it: it.before_hash),
        Field("after_hash", None, lambda it: it.after_hash),
    )
