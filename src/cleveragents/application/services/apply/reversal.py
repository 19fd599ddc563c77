"""ApplyReversal: undoes an apply while the project is as it left it, and redoes that."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from cleveragents.application.events import Stage
from cleveragents.application.ports.locks import Locks
from cleveragents.application.ports.records import Database
from cleveragents.application.ports.system import Clock, EventSink, IdSource
from cleveragents.application.ports.targets import Targets
from cleveragents.application.services.apply.procedure import ApplyProcedure
from cleveragents.application.services.rollback import positions
from cleveragents.application.services.rollback.history import following, next_entry
from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointType
from cleveragents.domain.checkpoints.operation import (
    Operation,
    OperationKind,
    OperationStatus,
    bare_note,
)
from cleveragents.domain.checkpoints.reversal import ReversalPreview, ReversalResult
from cleveragents.domain.errors import (
    ChangedSinceApplyError,
    ConflictError,
    NothingToUndoError,
    RedoRefusedError,
)
from cleveragents.domain.plans.apply import ApplyRecord, Target
from cleveragents.domain.plans.plan import Plan, PlanAction


@dataclass(frozen=True)
class _Found:
    """An apply, or the undo of one, that is reversed now."""

    plan: Plan
    operation: Operation
    record: ApplyRecord
    checkpoint: Checkpoint


class ApplyReversal:
    """Undoes and redoes applies; `RollbackProcedure` undoes and redoes everything else."""

    def __init__(
        self,
        database: Database,
        targets: Targets,
        procedure: ApplyProcedure,
        locks: Locks,
        clock: Clock,
        id_source: IdSource,
        events: EventSink,
    ) -> None:
        self._database = database
        self._targets = targets
        self._procedure = procedure
        self._locks = locks
        self._clock = clock
        self._ids = id_source
        self._events = events

    def is_next(self, plan_id: str, kind: OperationKind) -> bool:
        """Says whether an undo, or a redo, would now be that of an apply.

        Raises:
            NothingToUndoError: there is nothing to undo or redo at all.
        """
        with self._database.read() as transaction:
            entry = next_entry(transaction, transaction.plans.get(plan_id), kind)
        if entry is None:
            raise NothingToUndoError(kind.value, plan_id)
        return entry.operation is not None and entry.operation.apply is not None

    def preview(self, plan_id: str, kind: OperationKind) -> ReversalPreview:
        """Says what it would do to the project, and raises what it would."""
        with self._locks.hold(plan_id):
            found = self._found(plan_id, kind)
            return ReversalPreview(
                plan_id=plan_id,
                kind=kind,
                what=bare_note(found.operation.note),
                takes_back=found.operation.id,
                mode=found.record.mode,
                targets=self._reversed(found.record),
            )

    def run(self, plan_id: str, kind: OperationKind, expected: str | None = None) -> ReversalResult:
        """Reverses it in every resource, or in none.

        Args:
            plan_id: The plan.
            kind: `UNDO` or `REDO`.
            expected: The operation that a preview named, if there was one.

        Raises:
            ChangedSinceApplyError: the project is not as the apply, or its undo, left it.
            ConflictError: a process holds the plan or works on the project, or what would be
                reversed is not what the preview showed.
        """
        with self._locks.hold(plan_id) as lease, self._locks.hold_below(plan_id):
            found = self._found(plan_id, kind)
            if expected not in (None, found.operation.id):
                raise ConflictError(
                    f"The plan has changed meanwhile: {kind.value} would now reverse the "
                    f"{found.operation.note}",
                    hint="Ask again if that is what you want",
                )
            operation = self._journal(found, kind, self._reversed(found.record))
            self._events.emit(Stage("Undoing the apply" if _is_undo(kind) else "Applying again"))
            self._procedure.run(lease, operation)
            with self._database.read() as transaction:
                plan = transaction.plans.get(plan_id)
                then = following(transaction, plan)
                remaining = len(transaction.checkpoints.list(plan_id))
        return ReversalResult(
            plan_id=plan_id,
            kind=kind,
            what=bare_note(operation.note),
            takes_back=found.operation.id,
            mode=found.record.mode,
            targets=() if operation.apply is None else operation.apply.targets,
            operation_id=operation.id,
            checkpoint_id=found.checkpoint.id,
            checkpoint_label=found.checkpoint.metadata.label,
            checkpoints_remaining=remaining,
            phase=plan.phase,
            state=plan.state,
            next_undo=then.undo,
            next_redo=then.redo,
        )

    def _found(self, plan_id: str, kind: OperationKind) -> _Found:
        with self._database.read() as transaction:
            plan = transaction.plans.get(plan_id)
            pending = transaction.operations.pending(plan_id)
            if pending is not None:
                raise ConflictError(
                    f"{pending.kind.value.capitalize()} {pending.id} was interrupted, and nothing "
                    "can be previewed before it is completed or undone",
                    hint=f"Run `agents plan {kind.value} {plan_id}`: it ends that first",
                )
            entry = next_entry(transaction, plan, kind)
            operation = None if entry is None else entry.operation
            if operation is None or operation.apply is None:
                raise NothingToUndoError(kind.value, plan_id)
            plan.moved_by(PlanAction.UNAPPLY if _is_undo(kind) else PlanAction.APPLY)
            checkpoint = transaction.checkpoints.get(plan.last_checkpoint_id or "")
            if not _is_undo(kind):
                now = transaction.checkpoints.get_group(checkpoint.group_id)
                then = transaction.checkpoints.get_group(operation.safety_group_id)
                if now.snapshots != then.snapshots:
                    raise RedoRefusedError(plan_id)
            return _Found(plan, operation, operation.apply, checkpoint)

    def _reversed(self, record: ApplyRecord) -> tuple[Target, ...]:
        """Returns what each resource will get; refuses if one of them has changed since."""
        targets: list[Target] = []
        refusals: list[ChangedSinceApplyError] = []
        for target in record.targets:
            try:
                targets.append(self._targets.reverse(target))
            except ChangedSinceApplyError as error:
                refusals.append(error)
        if refusals:
            raise refusals[0].united_with(refusals[1:])
        return tuple(targets)

    def _journal(
        self, found: _Found, kind: OperationKind, targets: tuple[Target, ...]
    ) -> Operation:
        plan = found.plan
        # What was rebuilt after the undo may have been changed by hand, so a redo keeps it.
        remove = found.record.remove_sandboxes and _is_undo(kind)
        with self._database.write(plan.id) as transaction:
            before = positions.present(transaction, plan)
            if _is_undo(kind):
                phase, state = plan.moved_by(PlanAction.UNAPPLY)
                ran = transaction.checkpoints.newest(plan.id, CheckpointType.POST_EXECUTE)
                finished = plan.finished_at if ran is None else ran.created_at
                after = replace(before, phase=phase, state=state, finished_at=finished)
            else:
                after = found.operation.before or before
            operation = Operation(
                id=self._ids.new(),
                plan_id=plan.id,
                kind=kind,
                status=OperationStatus.PENDING,
                target_checkpoint_id=found.checkpoint.id,
                target_group_id=found.checkpoint.group_id,
                safety_group_id=found.checkpoint.group_id,
                note=f"{kind.value} of {bare_note(found.operation.note)}",
                created_at=self._clock.now(),
                finished_at=None,
                before=before,
                after=after,
                takes_back=found.operation.id,
                apply=replace(found.record, targets=targets, remove_sandboxes=remove),
            )
            transaction.operations.add(operation)
        return operation


def _is_undo(kind: OperationKind) -> bool:
    return kind is OperationKind.UNDO
