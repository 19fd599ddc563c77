"""Rolling back, undoing, redoing, correcting: one procedure, one method per stage.

1. the leases of the plan and of all plans below it: nobody else changes them
2. guards: refuse what is impossible or would lose something
3. safety checkpoint of the present state
4. journal: the position of the plan and its new position
5. restore every resource, and read it back
6. one transaction: the records follow the files

A failure in 5 or 6 restores every resource from 3 and leaves the records as they were. A kill
leaves a pending journal entry, which `recover` completes or undoes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext

from msgspec.structs import replace

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.locks import Locks, PlanLease
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.sandboxes import Sandboxes, SnapshotStore
from cleveragents.application.ports.system import Clock, FaultPoints, IdSource
from cleveragents.application.services.checkpoints.group_recorder import (
    GroupRecorder,
    Milestone,
    Taken,
    snapshot_ids,
)
from cleveragents.application.services.rollback import positions, revert
from cleveragents.application.services.rollback.history import Following, following
from cleveragents.application.services.rollback.intents import Destination, Intent, Part
from cleveragents.application.services.rollback.partial import paths_of_step
from cleveragents.application.services.subplans.family import cancel
from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointGroup, CheckpointType
from cleveragents.domain.checkpoints.number_ranges import followed_by, holds
from cleveragents.domain.checkpoints.operation import (
    Operation,
    OperationKind,
    OperationStatus,
    Position,
    RecoveryOutcome,
    RollbackPreview,
    RollbackResult,
)
from cleveragents.domain.errors import (
    ChildAppliedError,
    CleverAgentsError,
    ConflictError,
    NoSpaceError,
    PlanAppliedError,
    SandboxMissingError,
    SnapshotCorruptError,
    SnapshotError,
)
from cleveragents.domain.plans.events import CheckpointRestored
from cleveragents.domain.plans.plan import Plan, PlanState
from cleveragents.domain.sandboxes.change import PathChange
from cleveragents.domain.sandboxes.sandbox import (
    FileChange,
    RestorePreview,
    RestoreReport,
    SandboxRef,
    SandboxState,
    SandboxStrategy,
    Uncaptured,
)
from cleveragents.domain.tools.tool import effects_of

_WRITTEN_AGAIN = "written again by the session, which runs"

Paths = Mapping[str, Collection[str]]
"""The paths to restore, by resource id."""


class RollbackProcedure:
    """Carries out operations on plans, and recovers one that was killed."""

    def __init__(
        self,
        database: Database,
        snapshots: SnapshotStore,
        sandboxes: Sandboxes,
        locks: Locks,
        recorder: GroupRecorder,
        clock: Clock,
        id_source: IdSource,
        faults: FaultPoints,
    ) -> None:
        self._database = database
        self._snapshots = snapshots
        self._sandboxes = sandboxes
        self._locks = locks
        self._recorder = recorder
        self._clock = clock
        self._ids = id_source
        self._faults = faults

    def preview(self, plan_id: str, intent: Intent) -> RollbackPreview:
        """Says what an operation would do and changes nothing; raises what it would."""
        _, sandboxes, destination, paths = self._guard(plan_id, intent)
        part = destination.part
        restores: list[RestorePreview] = []
        for sandbox in sandboxes:
            wanted = destination.group.snapshots[sandbox.resource_id]
            some = paths.get(sandbox.resource_id, ()) if part else None
            with self._snapshots.open(sandbox) as opened:
                restores.append(opened.preview(wanted, some))
        changes, left_alone, replaced = _united(sandboxes, restores)
        with self._database.read() as transaction:
            moved = positions.difference(transaction, plan_id, destination.after)
            visible = transaction.checkpoints.list(plan_id)
            every = transaction.checkpoints.list(plan_id, set_aside=True)
        aside = {group.id for group in moved.groups_aside}
        back = {group.id for group in moved.groups_back}
        after = [item for item in visible if item.group_id in aside]
        returning = [item for item in every if item.group_id in back]
        combined = 1 if part else 0
        own = [item for item in sandboxes if item.strategy is SandboxStrategy.IN_PLACE]
        return RollbackPreview(
            plan_id=plan_id,
            kind=destination.kind,
            checkpoint=destination.checkpoint,
            changes=changes,
            left_alone=left_alone,
            replaced=replaced,
            decisions_after=len(moved.decisions_gone),
            tool_calls_after=len(moved.calls_undone),
            child_plans_after=len(moved.children_gone),
            decisions_brought_back=len(moved.decisions_back),
            tool_calls_brought_back=len(moved.calls_back),
            child_plans_brought_back=len(moved.children_back),
            checkpoints_after=len(after),
            # One more is the safety checkpoint.
            checkpoints_remaining=len(visible) - len(after) + len(returning) + combined + 1,
            effects_not_undone=effects_of(moved.calls_undone),
            phase=destination.after.phase,
            state=destination.after.state,
            takes_back=destination.takes_back,
            label=part.label if part else destination.checkpoint.metadata.label,
            in_part=part is not None,
            in_place=own[0].path if own else None,
            commits_kept=self._commits_kept(own, destination.checkpoint) if own else (),
            what=destination.what,
            key=destination.key,
        )

    def run(self, plan_id: str, intent: Intent) -> RollbackResult:
        """Carries out an operation, or changes nothing.

        After any error the sandboxes and the records are as they were before. Only if the
        sandboxes cannot be restored either, the journal entry stays for `recover`.

        Raises:
            ConflictError: a process is working on the plan or on one below it, or a session works
                in place on the same files.
            PlanAppliedError: the plan is applied already.
            ChildAppliedError: it would cancel a child plan that is applied.
            SnapshotCorruptError: what was restored is not what was stored.
            Whatever the intent raises.
        """
        with (
            self._locks.hold(plan_id) as lease,
            self._locks.hold_below(plan_id),
        ):
            plan, sandboxes, destination, _ = self._guard(plan_id, intent)
            # No session may work meanwhile on the files that a rollback in place changes.
            shares = plan.session is not None and plan.session.works_in_place
            alone = self._locks.place(plan.project_key) if shares else nullcontext()
            with alone, self._snapshots.watched(sandboxes):
                taken = self._recorder.take(lease, sandboxes)
                moment = Milestone(
                    CheckpointType.SAFETY,
                    label=f"before {destination.note}",
                    reason=f"saved before the sandbox went to {destination.checkpoint.id}",
                    step_index=max(destination.checkpoint.metadata.step_index, 0),
                )
                safety = self._recorder.record(lease, moment, taken)
                self._faults.reach(FaultPoint.PRESENT_STATE_SAVED)
                operation, checkpoint, group = self._journal(lease, destination, safety, taken)
                try:
                    # Then this is a session whose program runs: no restore interrupts it.
                    goes_on = destination.after.state is PlanState.PROCESSING
                    reports = self._restore(lease, sandboxes, group, None, goes_on=goes_on)
                    plan, moved, remaining = self._record(operation)
                except BaseException as error:
                    self._compensate(lease, operation, sandboxes, error)
                    raise
        changes, left_alone, replaced = _united(sandboxes, reports)
        own = [item for item in sandboxes if item.strategy is SandboxStrategy.IN_PLACE]
        then = Following(None, None)
        if destination.what is not None:
            with self._database.read() as transaction:
                then = following(transaction, plan)
        return RollbackResult(
            plan_id=plan_id,
            kind=destination.kind,
            checkpoint=checkpoint,
            changes=changes,
            left_alone=left_alone,
            replaced=replaced,
            decisions_discarded=len(moved.decisions_gone),
            decisions_brought_back=len(moved.decisions_back),
            tool_calls_undone=len(moved.calls_undone),
            tool_calls_brought_back=len(moved.calls_back),
            child_plans_invalidated=len(moved.children_gone),
            child_plans_brought_back=len(moved.children_back),
            checkpoints_remaining=remaining,
            effects_not_undone=effects_of(moved.calls_undone),
            operation_id=operation.id,
            takes_back=destination.takes_back,
            safety_checkpoint_id=safety.id,
            phase=plan.phase,
            state=plan.state,
            verified=True,
            in_place=own[0].path if own else None,
            commits_kept=self._commits_kept(own, checkpoint) if own else (),
            what=destination.what,
            next_undo=then.undo,
            next_redo=then.redo,
        )

    def _commits_kept(self, own: Sequence[SandboxRef], checkpoint: Checkpoint) -> tuple[str, ...]:
        """Returns the commits since a checkpoint in projects that are their own sandboxes.

        A restore writes files; these commits stay.
        """
        head = checkpoint.metadata.head
        commits: list[str] = []
        for sandbox in own if head is not None else ():
            with self._snapshots.open(sandbox) as opened:
                commits += opened.commits_since(head or "")
        return tuple(commits)

    def recover(self, lease: PlanLease, operation: Operation) -> RecoveryOutcome:
        """Completes a killed operation, or undoes it if it cannot be completed; says which."""
        with self._database.read() as transaction:
            sandboxes = transaction.sandboxes.list(operation.plan_id)
            group = transaction.checkpoints.get_group(operation.target_group_id)
            safety = transaction.checkpoints.get_group(operation.safety_group_id)
        for sandbox in sandboxes:
            try:
                self._sandboxes.check(sandbox)
            except SandboxMissingError:
                self._sandboxes.reopen(sandbox)  # Empty: everything in it is restored below.
        what = f"An interrupted {operation.kind.value} to {operation.target_checkpoint_id}"
        try:
            self._restore(lease, sandboxes, group, safety)
            self._record(operation)
        except ConflictError:
            raise  # Another process has the plan now, and recovers it itself.
        except CleverAgentsError as error:
            self._compensate(lease, operation, sandboxes, error)
            sentence = f"{what} could not be completed and was undone: {error.message}"
            return RecoveryOutcome(operation.kind, completed=False, sentence=sentence)
        return RecoveryOutcome(operation.kind, completed=True, sentence=f"{what} was completed")

    def restore_during_run(self, lease: PlanLease, checkpoint: Checkpoint) -> None:
        """Restores the sandboxes within a run: after a failure, or before continuing it.

        The plan stays in its state. No journal is needed: a kill leaves the plan in
        `processing`, and continuing it begins with this very act.
        """
        plan_id = lease.plan_id
        with self._database.read() as transaction:
            sandboxes = transaction.sandboxes.list(plan_id)
            group = transaction.checkpoints.get_group(checkpoint.group_id)
        self._restore(lease, sandboxes, group, None)
        self._faults.reach(FaultPoint.SANDBOXES_TAKEN_BACK)
        with self._database.write() as transaction:
            plan = transaction.plans.get(plan_id)
            known = positions.known_at(transaction, checkpoint, group)
            transaction.tool_calls.make_effective(plan_id, known.calls, checkpoint.id)
            later = [
                decision.id
                for decision in transaction.decisions.list(plan_id)
                # What the user said holds for whatever is tried next.
                if decision.step_index is not None and not holds(known.decisions, decision.sequence)
            ]
            transaction.decisions.supersede(later, checkpoint.id)
            for child in transaction.plans.children(plan_id):
                if child.spawn_decision_id in later and child.state is not PlanState.CANCELLED:
                    cancel(transaction, child, positions.INVALIDATED, self._clock.now())
            transaction.plans.save(
                replace(
                    plan,
                    last_completed_step=checkpoint.metadata.last_completed_step,
                    last_checkpoint_id=checkpoint.id,
                    updated_at=self._clock.now(),
                )
            )
            transaction.events.add(
                CheckpointRestored(plan_id, checkpoint.id, checkpoint.metadata.label, None, None)
            )
        self._faults.reach(FaultPoint.RETURN_RECORDED)

    def _guard(
        self, plan_id: str, intent: Intent
    ) -> tuple[Plan, Sequence[SandboxRef], Destination, Paths]:
        """Returns plan and sandboxes, where to go, and the paths if only a part is restored."""
        with self._database.read() as transaction:
            plan = transaction.plans.get(plan_id)
            sandboxes = transaction.sandboxes.list(plan_id)
            if plan.state is PlanState.APPLIED:
                raise PlanAppliedError(plan_id)
            destination = intent.destination(transaction, plan)
            applied = [
                child.id
                for child in transaction.plans.descendants(plan_id)
                if child.state is PlanState.APPLIED
                and destination.after.children.get(child.id) is PlanState.CANCELLED
            ]
        if applied:
            raise ChildAppliedError(plan_id, applied)
        part = destination.part
        paths: Paths = self._paths(destination, part, sandboxes) if part else {}
        return plan, sandboxes, destination, paths

    def _paths(
        self,
        destination: Destination,
        part: Part,
        sandboxes: Sequence[SandboxRef],
        present: Mapping[str, str] | None = None,
    ) -> Paths:
        """Returns the paths of a part.

        Args:
            destination: Where to go.
            part: The part of it.
            sandboxes: The plan's sandboxes.
            present: Snapshots of what they hold; None compares with the files themselves.
        """
        if part.step is None:
            return part.paths
        since: dict[str, Sequence[PathChange]] = {}
        for sandbox in sandboxes:
            key = sandbox.resource_id
            if key in part.step.changes:
                then = destination.group.snapshots[key]
                with self._snapshots.open(sandbox) as opened:
                    since[key] = (
                        opened.changes_since(then)
                        if present is None
                        else opened.changes(then, present[key])
                    )
        return paths_of_step(part.step, sandboxes, since)

    def _journal(
        self,
        lease: PlanLease,
        destination: Destination,
        safety: Checkpoint,
        taken: Sequence[Taken],
    ) -> tuple[Operation, Checkpoint, CheckpointGroup]:
        """Stores the intent; returns it with the checkpoint and the group to restore."""
        plan_id, part = safety.plan_id, destination.part
        checkpoint, group, after = destination.checkpoint, destination.group, destination.after
        combined = self._combine(lease, destination, part, taken) if part else ()
        with self._database.write() as transaction:
            plan = transaction.plans.get(plan_id)
            before = positions.present(transaction, plan)
            if part is not None:
                checkpoint, group, after = self._add_combined(
                    transaction,
                    plan,
                    part,
                    combined,
                    replace(before, calls=after.calls),
                )
            takes_back = destination.takes_back
            operation = Operation(
                id=self._ids.new(),
                plan_id=plan_id,
                kind=destination.kind,
                status=OperationStatus.PENDING,
                target_checkpoint_id=checkpoint.id,
                target_group_id=group.id,
                safety_group_id=safety.group_id,
                note=destination.note,
                created_at=self._clock.now(),
                finished_at=None,
                before=before,
                after=after,
                takes_back=takes_back.id if takes_back else None,
            )
            if destination.correction is not None:
                archived = {
                    "operation_id": operation.id,
                    "archived_checkpoint_id": safety.id,
                    "archived_artifacts_path": safety.sandbox_ref,
                }
                transaction.corrections.add(replace(destination.correction, **archived))
            transaction.operations.add(operation)
        self._faults.reach(FaultPoint.ROLLBACK_JOURNALED)
        return operation, checkpoint, group

    def _combine(
        self, lease: PlanLease, destination: Destination, part: Part, taken: Sequence[Taken]
    ) -> list[Taken]:
        """Stores snapshots of the present state with a part of the destination in it.

        The paths are compared with the safety checkpoint: since the guards read the
        files, another process may have changed them.
        """
        present = snapshot_ids(taken)
        paths = self._paths(destination, part, [sandbox for sandbox, _ in taken], present)
        combined: list[Taken] = []
        for sandbox, made in taken:
            here, wanted = made.snapshot_id, paths.get(sandbox.resource_id, ())
            there = destination.group.snapshots[sandbox.resource_id] if wanted else here
            with self._snapshots.lock(sandbox, lease) as locked:
                combined.append((sandbox, locked.combine(here, there, wanted)))
        return combined

    def _add_combined(
        self,
        transaction: Transaction,
        plan: Plan,
        part: Part,
        combined: Sequence[Taken],
        after: Position,
    ) -> tuple[Checkpoint, CheckpointGroup, Position]:
        """Records the combined snapshots as a checkpoint, the new position of the plan."""
        moment = Milestone(
            CheckpointType.COMBINED,
            label=part.label,
            reason="combined for a partial rollback",
            step_index=max(plan.last_completed_step, 0),
        )
        group, checkpoints = self._recorder.add_group(transaction, plan, moment, combined)
        groups = followed_by(after.groups, group.sequence)
        update = {"last_checkpoint_id": checkpoints[0].id, "groups": groups}
        return checkpoints[0], group, replace(after, **update)

    def _restore(
        self,
        lease: PlanLease,
        sandboxes: Sequence[SandboxRef],
        group: CheckpointGroup,
        safety: CheckpointGroup | None,
        *,
        goes_on: bool = False,
    ) -> list[RestoreReport]:
        """Restores every resource.

        Args:
            lease: The lease of the plan.
            sandboxes: Its sandboxes.
            group: What they are to hold.
            safety: What they held before an earlier attempt.
            goes_on: Whether the program of a session writes meanwhile. What it has written since
                is its work, not a failure, and is left alone.
        """
        reports: list[RestoreReport] = []
        for sandbox in sandboxes:
            wanted = group.snapshots[sandbox.resource_id]
            spared = safety.snapshots[sandbox.resource_id] if safety else None
            with self._snapshots.lock(sandbox, lease) as locked:
                report = locked.restore(wanted, spared)
            reports.append(_without_new_work(report) if goes_on else report)
            self._faults.reach(FaultPoint.RESOURCE_RESTORED)
        wrong = [line for report in reports for line in report.differences]
        if wrong:
            raise SnapshotCorruptError(
                "What was restored is not what was stored: " + "; ".join(wrong),
                hint="End the processes that write to the sandbox, then roll back again",
                differences=wrong,
            )
        return reports

    def _record(self, operation: Operation) -> tuple[Plan, positions.PositionDifference, int]:
        """Returns the plan, what changed in the records, and the checkpoints left."""
        now = self._clock.now()
        with self._database.write() as transaction:
            after = operation.after or positions.meant_by(transaction, operation)
            attempt = None
            if operation.kind is OperationKind.CORRECTION:
                attempt = transaction.corrections.of_operation(operation.id)
            successor = attempt.new_decision_id if attempt else operation.id
            plan, moved = positions.move(
                transaction, operation.plan_id, after, operation.id, successor, now
            )
            if attempt is not None:
                revert.complete(transaction, plan, attempt, now)
            for sandbox in transaction.sandboxes.list(operation.plan_id):
                transaction.sandboxes.save(replace(sandbox, state=SandboxState.ROLLED_BACK))
            ended = {"status": OperationStatus.COMPLETED, "finished_at": now}
            transaction.operations.save(replace(operation, **ended))
            remaining = len(transaction.checkpoints.list(operation.plan_id))
        self._faults.reach(FaultPoint.ROLLBACK_RECORDED)
        return plan, moved, remaining

    def _compensate(
        self,
        lease: PlanLease,
        operation: Operation,
        sandboxes: Sequence[SandboxRef],
        cause: BaseException,
    ) -> None:
        """Restores every resource from the safety group; the journal stays open if that fails.

        An interruption may come after the records were stored: then there is nothing to undo.
        """
        with self._database.read() as transaction:
            pending = transaction.operations.pending(operation.plan_id)
            group = transaction.checkpoints.get_group(operation.safety_group_id)
        if pending is None or pending.id != operation.id:
            return
        try:
            self._restore(lease, sandboxes, group, group)
        except ConflictError:
            raise
        except CleverAgentsError as error:
            # A full disk damages nothing: it has its own exit code.
            raise (NoSpaceError if isinstance(error, NoSpaceError) else SnapshotError)(
                f"The {operation.kind.value} failed ({cause}) and could not be undone: "
                f"{error.message}",
                hint=f"Fix the cause, then run `agents plan execute {operation.plan_id}`: "
                "it finishes the operation",
            ) from cause
        self._faults.reach(FaultPoint.COMPENSATED)
        now = self._clock.now()
        with self._database.write(operation.plan_id) as transaction:
            ended = {"status": OperationStatus.UNDONE, "finished_at": now}
            transaction.operations.save(replace(operation, **ended))
            attempt = None
            if operation.kind is OperationKind.CORRECTION:
                attempt = transaction.corrections.of_operation(operation.id)
            if attempt is not None:
                transaction.corrections.save(revert.failed(attempt, now))
            _set_aside_what_was_made_for(transaction, operation)


def _set_aside_what_was_made_for(transaction: Transaction, operation: Operation) -> None:
    """Hides the group that was combined for an operation that was then undone."""
    target = transaction.checkpoints.get_group(operation.target_group_id)
    safety = transaction.checkpoints.get_group(operation.safety_group_id)
    if target.sequence > safety.sequence:
        transaction.checkpoints.set_aside([target.id], operation.id)


def _without_new_work(report: RestoreReport) -> RestoreReport:
    """Returns the report in which what differs is left alone: a program has just written it."""
    written = tuple(Uncaptured(path=path, reason=_WRITTEN_AGAIN) for path in report.differing)
    return replace(report, left_alone=(*report.left_alone, *written), differences=())


def _united(
    sandboxes: Sequence[SandboxRef], parts: Sequence[RestorePreview | RestoreReport]
) -> tuple[tuple[FileChange, ...], tuple[Uncaptured, ...], tuple[Uncaptured, ...]]:
    """Returns the changes, what is left alone and what is replaced, each in one list.

    With several resources a path names its resource first.
    """
    changes: list[FileChange] = []
    left_alone: list[Uncaptured] = []
    replaced: list[Uncaptured] = []
    for sandbox, part in zip(sandboxes, parts, strict=True):
        prefix = "" if len(sandboxes) == 1 else f"{sandbox.resource}/"
        for change in part.changes:
            changes.append(replace(change, file=f"{prefix}{change.file}"))
        for items, found in ((left_alone, part.left_alone), (replaced, part.replaced)):
            items += [replace(item, path=f"{prefix}{item.path}") for item in found]
    return tuple(changes), tuple(left_alone), tuple(replaced)
