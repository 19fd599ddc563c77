"""Looking at checkpoints; nothing here changes anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cleveragents.application.ports.records import Database
from cleveragents.application.ports.sandboxes import SnapshotStore
from cleveragents.application.services.checkpoints import changes
from cleveragents.application.services.checkpoints.pruning import resume_point
from cleveragents.domain import ids
from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointGroup, CheckpointType
from cleveragents.domain.checkpoints.retention import CheckpointRetentionPolicy
from cleveragents.domain.errors import CheckpointNotFoundError, CheckpointPlanMismatchError
from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import TreeDiff


@dataclass(frozen=True)
class CheckpointList:
    """The checkpoints of a plan with what a list of them says besides."""

    checkpoints: Sequence[Checkpoint]
    groups: dict[str, CheckpointGroup]
    limit: int


class CheckpointReader:
    """What is known of checkpoints, and how they differ."""

    def __init__(
        self, database: Database, snapshots: SnapshotStore, retention: CheckpointRetentionPolicy
    ) -> None:
        self._database = database
        self._snapshots = snapshots
        self._retention = retention

    def list_checkpoints(self, plan_id: str, *, set_aside: bool = False) -> CheckpointList:
        """Returns the plan's checkpoints, oldest first."""
        with self._database.read() as transaction:
            transaction.plans.get(plan_id)
            checkpoints = transaction.checkpoints.list(plan_id, set_aside=set_aside)
            groups = {group.id: group for group in transaction.checkpoints.groups(plan_id)}
        return CheckpointList(checkpoints, groups, self._retention.max_checkpoints_per_plan)

    def find_checkpoint(self, plan_id: str, text: str) -> Checkpoint:
        """Returns the plan's checkpoint that `text` names.

        Raises:
            CheckpointPlanMismatchError: it is another plan's.
            CheckpointNotFoundError: there is none, or it cannot be an id.
            AmbiguousIdError: several fit.
        """
        with self._database.read() as transaction:
            visible = transaction.checkpoints.list(plan_id)
            all_of_plan = transaction.checkpoints.list(plan_id, set_aside=True)
            known = visible if text.startswith("@") else all_of_plan
            chosen = ids.choose(text, "checkpoint", [checkpoint.id for checkpoint in known])
            if chosen is not None:
                return next(checkpoint for checkpoint in known if checkpoint.id == chosen)
            prefix = ids.normalise(text)
            elsewhere = transaction.checkpoints.ids(prefix) if prefix else list[str]()
            if len(elsewhere) == 1:
                owner = transaction.checkpoints.get(elsewhere[0]).plan_id
                raise CheckpointPlanMismatchError(elsewhere[0], plan_id, owner)
        raise CheckpointNotFoundError(text, plan_id)

    def resume_point(self, plan_id: str) -> Checkpoint | None:
        """Returns the checkpoint a run goes on from, or None before the first."""
        with self._database.read() as transaction:
            return resume_point(transaction, transaction.plans.get(plan_id))

    def start_of_run(self, plan_id: str) -> Checkpoint | None:
        """Returns the checkpoint that was made before the plan's latest run, if there is one."""
        with self._database.read() as transaction:
            return transaction.checkpoints.newest(plan_id, CheckpointType.PRE_EXECUTE)

    def changes_between(
        self, plan_id: str, before: changes.Snapshots, after: changes.Snapshots
    ) -> changes.ResourceChanges:
        """Returns the plan's sandboxes in which something changed, each with its changes."""
        if before == after:
            return ()
        with self._database.read() as transaction:
            sandboxes = transaction.sandboxes.list(plan_id)
        return changes.changes_between(sandboxes, self._snapshots, before, after)

    def diff(self, plan_id: str, old: Checkpoint, new: Checkpoint) -> TreeDiff:
        """Says how the resources differ; with several, each path begins with its resource."""
        with self._database.read() as transaction:
            sandboxes = transaction.sandboxes.list(plan_id)
            before = transaction.checkpoints.get_group(old.group_id).snapshots
            after = transaction.checkpoints.get_group(new.group_id).snapshots
        several = len(sandboxes) > 1
        kept = [item for item in sandboxes if item.strategy is not SandboxStrategy.NONE]
        parts = [
            self._snapshots.diff(
                item,
                before[item.resource_id],
                after[item.resource_id],
                prefix=f"{item.resource}/" if several else "",
            )
            for item in kept
            if before[item.resource_id] != after[item.resource_id] or len(kept) == 1
        ]
        return TreeDiff(
            files=tuple(file for part in parts for file in part.files),
            patches=tuple(patch for part in parts for patch in part.patches),
            patch_truncated=any(part.patch_truncated for part in parts),
        )
