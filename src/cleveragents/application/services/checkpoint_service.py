"""CheckpointService: makes, lists and prunes checkpoints, and rolls back to them.

Making one goes: snapshot of every sandbox (durable objects and refs), then one
transaction with the group, its checkpoints, `last_checkpoint_id` and whatever
the caller wants stored with it. A kill in between leaves a snapshot no record
names, never a record without its snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager

from cleveragents.application.events import WarningIssued
from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.locks import Locks
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.sandboxes import Sandboxes, SnapshotStore
from cleveragents.application.ports.system import Clock, EventSink, FaultPoints, IdSource
from cleveragents.application.ports.targets import Targets
from cleveragents.application.ports.tools import ToolBackend
from cleveragents.application.services.apply.procedure import ApplyProcedure
from cleveragents.application.services.apply.sandbox_removal import SandboxRemoval
from cleveragents.application.services.checkpoints import changes
from cleveragents.application.services.checkpoints.group_recorder import GroupRecorder
from cleveragents.application.services.checkpoints.milestone import (
    Milestone,
    Taken,
    is_of_moment,
    snapshot_ids,
)
from cleveragents.application.services.checkpoints.pruning import PruneResult, prune, prune_after
from cleveragents.application.services.checkpoints.queries import CheckpointList, CheckpointReader
from cleveragents.application.services.checkpoints.reconcile import drop_unnamed_snapshots
from cleveragents.application.services.rollback.intents import (
    Destination,
    Intent,
    RollbackToCheckpoint,
)
from cleveragents.application.services.rollback.partial import RollbackPaths, RollbackStep
from cleveragents.application.services.rollback.procedure import RecoveryOutcome, RollbackProcedure
from cleveragents.application.services.subplans.family import held_below
from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointType, Trigger
from cleveragents.domain.checkpoints.operation import RollbackPreview, RollbackResult
from cleveragents.domain.checkpoints.retention import CheckpointRetentionPolicy
from cleveragents.domain.errors import CheckpointRequiredError, PlanStateError, SnapshotError
from cleveragents.domain.plans.plan import Plan, PlanState
from cleveragents.domain.sandboxes.sandbox import SandboxCheckpoint, SandboxRef
from cleveragents.domain.wording import counted

__all__ = ["CheckpointList", "CheckpointService", "Milestone", "Records"]

Records = Callable[[Transaction, Plan], Plan]
"""Stores records in a transaction, and returns the plan as it is to be stored with them."""

_PARTIAL = "The checkpoint `{label}` is partial: its deadline passed before everything was read"


class CheckpointService(CheckpointReader):
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
        faults: FaultPoints,
        tools: ToolBackend,
        targets: Targets,
        triggers: frozenset[Trigger],
        retention: CheckpointRetentionPolicy,
    ) -> None:
        super().__init__(database, snapshots, retention)
        self._sandboxes = sandboxes
        self._locks = locks
        self._clock = clock
        self._ids = id_source
        self._events = events
        self._faults = faults
        self._tools = tools
        self._applying = ApplyProcedure(database, targets, clock, faults, locks.check)
        self._cleaning = SandboxRemoval(database, sandboxes, faults)
        self._triggers = triggers
        self._recorder = GroupRecorder(clock, id_source)
        # Looked up once, because a checkpoint must stay cheap; see `_held`.
        self._known: dict[str, Sequence[SandboxRef]] = {}

    def create_checkpoint(
        self,
        plan_id: str,
        moment: Milestone,
        also: Records | None = None,
        *,
        keep: Collection[str] = (),
    ) -> Checkpoint:
        """Makes one group of checkpoints and returns its first.

        The caller holds the plan's lease.

        Args:
            plan_id: The plan.
            moment: Where it is and why this is made.
            also: Runs in the transaction that stores the group: what it does
                happens if and only if the group exists.
            keep: Groups that outlive the pruning this causes.

        Raises:
            SandboxMissingError: there is no sandbox to snapshot.
            SnapshotError: the bytes could not be stored; no record was made.
        """
        return self._record(plan_id, moment, self.take(plan_id), also, keep)

    def _record(
        self,
        plan_id: str,
        moment: Milestone,
        taken: Sequence[Taken],
        also: Records | None,
        keep: Collection[str] = (),
    ) -> Checkpoint:
        """Records the snapshots as one group, warns if it is partial, and returns its first."""
        if _is_partial(taken):
            self._events.emit(WarningIssued(_PARTIAL.format(label=moment.label)))
        with self._database.write() as transaction:
            plan = transaction.plans.get(plan_id)
            if also is not None:
                plan = also(transaction, plan)
            present = self._already_recorded(transaction, plan, moment, taken)
            if present is not None:
                transaction.plans.save(plan)
                return present
            group, checkpoints = self._recorder.records(transaction, plan, moment, taken)
            transaction.checkpoints.add_group(group, checkpoints)
            if moment.checkpoint_type is not CheckpointType.SAFETY:
                plan = plan.model_copy(
                    update={
                        "last_checkpoint_id": checkpoints[0].id,
                        "updated_at": self._clock.now(),
                    }
                )
                transaction.plans.save(plan)
            pruned = prune_after(transaction, plan, self._retention, group, checkpoints[0], keep)
        self._faults.reach(FaultPoint.GROUP_RECORDED)
        self._forget_snapshots([sandbox for sandbox, _ in taken], pruned)
        return checkpoints[0]

    def take(self, plan_id: str) -> Sequence[Taken]:
        """Stores every sandbox as it is now; no record is made of it.

        What no group comes to name is dropped when the plan is taken up again.

        Raises:
            SandboxMissingError: there is no sandbox to snapshot.
            SnapshotError: the bytes could not be stored.
        """
        sandboxes = self._known.get(plan_id)
        if not sandboxes:
            with self._database.read() as transaction:
                sandboxes = transaction.sandboxes.list(plan_id)
            self._known[plan_id] = sandboxes
        return [(sandbox, self._take(sandbox)) for sandbox in sandboxes]

    def forget_unnamed(
        self, plan_id: str, before: changes.Snapshots, after: changes.Snapshots
    ) -> None:
        """Drops the snapshots before a call that no group names; those after it stay."""
        changes.forget_unnamed(self._database, self._snapshots, plan_id, before, after)

    def create_as_required(
        self,
        plan: Plan,
        moment: Milestone,
        also: Records | None = None,
        taken: Sequence[Taken] | None = None,
    ) -> Checkpoint | None:
        """Makes a checkpoint as the plan's policy requires it, and stores `also` in any case.

        If the policy does not require checkpoints, one that fails or is partial is a
        warning. `also` is then stored without one, so that no outcome is lost.

        Args:
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
            taken = self.take(plan.id) if taken is None else taken
        except SnapshotError as error:
            message = f"The checkpoint `{moment.label}` could not be made: {error.message}"
            if required:
                raise CheckpointRequiredError(message, hint=error.hint) from error
            self._events.emit(WarningIssued(message))
            self.store(plan.id, also)
            return None
        # A record of a refused checkpoint would let the next run continue from it.
        if required and _is_partial(taken):
            raise CheckpointRequiredError(
                _PARTIAL.format(label=moment.label),
                hint="Raise `sandbox.checkpoint.deadline`, or leave out what is large",
            )
        return self._record(plan.id, moment, taken, also)

    def auto_create_if_configured(
        self,
        trigger: Trigger,
        plan: Plan,
        moment: Milestone,
        also: Records | None = None,
        taken: Sequence[Taken] | None = None,
    ) -> Checkpoint | None:
        """Like `create_as_required` if the configuration names the trigger; else only `also`."""
        if trigger in self._triggers:
            return self.create_as_required(plan, moment, also, taken)
        self.store(plan.id, also)
        return None

    def store(self, plan_id: str, records: Records | None) -> None:
        """Stores records without a checkpoint; None stores nothing."""
        if records is None:
            return
        with self._database.write() as transaction:
            transaction.plans.save(records(transaction, transaction.plans.get(plan_id)))

    def create_manual_checkpoint(self, plan_id: str, label: str) -> Checkpoint:
        """Makes a checkpoint of the sandbox as it is now, because the user wants one."""
        with self._held(plan_id):
            with self._database.read() as transaction:
                plan = transaction.plans.get(plan_id)
                sandboxes = transaction.sandboxes.list(plan_id)
            if not sandboxes:
                raise PlanStateError(
                    "be checkpointed: it has no sandbox yet",
                    plan.phase.value,
                    plan.state.value,
                    hint=f"Run `agents plan execute {plan_id}` first",
                )
            self._known[plan_id] = sandboxes
            moment = Milestone(
                CheckpointType.MANUAL,
                label=label,
                reason="asked for by the user",
                step_index=max(plan.last_completed_step, 0),
            )
            return self.create_checkpoint(plan_id, moment)

    def prune_checkpoints(self, plan_id: str) -> int:
        """Drops what the limit no longer allows and returns how many groups went."""
        with self._held(plan_id):
            with self._database.write() as transaction:
                sandboxes = transaction.sandboxes.list(plan_id)
                plan = transaction.plans.get(plan_id)
                pruned = prune(transaction, plan, self._retention)
            self._forget_snapshots(sandboxes, pruned)
        return pruned.groups

    def rollback_to_checkpoint(self, plan_id: str, checkpoint: Checkpoint) -> RollbackResult:
        """Takes every sandbox and the plan back to the checkpoint, or changes nothing.

        After any error the sandboxes and the records are as they were before.
        """
        return self.carry_out(plan_id, self.whole(checkpoint))

    def preview(self, plan_id: str, intent: Intent) -> RollbackPreview:
        """Says what an operation would do and changes nothing; raises what it would."""
        return self._operations().preview(plan_id, intent)

    def carry_out(self, plan_id: str, intent: Intent) -> RollbackResult:
        """Does what is wanted, whole or not at all.

        Plans below it are held too: none of them runs while it may be given up.
        """
        with self._held(plan_id), held_below(self._database, self._locks, plan_id):
            return self._operations().run(plan_id, intent)

    def whole(self, checkpoint: Checkpoint) -> Intent:
        """Returns the wish to have everything as a checkpoint has it."""
        return RollbackToCheckpoint(checkpoint)

    def part_of_paths(self, plan_id: str, checkpoint: Checkpoint, paths: Sequence[str]) -> Intent:
        """Returns the wish to have some paths as a checkpoint has them."""
        recorder = self._recorder
        return RollbackPaths(plan_id, self._database, self._snapshots, recorder, checkpoint, paths)

    def part_of_step(self, plan_id: str, step_index: int) -> Intent:
        """Returns the wish to take back what one step did."""
        return RollbackStep(plan_id, self._database, self._snapshots, self._recorder, step_index)

    def return_to(self, plan_id: str, checkpoint: Checkpoint) -> None:
        """Takes the sandboxes back within a run; the plan stays in its state.

        The caller holds the plan's lease.
        """
        self._operations().return_to(plan_id, checkpoint)

    def recover(self, plan_id: str) -> RecoveryOutcome | None:
        """Ends what a killed process left unfinished; says what became of an operation, if any."""
        with self._held(plan_id):
            self._end_leftovers(plan_id)
            done = self._applying.recover(plan_id) or self._operations().recover(plan_id)
            drop_unnamed_snapshots(self._database, self._snapshots, plan_id)
            self._cleaning.remove_given_up(plan_id)
            return done

    @contextmanager
    def _held(self, plan_id: str) -> Generator[None]:
        """Holds the plan, and looks its sandboxes up again.

        Whoever held the plan in between may have made a lost sandbox again, from another commit.
        """
        with self._locks.hold(plan_id):
            self._known.pop(plan_id, None)
            yield

    def _end_leftovers(self, plan_id: str) -> None:
        """Ends what a killed run left of its tools, so that nothing else writes any more."""
        with self._database.read() as transaction:
            under_way = transaction.plans.get(plan_id).state is PlanState.PROCESSING
        ended = self._tools.end_leftovers(plan_id) if under_way else 0
        if ended:
            what = counted(ended, "process", "processes")
            self._events.emit(
                WarningIssued(f"Ended {what} that the interrupted run had left behind")
            )

    def _operations(self) -> RollbackProcedure:
        return RollbackProcedure(
            self._database,
            self._snapshots,
            self._sandboxes,
            self._clock,
            self._ids,
            self._faults,
            self._locks.check,
            self._safety,
        )

    def _safety(self, plan_id: str, destination: Destination) -> Checkpoint:
        moment = Milestone(
            CheckpointType.SAFETY,
            label=f"before {destination.note}",
            reason=f"the state that a way to {destination.checkpoint.id} started from",
            step_index=max(destination.checkpoint.metadata.step_index, 0),
        )
        return self.create_checkpoint(plan_id, moment, keep={destination.group.id})

    def _take(self, sandbox: SandboxRef) -> SandboxCheckpoint:
        self._sandboxes.check(sandbox)
        made = self._snapshots.create_checkpoint(sandbox)
        self._faults.reach(FaultPoint.SNAPSHOT_TAKEN)
        return made

    def _already_recorded(
        self, transaction: Transaction, plan: Plan, moment: Milestone, taken: Sequence[Taken]
    ) -> Checkpoint | None:
        """Returns the checkpoint that a killed process made of this very moment, if it did."""
        if not moment.repeated:
            return None
        store = transaction.checkpoints
        calls = store.effective_records(plan.id).calls
        for checkpoint in store.newest_first(plan.id):
            if checkpoint.metadata.last_completed_step != plan.last_completed_step:
                return None
            if is_of_moment(checkpoint, moment, calls):
                group = store.get_group(checkpoint.group_id)
                return checkpoint if group.snapshots == snapshot_ids(taken) else None
        return None

    def _forget_snapshots(self, sandboxes: Sequence[SandboxRef], pruned: PruneResult) -> None:
        for sandbox in sandboxes:
            if sandbox.resource_id in pruned.snapshots:
                self._snapshots.delete_checkpoint(sandbox, pruned.snapshots[sandbox.resource_id])
                self._faults.reach(FaultPoint.PRUNED_SNAPSHOTS_DROPPED)


def _is_partial(taken: Sequence[Taken]) -> bool:
    return any(made.partial for _, made in taken)
