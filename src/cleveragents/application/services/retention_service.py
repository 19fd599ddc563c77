"""RetentionService: which checkpoints stay because the user says so, and which go.

What happens by itself, when a plan has too many of them, is in `_pruning`. A
checkpoint means its whole group here: all of one moment is pinned and deleted together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from cleveragents.application.events import WarningIssued
from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.locks import Locks, PlanLease
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.sandboxes import SnapshotStore
from cleveragents.application.ports.system import EventSink, FaultPoints
from cleveragents.application.services.checkpoints.resume_point import resume_point, start_of_run
from cleveragents.application.services.recovery import delete_unnamed_snapshots
from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointGroup
from cleveragents.domain.checkpoints.deletion import (
    DeletionBlocker,
    no_longer_undoable,
    refuse_deletion,
)
from cleveragents.domain.checkpoints.operation import Operation
from cleveragents.domain.errors import CheckpointPlanMismatchError, SnapshotError
from cleveragents.domain.plans.plan import Plan, PlanState
from cleveragents.domain.plans.plan_file import OnFailure


@dataclass(frozen=True)
class PinResult:
    """What was pinned or unpinned, or had been already."""

    plan_id: str
    checkpoints: Sequence[Checkpoint]
    """All of the groups that were named, oldest first."""
    groups: Mapping[str, CheckpointGroup]
    """Those groups as they are now, by id."""
    changed: frozenset[str]
    """The ids of the groups that were not so before."""


@dataclass(frozen=True)
class DeletionResult:
    """What deleting checkpoints takes, or took."""

    plan_id: str
    checkpoints: Sequence[Checkpoint]
    """All of the groups that were named, oldest first."""
    groups: Mapping[str, CheckpointGroup]
    """Those groups, by id."""
    remaining: int
    """How many checkpoints the list has afterwards."""
    not_undoable: Sequence[Operation]
    """The operations that cannot be undone without them."""
    first: Checkpoint | None
    """The oldest in the list, if it is among them."""
    snapshots_dropped: int | None
    """None when nothing was deleted yet, or when that could not be done."""


class RetentionService:
    """Pins, unpins and deletes checkpoints.

    After any error all records are as they were, and every record has its snapshot.
    """

    def __init__(
        self,
        database: Database,
        snapshots: SnapshotStore,
        locks: Locks,
        events: EventSink,
        faults: FaultPoints,
    ) -> None:
        self._database = database
        self._snapshots = snapshots
        self._locks = locks
        self._events = events
        self._faults = faults

    def pin(self, plan_id: str, checkpoints: Sequence[Checkpoint]) -> PinResult:
        """Pins checkpoints, so that the limit does not drop them; repeatable.

        Needs no lease, so that it can save a checkpoint from a run that is under way.

        Raises:
            CheckpointNotFoundError: one is gone.
            CheckpointPlanMismatchError: one is another plan's.
        """
        return self._set_pinned(plan_id, checkpoints, pinned=True)

    def unpin(self, plan_id: str, checkpoints: Sequence[Checkpoint]) -> PinResult:
        """Leaves checkpoints to the limit again; raises what `pin` does."""
        return self._set_pinned(plan_id, checkpoints, pinned=False)

    def preview_deletion(self, plan_id: str, checkpoints: Sequence[Checkpoint]) -> DeletionResult:
        """Says what deleting would take and changes nothing; raises what deleting would."""
        with self._database.read() as transaction:
            return _examined(transaction, plan_id, checkpoints)

    def delete_checkpoints(self, plan_id: str, checkpoints: Sequence[Checkpoint]) -> DeletionResult:
        """Deletes checkpoints with their groups and snapshots, all of them or none.

        The records go in one transaction and the snapshots after it: a kill in
        between leaves snapshots that no record names, which the next act drops.

        Raises:
            CheckpointNotFoundError: one is gone.
            CheckpointPlanMismatchError: one is another plan's.
            CheckpointPinnedError: one is pinned.
            CheckpointInUseError: the plan needs one.
            ConflictError: another process holds the plan.
        """
        with self._locks.hold(plan_id) as lease:
            with self._database.write(plan_id) as transaction:
                deletion = _examined(transaction, plan_id, checkpoints)
                transaction.checkpoints.delete_groups(deletion.groups)
            self._faults.reach(FaultPoint.DELETION_RECORDED)
            return replace(deletion, snapshots_dropped=self._delete_snapshots(lease))

    def _set_pinned(
        self, plan_id: str, checkpoints: Sequence[Checkpoint], *, pinned: bool
    ) -> PinResult:
        with self._database.write(plan_id) as transaction:
            before = _groups_of(transaction, plan_id, checkpoints)
            transaction.checkpoints.set_pinned(before, pinned=pinned)
            after = _groups_of(transaction, plan_id, checkpoints)
            concerned = _checkpoints_of(transaction, plan_id, before)
        changed = frozenset(group.id for group in before.values() if group != after[group.id])
        return PinResult(plan_id, concerned, after, changed)

    def _delete_snapshots(self, lease: PlanLease) -> int | None:
        """Deletes what no record names; a failure does not restore the records."""
        try:
            return delete_unnamed_snapshots(self._database, self._snapshots, lease)
        except SnapshotError as error:
            self._events.emit(
                WarningIssued(
                    "The checkpoints are deleted, but their snapshots could not be deleted yet: "
                    f"{error.message}; the next run, rollback or deletion tries again"
                )
            )
            return None


def _examined(
    transaction: Transaction, plan_id: str, checkpoints: Sequence[Checkpoint]
) -> DeletionResult:
    """Runs the guards and says what would go."""
    groups = _groups_of(transaction, plan_id, checkpoints)
    names = {checkpoint.group_id: checkpoint.id for checkpoint in reversed(checkpoints)}
    needs = _needs(transaction, transaction.plans.get(plan_id))
    refuse_deletion(plan_id, groups.values(), names, needs)
    listed = transaction.checkpoints.list(plan_id)
    return DeletionResult(
        plan_id=plan_id,
        checkpoints=_checkpoints_of(transaction, plan_id, groups),
        groups=groups,
        remaining=sum(checkpoint.group_id not in groups for checkpoint in listed),
        not_undoable=no_longer_undoable(transaction.operations.list(plan_id), groups),
        first=next((item for item in listed[:1] if item.group_id in groups), None),
        snapshots_dropped=None,
    )


def _groups_of(
    transaction: Transaction, plan_id: str, checkpoints: Sequence[Checkpoint]
) -> dict[str, CheckpointGroup]:
    """Returns the groups of the checkpoints, each once and oldest first, if all are there."""
    for checkpoint in checkpoints:
        present = transaction.checkpoints.get(checkpoint.id)
        if present.plan_id != plan_id:
            raise CheckpointPlanMismatchError(checkpoint.id, plan_id, present.plan_id)
    found = [
        transaction.checkpoints.get_group(group_id)
        for group_id in {checkpoint.group_id for checkpoint in checkpoints}
    ]
    return {group.id: group for group in sorted(found, key=lambda group: group.sequence)}


def _checkpoints_of(
    transaction: Transaction, plan_id: str, group_ids: Collection[str]
) -> list[Checkpoint]:
    every = transaction.checkpoints.list(plan_id, set_aside=True)
    return [checkpoint for checkpoint in every if checkpoint.group_id in group_ids]


def _needs(transaction: Transaction, plan: Plan) -> dict[str, DeletionBlocker]:
    """Returns what the plan needs: where it is, where it resumes, where it can go back to."""
    needs: dict[str, DeletionBlocker] = {}
    pending = transaction.operations.pending(plan.id)
    if pending is not None:
        needs |= dict.fromkeys(
            (pending.target_group_id, pending.safety_group_id), DeletionBlocker.OPERATION
        )
    if plan.state in (PlanState.PROCESSING, PlanState.ERRORED):
        if plan.definition.policy.on_failure is OnFailure.ROLLBACK_PLAN:
            start = start_of_run(transaction, plan.id)
            needs |= _need_of(start, DeletionBlocker.FAILURE)
        needs |= _need_of(resume_point(transaction, plan), DeletionBlocker.RUN)
    every = transaction.checkpoints.list(plan.id, set_aside=True)
    last = next((item for item in every if item.id == plan.last_checkpoint_id), None)
    return needs | _need_of(last, DeletionBlocker.PLACE)


def _need_of(point: Checkpoint | None, need: DeletionBlocker) -> dict[str, DeletionBlocker]:
    return {} if point is None else {point.group_id: need}
