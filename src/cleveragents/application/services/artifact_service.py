"""ArtifactService: what a plan made, path by path, and what of it is in the project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from cleveragents.application.ports.records import Database
from cleveragents.application.ports.sandboxes import SnapshotStore
from cleveragents.domain.checkpoints.operation import to_undo
from cleveragents.domain.plans.plan import Plan
from cleveragents.domain.plans.subplan import SPAWN_SUBPLAN
from cleveragents.domain.sandboxes.artifact import (
    Artifact,
    ArtifactSummary,
    net_artifacts,
    summary_of,
)


@dataclass(frozen=True)
class PlanArtifacts:
    """The artifacts of a plan, with what is told of them besides."""

    plan: Plan
    artifacts: Sequence[Artifact]
    sizes: Mapping[tuple[str, str], int]
    """Bytes of what is there now, by resource and path; not of directories and databases."""
    commits: Sequence[str]
    """Those that an apply made."""

    @property
    def summary(self) -> ArtifactSummary:
        return summary_of(self.artifacts)


class ArtifactService:
    """Answers what plans made; changes nothing."""

    def __init__(self, database: Database, snapshots: SnapshotStore) -> None:
        self._database = database
        self._snapshots = snapshots

    def artifacts(self, plan_id: str) -> PlanArtifacts:
        """Returns how each path changed, including the merged work of child plans."""
        with self._database.read() as transaction:
            plan = transaction.plans.get(plan_id)
            makers = {
                call.id: str(call.input["plan_id"])
                for call in transaction.tool_calls.list(plan_id)
                if call.tool == SPAWN_SUBPLAN
            }
            changes = [
                replace(change, plan_id=makers.get(change.call_id, plan_id))
                for change in transaction.changes.list(plan_id)
            ]
            sandboxes = {item.resource: item for item in transaction.sandboxes.list(plan_id)}
            operations = transaction.operations.list(plan_id)
        found = net_artifacts(plan_id, changes)
        sizes: dict[tuple[str, str], int] = {}
        for name, sandbox in sandboxes.items():
            own = [item for item in found if item.resource == name and item.after_hash]
            with self._snapshots.open(sandbox) as opened:
                known = opened.sizes({item.after_hash or "" for item in own})
            sizes |= {
                (name, item.path): known[item.after_hash or ""]
                for item in own
                if item.after_hash in known
            }
        commits = [
            target.commit
            for operation in to_undo(operations)
            if operation.apply is not None
            for target in operation.apply.targets
            if target.commit is not None
        ]
        return PlanArtifacts(plan, found, sizes, commits)
