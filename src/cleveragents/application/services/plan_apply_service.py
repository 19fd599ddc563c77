"""PlanApplyService: validates a plan's result, and writes it into the project.

An apply names the files of the sandboxes that no checkpoint holds, and keeps the sandbox for
them. Files that a tool can make again are only mentioned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from cleveragents.application.events import Stage, WarningIssued
from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.locks import Locks, PlanLease
from cleveragents.application.ports.records import Database
from cleveragents.application.ports.sandboxes import SnapshotStore
from cleveragents.application.ports.system import Clock, EventSink, FaultPoints, IdSource
from cleveragents.application.ports.targets import Targets
from cleveragents.application.services.apply.procedure import ApplyProcedure, end_unapplied
from cleveragents.application.services.apply.sandbox_removal import SandboxRemoval
from cleveragents.application.services.apply.validation_runner import ValidationRunner
from cleveragents.application.services.checkpoint_service import CheckpointService, Milestone
from cleveragents.application.services.checkpoints.group_recorder import (
    GroupRecorder,
    Taken,
    snapshot_ids,
)
from cleveragents.application.services.recovery import Recovery
from cleveragents.application.services.rollback.procedure import RollbackProcedure
from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointGroup, CheckpointType
from cleveragents.domain.checkpoints.operation import Operation, OperationKind, OperationStatus
from cleveragents.domain.errors import (
    AlreadyInProjectError,
    ChildPlanError,
    ConflictError,
    NoCheckpointError,
    SandboxChangedError,
)
from cleveragents.domain.plans.apply import (
    ApplyMode,
    ApplyPreview,
    ApplyRecord,
    ApplyRequest,
    ApplyResult,
    LeftOut,
    LeftOutFile,
    Target,
    TargetWork,
)
from cleveragents.domain.plans.cleanup import SandboxCleanup
from cleveragents.domain.plans.plan import Plan, PlanAction, PlanPhase, PlanState
from cleveragents.domain.sandboxes.patterns import PathPatterns
from cleveragents.domain.sandboxes.sandbox import SandboxRef, UncapturedFile
from cleveragents.domain.sandboxes.uncaptured import IGNORED

_ALL = "all"
_NAMED = 20


@dataclass(frozen=True)
class _Found:
    """A plan that may be applied, and what its sandboxes hold."""

    plan: Plan
    works: Sequence[TargetWork]
    taken: Sequence[Taken] | None
    """What the sandboxes hold; None if that is not what the last checkpoint holds."""
    changed: bool
    """Whether they hold what a killed validation left."""
    left_out: LeftOut
    checkpoint_id: str
    """The plan's last checkpoint."""


class PlanApplyService:
    """Applies plans that have run to their end."""

    def __init__(
        self,
        database: Database,
        checkpoints: CheckpointService,
        recorder: GroupRecorder,
        recovery: Recovery,
        rollbacks: RollbackProcedure,
        snapshots: SnapshotStore,
        targets: Targets,
        validations: ValidationRunner,
        procedure: ApplyProcedure,
        removal: SandboxRemoval,
        locks: Locks,
        clock: Clock,
        id_source: IdSource,
        events: EventSink,
        faults: FaultPoints,
        cleanup: SandboxCleanup,
    ) -> None:
        self._database = database
        self._checkpoints = checkpoints
        self._recorder = recorder
        self._recovery = recovery
        self._rollbacks = rollbacks
        self._snapshots = snapshots
        self._targets = targets
        self._validations = validations
        self._procedure = procedure
        self._removal = removal
        self._locks = locks
        self._clock = clock
        self._ids = id_source
        self._events = events
        self._faults = faults
        self._cleanup = cleanup

    def preview(self, plan_id: str, request: ApplyRequest) -> ApplyPreview:
        """Says what an apply would do and raises what it would, validations aside.

        Raises:
            ConflictError: an apply was interrupted, so the project may be in the middle of it.
        """
        with self._locks.hold(plan_id) as lease:
            self._refuse_interrupted(plan_id)
            found = self._guarded(lease, request)
            definition = found.plan.definition
            requirements = (*definition.definition_of_done, *definition.invariants)
            return ApplyPreview(
                plan_id=plan_id,
                mode=request.mode,
                targets=self._plan(found.works, request),
                validations=tuple(item.name for item in definition.validations),
                left_out=found.left_out,
                unchecked=tuple(item.text for item in requirements if item.validation is None),
            )

    def apply(self, plan_id: str, request: ApplyRequest) -> ApplyResult:
        """Writes the result into every resource, or into none.

        After any error every resource is as it was; so it is after a kill, unless the next
        command says that it completed the apply.

        Raises:
            PlanStateError: the plan has not run to its end, or is applied already.
            NoCheckpointError: the plan has no checkpoint to apply.
            SandboxChangedError: the sandbox holds what no checkpoint holds.
            ValidationFailedError: a required validation failed; the plan is constrained.
            TargetRefusedError: nothing can be applied to a resource as it is.
            UncommittedChangesError: files that would be written have uncommitted changes.
            MergeConflictError: the plan and the project changed the same.
            ConflictError: another process holds the plan, or works on the project.
        """
        with self._locks.hold(plan_id) as lease:
            self._faults.reach(FaultPoint.LEASE_TAKEN)
            recovered = self._recovery.finish(plan_id)
            if recovered is not None:
                self._events.emit(WarningIssued(recovered.sentence))
                if recovered.kind is OperationKind.APPLY and recovered.completed:
                    return self.finished(plan_id)
            found = self._guarded(lease, request)
            plan, works, taken = found.plan, found.works, found.taken
            sandboxes = [work.sandbox for work in works]
            if found.changed:
                self._restore_reviewed(lease, found, sandboxes)
            if taken is None:
                taken = self._recorder.take(lease, sandboxes)
            targets = self._plan(works, request)
            try:
                checkpoint = self._begin(lease, plan, taken)
                if plan.definition.validations:
                    self._validations.run(lease, plan, sandboxes, checkpoint)
                    # The user may have changed the project meanwhile.
                    targets = self._plan(works, request)
                operation = self._journal(plan_id, checkpoint, request, targets, found.left_out)
            except BaseException as error:
                self._end_unapplied(plan_id, error)
                raise
            self._events.emit(Stage("Applying"))
            self._procedure.run(lease, operation)
            return self.finished(plan_id)

    def finished(self, plan_id: str) -> ApplyResult:
        """Removes the sandboxes that are no longer needed, and returns what the apply did.

        Raises:
            PlanStateError: the plan is not applied.
        """
        with self._locks.hold(plan_id):
            with self._database.read() as transaction:
                plan = transaction.plans.get(plan_id)
                operations = transaction.operations.list(plan_id)
                count = len(plan.definition.validations)
                # Each attempt to apply has run all of them; the newest results are its own.
                results = transaction.validations.list(plan_id)[-count:] if count else ()
            done = [item.apply for item in operations if item.apply is not None]
            if plan.state is not PlanState.APPLIED or not done:
                raise plan.refusal("show what was applied")
            problems = self._removal.remove_given_up(plan_id)
            with self._locks.hold_below(plan_id) as family:
                for child in family:
                    problems += self._removal.remove_given_up(child.id)
        return ApplyResult(
            plan_id=plan_id,
            operation_id=operations[-1].id,
            mode=done[-1].mode,
            targets=done[-1].targets,
            validations=tuple(results),
            sandboxes_removed=done[-1].remove_sandboxes and not problems,
            problems=tuple(problems),
            left_out=done[-1].left_out,
        )

    def _refuse_interrupted(self, plan_id: str) -> None:
        with self._database.read() as transaction:
            pending = transaction.operations.pending(plan_id)
        if pending is not None:
            raise ConflictError(
                f"{pending.kind.value.capitalize()} {pending.id} was interrupted, and nothing "
                "can be previewed before it is completed or undone",
                hint=f"Run `agents plan apply {plan_id}`: it completes or undoes that first",
            )

    def _guarded(self, lease: PlanLease, request: ApplyRequest) -> _Found:
        """Returns the plan and what it did, if it may be applied as it is."""
        plan_id = lease.plan_id
        with self._database.read() as transaction:
            plan = transaction.plans.get(plan_id)
            if plan.parent_plan_id is not None:
                raise ChildPlanError(plan_id, plan.parent_plan_id)
            if plan.session is not None and plan.session.works_in_place:
                raise AlreadyInProjectError(plan_id)
            plan.after(PlanAction.APPLY, self._clock.now())
            sandboxes = transaction.sandboxes.list(plan_id)
            resources = {item.id: item for item in transaction.sandboxes.resources(plan_id)}
            if plan.last_checkpoint_id is None:
                raise NoCheckpointError(plan_id)
            group = transaction.checkpoints.group_of(plan.last_checkpoint_id)
        first = self._checkpoints.start(plan_id)
        taken = self._recorder.take(lease, sandboxes)
        is_last = snapshot_ids(taken) == group.snapshots
        changed = not is_last and self._is_changed(lease, plan, group, taken)
        works: list[TargetWork] = []
        left_out: list[tuple[str, UncapturedFile]] = []
        for sandbox in sandboxes:
            resource = resources[sandbox.resource_id]
            start, last = first[resource.id], group.snapshots[resource.id]
            with self._snapshots.lock(sandbox, lease) as locked:
                uncaptured = locked.uncaptured(start, resource.path)
                added = [item.path for item in uncaptured if _is_wanted(item, request)]
                if added:
                    last = locked.with_uncaptured(last, added)
                changes = tuple(locked.changes(start, last))
            left_out += [(resource.name, item) for item in uncaptured if item.path not in added]
            works.append(
                TargetWork(
                    plan_id=plan_id,
                    plan_name=plan.name,
                    description=plan.definition.description,
                    resource=resource,
                    sandbox=sandbox,
                    first=start,
                    last=last,
                    changes=changes,
                )
            )
        return _Found(
            plan=plan,
            works=works,
            taken=taken if is_last else None,
            changed=changed,
            left_out=_left_out(left_out) if left_out else LeftOut(),
            checkpoint_id=plan.last_checkpoint_id,
        )

    def _is_changed(
        self, lease: PlanLease, plan: Plan, group: CheckpointGroup, taken: Sequence[Taken]
    ) -> bool:
        """Says whether the sandboxes hold what a killed validation left; forgets what was taken.

        That is ours to remove. Any other change after the last checkpoint is refused, because
        the user has not reviewed it.
        """
        found, sandboxes = snapshot_ids(taken), [sandbox for sandbox, _ in taken]
        changes = self._checkpoints.changes_between(sandboxes, group.snapshots, found)
        self._checkpoints.forget_unnamed(lease, sandboxes, found, group.snapshots)
        paths = [change.path for _, made in changes for change in made]
        if paths and (plan.phase, plan.state) != (PlanPhase.APPLY, PlanState.PROCESSING):
            raise SandboxChangedError(plan.id, paths)
        return bool(paths)

    def _restore_reviewed(
        self, lease: PlanLease, found: _Found, sandboxes: Sequence[SandboxRef]
    ) -> None:
        """Restores the last checkpoint; a safety checkpoint keeps what a validation left."""
        with self._database.read() as transaction:
            last = transaction.checkpoints.get(found.checkpoint_id)
        moment = Milestone(
            CheckpointType.SAFETY,
            label="found when applying",
            reason="a validation was interrupted",
            step_index=max(found.plan.last_completed_step, 0),
        )
        self._recorder.record(lease, moment, self._recorder.take(lease, sandboxes))
        self._rollbacks.restore_during_run(lease, last)

    def _plan(self, works: Sequence[TargetWork], request: ApplyRequest) -> tuple[Target, ...]:
        targets: list[Target] = []
        for work in works:
            targets.append(self._targets.plan(work, request))
            self._faults.reach(FaultPoint.TARGET_PLANNED)
        return tuple(targets)

    def _begin(self, lease: PlanLease, plan: Plan, taken: Sequence[Taken]) -> Checkpoint:
        """Records the checkpoint before the apply, with which the plan enters it."""
        moment = Milestone(
            CheckpointType.PRE_APPLY,
            label="before apply",
            reason="the plan is about to be applied",
            step_index=max(plan.last_completed_step, 0),
            repeated=plan.phase is PlanPhase.APPLY,
        )
        now, fresh = self._clock.now(), {"error": None}
        made = self._recorder.record(
            lease,
            moment,
            taken,
            lambda _, latest: replace(latest.after(PlanAction.APPLY, now), **fresh),
        )
        self._faults.reach(FaultPoint.APPLY_BEGUN)
        return made

    def _journal(
        self,
        plan_id: str,
        checkpoint: Checkpoint,
        request: ApplyRequest,
        targets: tuple[Target, ...],
        left_out: LeftOut,
    ) -> Operation:
        operation = Operation(
            id=self._ids.new(),
            plan_id=plan_id,
            kind=OperationKind.APPLY,
            status=OperationStatus.PENDING,
            target_checkpoint_id=checkpoint.id,
            target_group_id=checkpoint.group_id,
            safety_group_id=checkpoint.group_id,
            note=f"apply ({request.mode.value})",
            created_at=self._clock.now(),
            finished_at=None,
            apply=ApplyRecord(
                mode=request.mode,
                include_uncommitted=request.include_uncommitted,
                targets=targets,
                # What is left out is nowhere else, so the user decides about it.
                remove_sandboxes=self._cleanup is not SandboxCleanup.MANUAL and not left_out.count,
                left_out=left_out,
            ),
        )
        with self._database.write(operation.plan_id) as transaction:
            transaction.operations.add(operation)
        return operation

    def _end_unapplied(self, plan_id: str, cause: BaseException) -> None:
        with self._database.write(plan_id) as transaction:
            plan = transaction.plans.get(plan_id)
            end_unapplied(transaction, plan, cause, self._clock.now())


def _is_wanted(file: UncapturedFile, request: ApplyRequest) -> bool:
    """Returns whether a file that no checkpoint holds is applied too.

    A new branch is a commit, and no commit has ignored files.
    """
    if not file.can_be_added:
        return False
    if request.mode is ApplyMode.BRANCH and file.reason == IGNORED.text:
        return False
    if PathPatterns(request.include_ignored).takes(file.path):
        return True
    return _ALL in request.include_ignored and file.rebuildable is None


def _left_out(files: Sequence[tuple[str, UncapturedFile]]) -> LeftOut:
    """Returns what is left out, of files with the names of their resources."""
    counted = [(resource, item) for resource, item in files if item.rebuildable is None]
    rebuildable = {item.rebuildable for _, item in files if item.rebuildable is not None}
    return LeftOut(
        files=tuple(
            LeftOutFile(
                resource=resource,
                path=item.path,
                reason=item.reason,
                size_bytes=item.size_bytes,
            )
            for resource, item in counted[:_NAMED]
        ),
        count=len(counted),
        size_bytes=sum(item.size_bytes for _, item in counted),
        rebuildable=tuple(sorted(rebuildable)),
    )
