"""What the user wants: each intent says where the sandboxes and the plan go."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from msgspec.structs import replace

from cleveragents.application.ports.records import Transaction
from cleveragents.application.services.rollback import positions
from cleveragents.application.services.rollback.history import Entry, next_entry
from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointGroup
from cleveragents.domain.checkpoints.operation import (
    Operation,
    OperationKind,
    Position,
)
from cleveragents.domain.decisions.correction import CorrectionAttempt
from cleveragents.domain.errors import (
    CheckpointNotFoundError,
    CheckpointPlanMismatchError,
    ConflictError,
    NothingToUndoError,
    SnapshotCorruptError,
    UndoTargetMissingError,
    UsageError,
)
from cleveragents.domain.plans.plan import Plan, PlanAction
from cleveragents.domain.sandboxes.change import PathChange


@dataclass(frozen=True)
class StepChanges:
    """What one step changed in all."""

    step_index: int
    changes: Mapping[str, Mapping[str, PathChange]]
    """By resource id and path."""


@dataclass(frozen=True)
class Part:
    """The part of a checkpoint that is restored; the rest of the sandboxes stays as it is."""

    label: str
    """What the checkpoint is called that holds the present state with this part restored."""
    paths: Mapping[str, Collection[str]]
    """The paths that the user named, by resource id."""
    step: StepChanges | None = None
    """The step whose changes are the part, instead of named paths."""


@dataclass(frozen=True)
class Destination:
    """Where an operation goes."""

    kind: OperationKind
    checkpoint: Checkpoint
    group: CheckpointGroup
    """What the sandboxes will hold."""
    after: Position
    """The new position of the plan."""
    note: str
    """What the journal calls it."""
    takes_back: Operation | None = None
    part: Part | None = None
    """What of the group is restored; None if everything is."""
    what: str | None = None
    """For an undo or a redo: what it is about, in a few words."""
    key: str | None = None
    """For an undo or a redo: names what it is about."""
    correction: CorrectionAttempt | None = None
    """What is stored with the journal entry of a correction, so that it can be completed."""


class Intent(Protocol):
    """What the user wants: a value, asked once for each preview and each operation."""

    def destination(self, transaction: Transaction, plan: Plan) -> Destination:
        """Returns where to go from here. Changes nothing; raises if it is not possible."""
        ...


@dataclass(frozen=True)
class RollbackToCheckpoint:
    """Back, or forth, to a checkpoint."""

    checkpoint: Checkpoint

    def destination(self, transaction: Transaction, plan: Plan) -> Destination:
        group = group_to_restore(transaction, plan, self.checkpoint)
        after = positions.at(transaction, plan, self.checkpoint, group)
        note = f"rollback to {self.checkpoint.metadata.label}"
        return Destination(OperationKind.ROLLBACK, self.checkpoint, group, after, note)


@dataclass(frozen=True)
class UndoRedo:
    """Undoes the newest entry of the history, or redoes what was undone last."""

    kind: OperationKind
    expected: str | None = None
    """The key of what a preview showed, if there was one."""

    def destination(self, transaction: Transaction, plan: Plan) -> Destination:
        entry = next_entry(transaction, plan, self.kind)
        if entry is None:
            raise NothingToUndoError(self.kind.value, plan.id)
        # Whatever could not be rolled back now cannot go anywhere else either.
        plan.moved_by(PlanAction.ROLL_BACK)
        operation = entry.operation
        if self.expected not in (None, entry.key):
            note = entry.what if operation is None else f"the {operation.note}"
            raise ConflictError(
                f"The plan has changed meanwhile: {self.kind.value} would now reverse {note}",
                hint="Ask again if that is what you want",
            )
        if operation is None:
            return self._before_work(transaction, plan, entry)
        if operation.apply is not None:
            raise UsageError(f"To {self.kind.value} an apply changes the project, not a sandbox")
        return self._before_operation(transaction, plan, entry, operation)

    def _before_work(self, transaction: Transaction, plan: Plan, entry: Entry) -> Destination:
        checkpoint = entry.checkpoint
        if checkpoint is None:
            raise UndoTargetMissingError(self.kind.value, entry.what, plan.id)
        group = group_to_restore(transaction, plan, checkpoint)
        after = entry.after or positions.at(transaction, plan, checkpoint, group)
        note = f"{self.kind.value} of {entry.what}"
        return Destination(
            self.kind, checkpoint, group, after, note, what=entry.what, key=entry.key
        )

    def _before_operation(
        self, transaction: Transaction, plan: Plan, entry: Entry, operation: Operation
    ) -> Destination:
        try:
            group = transaction.checkpoints.get_group(operation.safety_group_id)
        except CheckpointNotFoundError as error:
            raise UndoTargetMissingError(self.kind.value, operation.note, plan.id) from error
        every = transaction.checkpoints.list(plan.id, set_aside=True)
        checkpoint = next(item for item in every if item.group_id == group.id)
        group_to_restore(transaction, plan, checkpoint)
        if operation.before is None:  # An older program did it.
            raise UndoTargetMissingError(self.kind.value, operation.note, plan.id)
        kept = {item.id for item in every}
        last = operation.before.last_checkpoint_id
        # A child that was spawned since is gone then, like the decision it came from.
        children = positions.children_at(transaction, plan.id, operation.before.decisions)
        after = replace(
            operation.before,
            last_checkpoint_id=last if last in kept else checkpoint.id,
            children={**children, **operation.before.children},
        )
        if plan.session is not None:
            after = positions.of_session(plan, after)
        note = f"{self.kind.value} of {entry.what}"
        return Destination(
            self.kind,
            checkpoint,
            group,
            after,
            note,
            takes_back=operation,
            what=entry.what,
            key=entry.key,
        )


def group_to_restore(
    transaction: Transaction, plan: Plan, checkpoint: Checkpoint
) -> CheckpointGroup:
    """Returns the group of a checkpoint of the plan.

    Raises:
        CheckpointPlanMismatchError: it is another plan's checkpoint.
        SnapshotCorruptError: its record contradicts that of its group.
    """
    if checkpoint.plan_id != plan.id:
        raise CheckpointPlanMismatchError(checkpoint.id, plan.id, checkpoint.plan_id)
    group = transaction.checkpoints.get_group(checkpoint.group_id)
    if checkpoint.metadata.state_hash not in group.state_hashes.values():
        raise SnapshotCorruptError(
            f"The record of checkpoint {checkpoint.id} is damaged",
            hint="Choose another checkpoint; nothing was changed",
            checkpoint_id=checkpoint.id,
        )
    return group
