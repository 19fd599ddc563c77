"""What an operation is to do: each kind says where the sandboxes and the plan are to go."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from cleveragents.application.ports.records import Transaction
from cleveragents.application.services.checkpoints.milestone import Taken
from cleveragents.application.services.rollback import positions
from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointGroup
from cleveragents.domain.checkpoints.operation import (
    Operation,
    OperationKind,
    Position,
    to_redo,
    to_undo,
)
from cleveragents.domain.errors import (
    CheckpointNotFoundError,
    CheckpointPlanMismatchError,
    ConflictError,
    NothingToUndoError,
    SnapshotCorruptError,
    UndoTargetMissingError,
)
from cleveragents.domain.plans.plan import Plan, PlanEvent, transition


@dataclass(frozen=True)
class Part:
    """A preview of a checkpoint that will be combined from the present state and another one."""

    label: str
    paths: Mapping[str, Collection[str]]
    """The only paths to restore, by resource id."""


@dataclass(frozen=True)
class Destination:
    """Where an operation goes."""

    checkpoint: Checkpoint
    group: CheckpointGroup
    """What the sandboxes are to hold."""
    after: Position
    """Where the plan is to stand."""
    note: str
    """What the journal calls it."""
    takes_back: Operation | None = None
    part: Part | None = None
    """What of the group is restored; None if everything is."""


class Intent(ABC):
    """What the user wants. Asked for a preview, and again when the present state is saved."""

    kind: OperationKind

    @abstractmethod
    def destination(self, transaction: Transaction, plan: Plan) -> Destination:
        """Returns where to go from here. Changes nothing; raises if it is not possible."""

    def combine(self, present: Mapping[str, str]) -> Sequence[Taken]:
        """Stores the snapshots to go to, if they have to be made from the present ones."""
        del present
        return ()

    def settled(
        self, transaction: Transaction, plan: Plan, combined: Sequence[Taken]
    ) -> Destination:
        """Returns where to go, in the transaction that writes it to the journal."""
        del combined
        return self.destination(transaction, plan)

    def journal(self, transaction: Transaction, operation: Operation) -> None:
        """Stores, together with its entry in the journal, what completing it needs."""
        del transaction, operation


class RollbackToCheckpoint(Intent):
    """Back, or forth, to a checkpoint."""

    kind = OperationKind.ROLLBACK

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint

    def destination(self, transaction: Transaction, plan: Plan) -> Destination:
        checkpoint = self._checkpoint
        if checkpoint.plan_id != plan.id:
            raise CheckpointPlanMismatchError(checkpoint.id, plan.id, checkpoint.plan_id)
        group = transaction.checkpoints.get_group(checkpoint.group_id)
        refuse_damaged(checkpoint, group)
        after = positions.at(transaction, plan, checkpoint, group)
        return Destination(checkpoint, group, after, f"rollback to {checkpoint.metadata.label}")


class UndoRedo(Intent):
    """Undoes the last operation, or redoes what was undone last."""

    def __init__(self, kind: OperationKind, expected: str | None = None) -> None:
        """Args: `expected` is the operation that the user was told of, if there was time for it."""
        self.kind = kind
        self._expected = expected

    def destination(self, transaction: Transaction, plan: Plan) -> Destination:
        operations = transaction.operations.list(plan.id)
        undoing = self.kind is OperationKind.UNDO
        stack = to_undo(operations) if undoing else to_redo(operations)
        if not stack:
            raise NothingToUndoError(self.kind.value, plan.id)
        # Whatever could not be rolled back now cannot go anywhere else either.
        transition(plan.phase, plan.state, PlanEvent.ROLL_BACK)
        operation = stack[-1]
        if self._expected not in (None, operation.id):
            raise ConflictError(
                f"The plan has changed meanwhile: to {self.kind.value} would now take back the "
                f"{operation.note}",
                hint="Ask again if that is what you want",
            )
        try:
            group = transaction.checkpoints.get_group(operation.safety_group_id)
        except CheckpointNotFoundError as error:
            raise UndoTargetMissingError(self.kind.value, operation.note, plan.id) from error
        every = transaction.checkpoints.list(plan.id, set_aside=True)
        checkpoint = next(item for item in every if item.group_id == group.id)
        refuse_damaged(checkpoint, group)
        if operation.before is None:  # An older program did it.
            raise UndoTargetMissingError(self.kind.value, operation.note, plan.id)
        kept = {item.id for item in every}
        last = operation.before.last_checkpoint_id
        # A child that was spawned since is gone then, like the decision it came from.
        children = positions.children_at(transaction, plan.id, operation.before.decisions)
        after = operation.before.model_copy(
            update={
                "last_checkpoint_id": last if last in kept else checkpoint.id,
                "children": {**children, **operation.before.children},
            }
        )
        return Destination(
            checkpoint, group, after, f"{self.kind.value} of {_bare(operation.note)}", operation
        )


def refuse_damaged(checkpoint: Checkpoint, group: CheckpointGroup) -> None:
    """Raises where the record of a checkpoint does not say what its group says."""
    if checkpoint.metadata.state_hash not in group.state_hashes.values():
        raise SnapshotCorruptError(
            f"The record of checkpoint {checkpoint.id} is damaged",
            hint="Choose another checkpoint; nothing was changed",
            checkpoint_id=checkpoint.id,
        )


def _bare(note: str) -> str:
    """Returns what an operation was about at first: an undo of an undo of a rollback is of that."""
    for kind in (OperationKind.UNDO, OperationKind.REDO):
        note = note.removeprefix(f"{kind.value} of ")
    return note
