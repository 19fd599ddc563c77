"""CheckpointService: makes, lists and prunes checkpoints, and rolls back to them.

Making one goes: snapshot of every sandbox (durable objects and refs), then one
transaction with the group, its checkpoints, `last_checkpoint_id` and whatever
the caller wants stored with it. A kill in between leaves a snapshot no record
names, never a record without its snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cleveragents.application.events import CheckpointCreated
from cleveragents.application.ports import (
    Clock,
    Database,
    EventSink,
    IdSource,
    Locks,
    Sandboxes,
    SnapshotStore,
    Transaction,
)
from cleveragents.application.services._group import Moment, Taken, checkpoint_of, recorded
from cleveragents.application.services._rollback import Rollback
from cleveragents.domain import ids
from cleveragents.domain.checkpoint import (
    Checkpoint,
    CheckpointGroup,
    CheckpointType,
    RollbackPreview,
    RollbackResult,
    Trigger,
)
from cleveragents.domain.errors import (
    CheckpointNotFoundError,
    CheckpointPlanMismatchError,
    PlanStateError,
)
from cleveragents.domain.plan import Plan
from cleveragents.domain.retention import CheckpointRetentionPolicy, select_for_pruning
from cleveragents.domain.sandbox import SandboxCheckpoint, SandboxRef, TreeDiff


@dataclass(frozen=True)
class CheckpointList:
    """The checkpoints of a plan with what a list of them says besides."""

    checkpoints: Sequence[Checkpoint]
    groups: dict[str, CheckpointGroup]
    limit: int


__all__ = ["CheckpointList", "CheckpointService", "Moment"]


def _nothing(_: Transaction, __: Plan) -> None:
    return None


class CheckpointService:
    """Everything about checkpoints that is not the bytes."""

    def __init__(
        self,
        database: Database,
        snapshots: SnapshotStore,
        sandboxes: Sandboxes,
        locks: Locks,
        clock: Clock,
        id_source: IdSource,
        events: EventSink,
        triggers: frozenset[Trigger],
        retention: CheckpointRetentionPolicy,
    ) -> None:
        self._database = database
        self._snapshots = snapshots
        self._sandboxes = sandboxes
        self._locks = locks
        self._clock = clock
        self._ids = id_source
        self._events = events
        self._triggers = triggers
        self._retention = retention

    def create_checkpoint(
        self,
        plan_id: str,
        moment: Moment,
        also: Callable[[Transaction, Plan], Plan | None] = _nothing,
    ) -> Checkpoint:
        """Makes one group of checkpoints and returns its first.

        The caller holds the plan's lease.

        Args:
            plan_id: The plan.
            moment: Where it is and why this is made.
            also: Runs in the transaction that stores the group: what it does
                happens if and only if the group exists. It may return a changed
                plan, which is stored with the group.

        Raises:
            SandboxMissingError: there is no sandbox to snapshot.
            SnapshotError: the bytes could not be stored; no record was made.
        """
        with self._database.read() as transaction:
            sandboxes = transaction.sandboxes.list(plan_id)
        taken = [(sandbox, self._take(sandbox)) for sandbox in sandboxes]
        with self._database.write() as transaction:
            plan = transaction.plans.get(plan_id)
            plan = also(transaction, plan) or plan
            group, checkpoints = self._records(transaction, plan, moment, taken)
            transaction.checkpoints.add_group(group, checkpoints)
            transaction.plans.save(
                plan.model_copy(
                    update={
                        "last_checkpoint_id": checkpoints[0].id,
                        "updated_at": self._clock.now(),
                    }
                )
            )
            dropped = self._prune(transaction, plan_id, checkpoints[0].group_id)
        self._forget_snapshots(plan_id, sandboxes, dropped)
        self._events.emit(
            CheckpointCreated(
                plan_id,
                checkpoints[0].id,
                checkpoints[0].metadata.label,
                checkpoints[0].metadata.trigger,
            )
        )
        return checkpoints[0]

    def auto_create_if_configured(
        self,
        trigger: Trigger,
        plan_id: str,
        moment: Moment,
        also: Callable[[Transaction, Plan], Plan | None] = _nothing,
    ) -> Checkpoint | None:
        """Makes a checkpoint if the configuration names the trigger; otherwise does nothing."""
        if trigger not in self._triggers:
            return None
        return self.create_checkpoint(plan_id, moment, also)

    def create_manual_checkpoint(self, plan_id: str, label: str) -> Checkpoint:
        """Makes a checkpoint of the sandbox as it is now, because the user wants one."""
        with self._locks.hold(plan_id):
            with self._database.read() as transaction:
                plan = transaction.plans.get(plan_id)
                started = bool(transaction.sandboxes.list(plan_id))
            if not started:
                raise PlanStateError(
                    "be checkpointed: it has no sandbox yet",
                    plan.phase.value,
                    plan.state.value,
                    hint=f"Run `agents plan execute {plan_id}` first",
                )
            moment = Moment(
                CheckpointType.MANUAL,
                label=label,
                reason="asked for by the user",
                step_index=max(plan.last_completed_step, 0),
            )
            return self.create_checkpoint(plan_id, moment)

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

    def prune_checkpoints(self, plan_id: str) -> int:
        """Drops what the limit no longer allows and returns how many groups went."""
        with self._locks.hold(plan_id):
            with self._database.write() as transaction:
                sandboxes = transaction.sandboxes.list(plan_id)
                dropped = self._prune(transaction, plan_id, None)
            self._forget_snapshots(plan_id, sandboxes, dropped)
        return len(dropped)

    def preview_rollback(self, plan_id: str, checkpoint: Checkpoint) -> RollbackPreview:
        """Says what a rollback would do and changes nothing; raises what the rollback would."""
        return self._rollback().preview(plan_id, checkpoint)

    def rollback_to_checkpoint(self, plan_id: str, checkpoint: Checkpoint) -> RollbackResult:
        """Takes every sandbox and the plan back to the checkpoint, or changes nothing.

        After any error the sandboxes and the records are as they were before.
        """
        with self._locks.hold(plan_id):
            return self._rollback().run(plan_id, checkpoint)

    def return_to(self, plan_id: str, checkpoint: Checkpoint) -> None:
        """Takes the sandboxes back within a run; the plan stays in its state.

        The caller holds the plan's lease.
        """
        self._rollback().return_to(plan_id, checkpoint)

    def resume_point(self, plan_id: str) -> Checkpoint | None:
        """Returns the newest checkpoint a run can go on from, or None before the first.

        What a failure or a rollback left is kept to be looked at, not to build on.
        """
        for checkpoint in reversed(self.list_checkpoints(plan_id).checkpoints):
            kept_aside = checkpoint.checkpoint_type is CheckpointType.SAFETY
            if not kept_aside and checkpoint.metadata.trigger != Trigger.ON_ERROR:
                return checkpoint
        return None

    def recover(self, plan_id: str) -> str | None:
        """Ends what a killed rollback left unfinished and says what was done, or None."""
        with self._locks.hold(plan_id):
            return self._rollback().recover(plan_id)

    def diff(self, plan_id: str, old: Checkpoint, new: Checkpoint) -> TreeDiff:
        """Says how the first resource differs between two checkpoints."""
        sandbox, first, second = self._comparable(plan_id, old, new)
        return self._snapshots.diff(sandbox, first, second)

    def _comparable(
        self, plan_id: str, old: Checkpoint, new: Checkpoint
    ) -> tuple[SandboxRef, str, str]:
        with self._database.read() as transaction:
            sandbox = transaction.sandboxes.list(plan_id)[0]
            first = transaction.checkpoints.get_group(old.group_id)
            second = transaction.checkpoints.get_group(new.group_id)
        return sandbox, first.snapshots[sandbox.resource_id], second.snapshots[sandbox.resource_id]

    def _rollback(self) -> Rollback:
        return Rollback(
            self._database, self._snapshots, self._sandboxes, self._clock, self._ids, self._safety
        )

    def _safety(self, plan_id: str, checkpoint: Checkpoint) -> Checkpoint:
        moment = Moment(
            CheckpointType.SAFETY,
            label=f"before rollback to {checkpoint.metadata.label}",
            reason=f"the state a rollback to {checkpoint.id} started from",
            step_index=checkpoint.metadata.step_index,
        )
        return self.create_checkpoint(plan_id, moment)

    def _take(self, sandbox: SandboxRef) -> SandboxCheckpoint:
        self._sandboxes.check(sandbox)
        return self._snapshots.create_checkpoint(sandbox)

    def _records(
        self, transaction: Transaction, plan: Plan, moment: Moment, taken: Sequence[Taken]
    ) -> tuple[CheckpointGroup, list[Checkpoint]]:
        group_sequence, sequence = transaction.checkpoints.next_sequence(plan.id)
        earlier = transaction.checkpoints.groups(plan.id)
        calls = transaction.tool_calls.list(plan.id)
        group = CheckpointGroup(
            id=self._ids.new(),
            plan_id=plan.id,
            sequence=group_sequence,
            created_at=self._clock.now(),
            snapshots={sandbox.resource_id: made.snapshot_id for sandbox, made in taken},
            state_hashes={sandbox.resource_id: made.state_hash for sandbox, made in taken},
            pinned=False,
            set_aside_by=None,
        )
        effective = tuple(call.id for call in calls if call.undone_by is None)
        checkpoints = [
            checkpoint_of(self._ids.new(), group, sequence + offset, plan, moment, item, effective)
            for offset, item in enumerate(recorded(taken, earlier[-1] if earlier else None))
        ]
        return group, checkpoints

    def _prune(
        self, transaction: Transaction, plan_id: str, newest: str | None
    ) -> list[CheckpointGroup]:
        groups = transaction.checkpoints.groups(plan_id)
        plan = transaction.plans.get(plan_id)
        operations = transaction.operations.list(plan_id)
        needed = {newest} if newest else set[str]()
        if plan.last_checkpoint_id is not None:
            needed.add(transaction.checkpoints.get(plan.last_checkpoint_id).group_id)
        for operation in operations[-1:]:
            needed |= {operation.target_group_id, operation.safety_group_id}
        dropped = select_for_pruning(groups, self._retention, needed)
        transaction.checkpoints.delete_groups([group.id for group in dropped])
        return dropped

    def _forget_snapshots(
        self, plan_id: str, sandboxes: Sequence[SandboxRef], dropped: Sequence[CheckpointGroup]
    ) -> None:
        """Drops the bytes of dropped groups, unless another group of the plan has the same."""
        if not dropped:
            return
        with self._database.read() as transaction:
            left = transaction.checkpoints.groups(plan_id)
        for sandbox in sandboxes:
            kept = {group.snapshots.get(sandbox.resource_id) for group in left}
            gone = {
                group.snapshots[sandbox.resource_id]
                for group in dropped
                if sandbox.resource_id in group.snapshots
            }
            self._snapshots.delete_checkpoint(sandbox, gone - kept)
