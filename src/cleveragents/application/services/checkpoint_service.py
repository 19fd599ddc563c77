"""CheckpointService: takes, lists, compares and prunes checkpoints, and rolls back to them.

Taking one goes: snapshot of every sandbox (durable objects and refs), then one
transaction with the group, its checkpoints, `last_checkpoint_id` and whatever
the caller wants stored with it. A kill in between leaves a snapshot that no
record names, never a record without its snapshot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cleveragents.application.events import WarningIssued
from cleveragents.application.ports.locks import Locks, PlanLease
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.sandboxes import SnapshotStore
from cleveragents.application.ports.system import EventSink
from cleveragents.application.services.checkpoints.group_recorder import (
    PARTIAL,
    GroupRecorder,
    Milestone,
    Records,
    Taken,
)
from cleveragents.application.services.checkpoints.pruning import prune, retention_summary
from cleveragents.application.services.rollback.intents import RollbackToCheckpoint
from cleveragents.application.services.rollback.procedure import RollbackProcedure
from cleveragents.domain import ids
from cleveragents.domain.checkpoints.checkpoint import (
    Checkpoint,
    CheckpointGroup,
    CheckpointType,
    Trigger,
)
from cleveragents.domain.checkpoints.operation import RollbackResult
from cleveragents.domain.checkpoints.retention import CheckpointRetentionPolicy, RetentionSummary
from cleveragents.domain.errors import (
    AmbiguousIdError,
    CheckpointNotFoundError,
    CheckpointPlanMismatchError,
    CheckpointRequiredError,
    SnapshotError,
)
from cleveragents.domain.plans.plan import Plan
from cleveragents.domain.sandboxes.change import PathChange
from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import SandboxRef, TreeDiff

__all__ = ["CheckpointList", "CheckpointService", "Milestone", "Records"]

Snapshots = Mapping[str, str]
"""The snapshot of each resource, by the resource's id."""

ResourceChanges = Sequence[tuple[SandboxRef, Sequence[PathChange]]]


@dataclass(frozen=True)
class CheckpointList:
    """The checkpoints of a plan with what a list of them says besides."""

    checkpoints: Sequence[Checkpoint]
    groups: dict[str, CheckpointGroup]
    retention: RetentionSummary


@dataclass
class _JustChecked(PlanLease):
    """A lease whose first check was made a moment ago, together with reading something."""

    plan_id: str
    lease: PlanLease
    is_fresh: bool = True

    def check(self, transaction: Transaction | None = None) -> None:
        if not self.is_fresh:
            self.lease.check(transaction)
        self.is_fresh = False


class CheckpointService:
    """Everything about checkpoints that is not the bytes."""

    def __init__(
        self,
        database: Database,
        snapshots: SnapshotStore,
        locks: Locks,
        events: EventSink,
        recorder: GroupRecorder,
        rollbacks: RollbackProcedure,
        triggers: frozenset[Trigger],
        retention: CheckpointRetentionPolicy,
    ) -> None:
        self._database = database
        self._snapshots = snapshots
        self._locks = locks
        self._events = events
        self._recorder = recorder
        self._rollbacks = rollbacks
        self._triggers = triggers
        self._retention = retention

    def create_checkpoint(
        self, lease: PlanLease, moment: Milestone, also: Records | None = None
    ) -> Checkpoint:
        """Makes one group of checkpoints and returns its first.

        Args:
            lease: The lease of the plan.
            moment: Where it is and why this is made.
            also: Runs in the transaction that stores the group: what it does
                happens if and only if the group exists.

        Raises:
            SandboxMissingError: there is no sandbox to snapshot.
            SnapshotError: the bytes could not be stored; no record was made.
        """
        return self._recorder.record(lease, moment, self.take(lease), also)

    def take(self, lease: PlanLease) -> Sequence[Taken]:
        """Snapshots every sandbox of the plan as it is recorded now; see `GroupRecorder.take`."""
        with self._database.read() as transaction:
            transaction.sandboxes.expect(lease.plan_id)
            lease.check(transaction)
            sandboxes = transaction.sandboxes.list(lease.plan_id)
        return self._recorder.take(_JustChecked(lease.plan_id, lease), sandboxes)

    def create_as_required(
        self,
        lease: PlanLease,
        plan: Plan,
        moment: Milestone,
        also: Records | None = None,
        taken: Sequence[Taken] | None = None,
    ) -> Checkpoint | None:
        """Makes a checkpoint as the plan's policy requires it, and stores `also` in any case.

        If the policy does not require checkpoints, one that fails or is partial is a
        warning. `also` is then stored without one, so that no outcome is lost.

        Args:
            lease: The lease of the plan.
            plan: The plan.
            moment: Where it is and why this is made.
            also: What to store in the transaction of the checkpoint.
            taken: What `take` has just returned, so that nothing is read twice.

        Returns:
            None if no checkpoint was made.

        Raises:
            CheckpointRequiredError: the plan requires checkpoints, and the bytes could not be
                stored, or not all of them before the deadline. Nothing was recorded.
        """
        required = plan.definition.policy.require_checkpoints
        try:
            taken = self.take(lease) if taken is None else taken
        except SnapshotError as error:
            message = f"The checkpoint `{moment.label}` could not be made: {error.message}"
            if required:
                raise CheckpointRequiredError(message, hint=error.hint) from error
            self._events.emit(WarningIssued(message))
            if also is not None:
                self.store(plan.id, also)
            return None
        # A record of a refused checkpoint would let the next run continue from it.
        if required and any(made.partial for _, made in taken):
            raise CheckpointRequiredError(
                PARTIAL.format(label=moment.label),
                hint="Raise `sandbox.checkpoint.deadline`, or leave out what is large",
            )
        return self._recorder.record(lease, moment, taken, also)

    def auto_create_if_configured(
        self,
        lease: PlanLease,
        trigger: Trigger,
        plan: Plan,
        moment: Milestone,
        also: Records | None = None,
        taken: Sequence[Taken] | None = None,
    ) -> Checkpoint | None:
        """Like `create_as_required` if the configuration names the trigger; else only `also`."""
        if trigger in self._triggers:
            return self.create_as_required(lease, plan, moment, also, taken)
        if also is not None:
            self.store(plan.id, also)
        return None

    def store(self, plan_id: str, records: Records) -> None:
        """Stores records without a checkpoint."""
        with self._database.write(plan_id) as transaction:
            transaction.plans.save(records(transaction, transaction.plans.get(plan_id)))

    def create_manual_checkpoint(self, plan_id: str, label: str) -> Checkpoint:
        """Makes a checkpoint of the sandbox as it is now, because the user wants one."""
        with self._locks.hold(plan_id) as lease:
            with self._database.read() as transaction:
                plan = transaction.plans.get(plan_id)
                sandboxes = transaction.sandboxes.list(plan_id)
            if not sandboxes:
                raise plan.refusal("be checkpointed: it has no sandbox yet")
            moment = Milestone(
                CheckpointType.MANUAL,
                label=label,
                reason="requested",
                step_index=max(plan.last_completed_step, 0),
            )
            return self._recorder.record(lease, moment, self._recorder.take(lease, sandboxes))

    def prune_checkpoints(self, plan_id: str) -> int:
        """Deletes what the limit no longer allows, and returns how many groups that were."""
        with self._locks.hold(plan_id) as lease:
            with self._database.write(plan_id) as transaction:
                sandboxes = transaction.sandboxes.list(plan_id)
                plan = transaction.plans.get(plan_id)
                pruned = prune(transaction, plan, self._retention)
            self._recorder.delete_snapshots(lease, sandboxes, pruned.snapshots)
        return pruned.groups

    def rollback_to_checkpoint(self, plan_id: str, checkpoint: Checkpoint) -> RollbackResult:
        """Restores every sandbox and the plan to the checkpoint, or changes nothing.

        After any error the sandboxes and the records are as they were before.
        """
        return self._rollbacks.run(plan_id, RollbackToCheckpoint(checkpoint))

    def list_checkpoints(self, plan_id: str, *, set_aside: bool = False) -> CheckpointList:
        """Returns the plan's checkpoints, oldest first."""
        with self._database.read() as transaction:
            transaction.plans.get(plan_id)
            checkpoints = transaction.checkpoints.list(plan_id, set_aside=set_aside)
            groups = {group.id: group for group in transaction.checkpoints.groups(plan_id)}
            retention = retention_summary(transaction, plan_id, self._retention)
        return CheckpointList(checkpoints, groups, retention)

    def find_checkpoint(self, plan_id: str, text: str) -> Checkpoint:
        """Returns the plan's checkpoint that `text` names: its id, position or label.

        Raises:
            CheckpointPlanMismatchError: it is another plan's.
            CheckpointNotFoundError: there is none, or it cannot be an id.
            AmbiguousIdError: several fit.
        """
        with self._database.read() as transaction:
            visible = transaction.checkpoints.list(plan_id)
            all_of_plan = transaction.checkpoints.list(plan_id, set_aside=True)
            position = ids.position(text, len(visible))
            if position is not None:
                return visible[position]
            prefix = ids.normalise(text)
            if prefix and (fitting := [c for c in all_of_plan if c.id.startswith(prefix)]):
                return _only_moment(text, fitting)
            if labelled := [item for item in visible if item.metadata.label == text]:
                return _only_moment(text, labelled)
            elsewhere = transaction.checkpoints.ids(prefix) if prefix else list[str]()
            if len(elsewhere) == 1:
                owner = transaction.checkpoints.get(elsewhere[0]).plan_id
                raise CheckpointPlanMismatchError(elsewhere[0], plan_id, owner)
        raise CheckpointNotFoundError(text, plan_id)

    def changes_between(
        self, sandboxes: Sequence[SandboxRef], before: Snapshots, after: Snapshots
    ) -> ResourceChanges:
        """Returns the sandboxes in which something changed, each with its changes."""
        if before == after:
            return ()
        found: list[tuple[SandboxRef, Sequence[PathChange]]] = []
        for sandbox in sandboxes:
            key = sandbox.resource_id
            with self._snapshots.open(sandbox) as opened:
                changes = opened.changes(before[key], after[key])
            if changes:
                found.append((sandbox, changes))
        return found

    def keep_start(self, lease: PlanLease) -> None:
        """Keeps what the sandboxes held before the first step, while a checkpoint still says so.

        The plan's changes are the difference between that and its last snapshot, and the
        checkpoint can be pruned or deleted.
        """
        with self._database.read() as transaction:
            sandboxes = transaction.sandboxes.list(lease.plan_id)
            start = _first_snapshots(transaction, lease.plan_id)
        for sandbox in sandboxes:
            if sandbox.resource_id in start:
                with self._snapshots.lock(sandbox, lease) as locked:
                    locked.keep_start(start[sandbox.resource_id])

    def start(self, plan_id: str) -> Snapshots:
        """Returns what each sandbox held before the first step.

        Raises:
            CheckpointRequiredError: nothing says so.
        """
        with self._database.read() as transaction:
            sandboxes = transaction.sandboxes.list(plan_id)
        found: dict[str, str] = {}
        for sandbox in sandboxes:
            with self._snapshots.open(sandbox) as opened:
                kept = opened.start()
            if kept is None:
                # An earlier version made the plan, or a kill came first.
                with self._database.read() as transaction:
                    kept = _first_snapshots(transaction, plan_id).get(sandbox.resource_id)
            if kept is None:
                raise CheckpointRequiredError(
                    "The sandbox was not stored before the first step, so what changed is unknown",
                    hint="Run the plan again with `policy.require_checkpoints: true`",
                )
            found[sandbox.resource_id] = kept
        return found

    def forget_unnamed(
        self,
        lease: PlanLease,
        sandboxes: Sequence[SandboxRef],
        before: Snapshots,
        after: Snapshots,
    ) -> None:
        """Deletes the snapshots before a call that no group names; those after it stay."""
        passed = {key: snapshot for key, snapshot in before.items() if after.get(key) != snapshot}
        if not passed:
            return
        with self._database.read() as transaction:
            unnamed = {
                key: [snapshot]
                for key, snapshot in passed.items()
                if not transaction.checkpoints.is_snapshot_named(lease.plan_id, key, snapshot)
            }
        self._recorder.delete_snapshots(lease, sandboxes, unnamed)

    def diff(self, plan_id: str, old: Checkpoint, new: Checkpoint) -> TreeDiff:
        """Says how the resources differ; with several, each path begins with its resource."""
        with self._database.read() as transaction:
            sandboxes = transaction.sandboxes.list(plan_id)
            before = transaction.checkpoints.get_group(old.group_id).snapshots
            after = transaction.checkpoints.get_group(new.group_id).snapshots
        several = len(sandboxes) > 1
        kept = [item for item in sandboxes if item.strategy is not SandboxStrategy.NONE]
        parts: list[TreeDiff] = []
        for sandbox in kept:
            ends = before[sandbox.resource_id], after[sandbox.resource_id]
            if ends[0] != ends[1] or len(kept) == 1:
                with self._snapshots.open(sandbox) as opened:
                    parts.append(opened.diff(*ends, f"{sandbox.resource}/" if several else ""))
        return TreeDiff(
            files=tuple(file for part in parts for file in part.files),
            patches=tuple(patch for part in parts for patch in part.patches),
            patch_truncated=any(part.patch_truncated for part in parts),
        )


def _only_moment(text: str, found: Sequence[Checkpoint]) -> Checkpoint:
    """Returns the first checkpoint of a group; raises AmbiguousIdError for several groups.

    The ids of one group often begin alike, and all its checkpoints lead to the same state.
    """
    moments = {checkpoint.group_id: checkpoint for checkpoint in reversed(found)}
    if len(moments) > 1:
        raise AmbiguousIdError("checkpoint", text, [item.id for item in moments.values()][::-1])
    return found[0]


def _first_snapshots(transaction: Transaction, plan_id: str) -> Snapshots:
    """Returns the snapshots of the plan's first group, if it is from before the first step."""
    for group in transaction.checkpoints.groups(plan_id)[:1]:
        for checkpoint in transaction.checkpoints.list(plan_id, set_aside=True):
            is_start = checkpoint.checkpoint_type is CheckpointType.PRE_EXECUTE
            if checkpoint.group_id == group.id and is_start:
                return group.snapshots
    return {}
