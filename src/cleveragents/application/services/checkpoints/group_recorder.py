"""Taking a checkpoint: a snapshot of every sandbox, then the records of that moment."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from cleveragents.application.events import WarningIssued
from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.locks import PlanLease
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.sandboxes import SnapshotStore
from cleveragents.application.ports.system import Clock, EventSink, FaultPoints, IdSource
from cleveragents.application.services.checkpoints.pruning import PruneResult, prune
from cleveragents.domain.checkpoints.checkpoint import (
    Checkpoint,
    CheckpointGroup,
    CheckpointMetadata,
    CheckpointType,
    EffectiveRecords,
    Lineage,
    Trigger,
)
from cleveragents.domain.checkpoints.retention import CheckpointRetentionPolicy
from cleveragents.domain.errors import SnapshotError
from cleveragents.domain.plans.plan import Plan, PlanPhase
from cleveragents.domain.plans.session import SessionTrigger
from cleveragents.domain.sandboxes.sandbox import SandboxCheckpoint, SandboxRef

PARTIAL = "The checkpoint `{label}` is partial: its deadline passed before everything was read"
_NOT_DELETED = (
    "Snapshots that no checkpoint needs could not be deleted: {reason}; "
    "the next run, rollback or `agents gc` deletes them"
)

Taken = tuple[SandboxRef, SandboxCheckpoint]
"""A sandbox and the snapshot just made of it."""

Records = Callable[[Transaction, Plan], Plan]
"""Stores records in a transaction, and returns the plan that is stored with them."""


@dataclass(frozen=True)
class Milestone:
    """Where the plan is when a checkpoint is made, and why one is made."""

    checkpoint_type: CheckpointType
    label: str
    reason: str
    step_index: int
    trigger: Trigger | SessionTrigger | None = None
    source_tool: str | None = None
    decision_id: str | None = None
    repeated: bool = False
    """A killed process may have recorded it already."""
    effective: EffectiveRecords | None = None
    """The records that were in effect, if the moment has passed; None if it is now."""


class GroupRecorder:
    """Snapshots the sandboxes of a plan, and records the snapshots as one group."""

    def __init__(
        self,
        database: Database,
        snapshots: SnapshotStore,
        clock: Clock,
        id_source: IdSource,
        events: EventSink,
        faults: FaultPoints,
        retention: CheckpointRetentionPolicy,
    ) -> None:
        self._database = database
        self._snapshots = snapshots
        self._clock = clock
        self._ids = id_source
        self._events = events
        self._faults = faults
        self._retention = retention
        self._most = retention.max_checkpoints_per_plan
        self._most_of_session = retention.of_plan(is_session=True).max_checkpoints_per_plan
        self._unrecorded: dict[str, int] = {}
        """The bytes that were stored of each sandbox since its last checkpoint."""

    def take(self, lease: PlanLease, sandboxes: Sequence[SandboxRef]) -> list[Taken]:
        """Snapshots every sandbox of the plan; records nothing.

        `Recovery` deletes the snapshots that no group ever names.

        Raises:
            ConflictError: another process took the plan over.
            SandboxMissingError: a sandbox is gone, or something else is in its place.
            SnapshotError: the bytes could not be stored.
        """
        taken: list[Taken] = []
        for sandbox in sandboxes:
            with self._snapshots.lock(sandbox, lease) as locked:
                made = locked.snapshot()
            # A tool call stores snapshots of its own, which need not become checkpoints: the
            # next checkpoint has the size of all of them.
            size = self._unrecorded.get(sandbox.id, 0) + made.size_bytes
            self._unrecorded[sandbox.id] = size
            taken.append((sandbox, replace(made, size_bytes=size)))
            self._faults.reach(FaultPoint.SNAPSHOT_TAKEN)
        return taken

    def record(
        self,
        lease: PlanLease,
        moment: Milestone,
        taken: Sequence[Taken],
        also: Records | None = None,
    ) -> Checkpoint:
        """Records the snapshots as one group, warns if it is partial, and returns its first.

        After an error nothing is recorded, neither the group nor what `also` stores.

        Args:
            lease: The lease of the plan.
            moment: Where it is, and why the checkpoint is made.
            taken: What `take` returned.
            also: Runs in the transaction that stores the group: what it does
                happens if and only if the group exists.
        """
        if any(made.partial for _, made in taken):
            self._events.emit(WarningIssued(PARTIAL.format(label=moment.label)))
        # What `also` stores would make all that is read at the start out of date.
        with self._database.write(lease.plan_id, adds_group=also is None) as transaction:
            plan = transaction.plans.get(lease.plan_id)
            if also is not None:
                plan = also(transaction, plan)
            if moment.repeated:
                present = _already_recorded(transaction, plan, moment, snapshot_ids(taken))
                if present is not None:
                    transaction.plans.save(plan)
                    return present
            group, checkpoints = self.add_group(transaction, plan, moment, taken)
            first = checkpoints[0]
            pruned = PruneResult()
            # Going back and forth must lose nothing, so a safety checkpoint pushes nothing out.
            if moment.checkpoint_type is not CheckpointType.SAFETY:
                update = {"last_checkpoint_id": first.id, "updated_at": self._clock.now()}
                plan = replace(plan, **update)
                transaction.plans.save(plan)
                # Numbers count from 1, so there cannot be more groups than the newest's number.
                most = self._most if plan.session is None else self._most_of_session
                if group.sequence > most:
                    pruned = prune(transaction, plan, self._retention, first)
        for sandbox, made in taken:
            if any(item.sandbox_ref == made.snapshot_id for item in checkpoints):
                left = self._unrecorded.get(sandbox.id, 0) - made.size_bytes
                self._unrecorded[sandbox.id] = max(left, 0)
        self._faults.reach(FaultPoint.GROUP_RECORDED)
        if pruned.groups:
            self.delete_snapshots(lease, [sandbox for sandbox, _ in taken], pruned.snapshots)
        return first

    def delete_snapshots(
        self,
        lease: PlanLease,
        sandboxes: Sequence[SandboxRef],
        unneeded: Mapping[str, Collection[str]],
    ) -> None:
        """Deletes snapshots, by resource id, that no record names.

        The records are committed already, so a failure is a warning: whatever stays is
        deleted by `Recovery` or by the garbage collection.
        """
        for sandbox in sandboxes:
            if sandbox.resource_id not in unneeded:
                continue
            try:
                with self._snapshots.lock(sandbox, lease) as locked:
                    locked.delete(unneeded[sandbox.resource_id])
            except SnapshotError as error:
                self._events.emit(WarningIssued(_NOT_DELETED.format(reason=error.message)))
            self._faults.reach(FaultPoint.PRUNED_SNAPSHOTS_DROPPED)

    def add_group(
        self, transaction: Transaction, plan: Plan, moment: Milestone, taken: Sequence[Taken]
    ) -> tuple[CheckpointGroup, list[Checkpoint]]:
        """Adds the next group of the plan in a transaction of the caller."""
        group_sequence, sequence, effective = transaction.checkpoints.next_group(plan.id)
        effective = moment.effective or effective
        group = CheckpointGroup(
            id=self._ids.new(),
            plan_id=plan.id,
            sequence=group_sequence,
            created_at=self._clock.now(),
            snapshots={sandbox.resource_id: made.snapshot_id for sandbox, made in taken},
            state_hashes={sandbox.resource_id: made.state_hash for sandbox, made in taken},
            pinned=False,
            set_aside_by=None,
            way=Lineage(
                groups=effective.groups,
                decisions=effective.decisions,
                choices=plan.choices or None,
                calls=effective.calls,
                last_completed_step=plan.last_completed_step,
            ),
        )
        # Each resource that changed gets a checkpoint of its own; where there is only one, it does
        # so in any case.
        changed = taken if len(taken) == 1 else _changed(transaction, plan, moment, taken)
        checkpoints = [
            _checkpoint(self._ids.new(), group, sequence + offset, plan, moment, item, effective)
            # A trigger that fired is always visible, also when nothing changed.
            for offset, item in enumerate(changed or taken[:1])
        ]
        transaction.checkpoints.add_group(group, checkpoints)
        return group, checkpoints


def snapshot_ids(taken: Sequence[Taken]) -> dict[str, str]:
    """Returns the snapshot of each resource, by the resource's id."""
    return {sandbox.resource_id: made.snapshot_id for sandbox, made in taken}


def _changed(
    transaction: Transaction, plan: Plan, moment: Milestone, taken: Sequence[Taken]
) -> list[Taken]:
    """Returns the snapshots that differ from those of an earlier group.

    A decision is compared with the decision before it, or with the start. Anything else is
    compared with the plan's last checkpoint, and not with the newest group, which may hold what
    a killed run left behind.
    """
    store, earlier = transaction.checkpoints, None
    if moment.checkpoint_type is CheckpointType.DECISION:
        previous = store.newest(plan.id, CheckpointType.DECISION)
        earlier = (
            store.get_group(previous.group_id)
            if previous is not None
            else next(iter(store.groups_oldest_first(plan.id)), None)
        )
    elif plan.last_checkpoint_id is not None:
        earlier = store.group_of(plan.last_checkpoint_id)
    known = earlier.snapshots if earlier is not None else {}
    return [item for item in taken if known.get(item[0].resource_id) != item[1].snapshot_id]


def _already_recorded(
    transaction: Transaction, plan: Plan, moment: Milestone, snapshots: Mapping[str, str]
) -> Checkpoint | None:
    """Returns the checkpoint that a killed process made of this very moment, if it did."""
    calls = transaction.checkpoints.effective_records(plan.id).calls
    for checkpoint in transaction.checkpoints.newest_first(plan.id):
        known = checkpoint.metadata
        if known.last_completed_step != plan.last_completed_step:
            return None
        if (
            checkpoint.checkpoint_type is moment.checkpoint_type
            and known.label == moment.label
            and known.step_index == moment.step_index
            and known.trigger == (moment.trigger or moment.checkpoint_type.value)
            and known.effective_calls == tuple(calls)
        ):
            group = transaction.checkpoints.get_group(checkpoint.group_id)
            return checkpoint if group.snapshots == snapshots else None
    return None


def _checkpoint(
    checkpoint_id: str,
    group: CheckpointGroup,
    sequence: int,
    plan: Plan,
    moment: Milestone,
    taken: Taken,
    effective: EffectiveRecords,
) -> Checkpoint:
    """Returns the record of one snapshot and of where the plan was."""
    sandbox, made = taken
    return Checkpoint(
        id=checkpoint_id,
        plan_id=plan.id,
        group_id=group.id,
        sequence=sequence,
        decision_id=moment.decision_id,
        resource_id=sandbox.resource_id,
        checkpoint_type=moment.checkpoint_type,
        sandbox_ref=made.snapshot_id,
        filesystem_path=sandbox.path,
        size_bytes=made.size_bytes,
        created_at=group.created_at,
        metadata=CheckpointMetadata(
            label=moment.label,
            step_index=moment.step_index,
            last_completed_step=plan.last_completed_step,
            state_hash=made.state_hash,
            phase=PlanPhase.APPLY
            if moment.checkpoint_type is CheckpointType.PRE_APPLY
            else PlanPhase.EXECUTE,
            trigger=moment.trigger or moment.checkpoint_type.value,
            source_tool=moment.source_tool,
            reason=moment.reason,
            resource=sandbox.resource,
            not_captured=made.not_captured,
            evidence=made.evidence,
            partial=made.partial,
            effective_calls=tuple(effective.calls),
            head=made.head,
        ),
    )
