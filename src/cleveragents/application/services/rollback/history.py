"""The history of a plan as its user sees it: what the next undo would undo.

An entry is a step of a plan file, the changes of a session up to one of its checkpoints, or an
operation: a rollback, a correction, a redo, an apply. Only operations have a record of their own.
Work is found by comparing where the plan is with where its last operation in effect left it. What
changed neither a file nor the state of the plan is not an entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cleveragents.application.ports.records import Transaction
from cleveragents.application.services.rollback import positions
from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointGroup, CheckpointType
from cleveragents.domain.checkpoints.number_ranges import holds
from cleveragents.domain.checkpoints.operation import (
    Operation,
    OperationKind,
    Position,
    bare_note,
    to_redo,
    to_undo,
)
from cleveragents.domain.errors import CheckpointNotFoundError
from cleveragents.domain.plans.plan import Plan, step_sequence
from cleveragents.domain.tools.tool import ToolCall


@dataclass(frozen=True)
class Entry:
    """One entry of the history that is in effect."""

    what: str
    """For people: `step 2: write the tests`, `rollback to after one`."""
    operation: Operation | None = None
    """None for work: a step, or what a session changed."""
    checkpoint: Checkpoint | None = None
    """The newest checkpoint from before the work; None if it was deleted or pruned."""
    after: Position | None = None
    """Where the plan is without the work, if an operation led there; else the checkpoint says."""

    @property
    def key(self) -> str | None:
        """Tells whether an undo means the same as the preview that the user saw."""
        if self.operation is not None:
            return self.operation.id
        return None if self.checkpoint is None else self.checkpoint.id


@dataclass(frozen=True)
class Following:
    """What comes next in both directions; None is nothing."""

    undo: str | None
    redo: str | None


def newest_entry(
    transaction: Transaction, plan: Plan, position: Position, done: Sequence[Operation]
) -> Entry | None:
    """Returns what an undo would undo if the plan were at a position; None if nothing.

    Args:
        transaction: The one to read in.
        plan: The plan.
        position: Where it is, or will be.
        done: The operations in effect there, as `to_undo` returns them.
    """
    last = done[-1] if done else None
    if last is not None and last.apply is not None:
        return _of(last)
    # What an older program did is not known well enough to tell what came after it.
    if last is None or last.after is not None:
        points = _Points(transaction, plan, position, last)
        work = points.last_step() if plan.session is None else points.last_changes()
        if work is not None:
            return work
    return None if last is None else _of(last)


def next_entry(transaction: Transaction, plan: Plan, kind: OperationKind) -> Entry | None:
    """Returns what an undo, or a redo, would be about now; None if there is nothing."""
    operations = transaction.operations.list(plan.id)
    if kind is OperationKind.UNDO:
        position = positions.present(transaction, plan)
        return newest_entry(transaction, plan, position, to_undo(operations))
    undone = to_redo(operations)
    return _of(undone[-1]) if undone else None


def following(transaction: Transaction, plan: Plan) -> Following:
    """Returns what the next undo and the next redo would be about."""
    undo, redo = (
        next_entry(transaction, plan, kind) for kind in (OperationKind.UNDO, OperationKind.REDO)
    )
    return Following(undo and undo.what, redo and redo.what)


def _of(operation: Operation) -> Entry:
    return Entry(bare_note(operation.note), operation)


class _Points:
    """The checkpoints that are in effect at a position and newer than an operation."""

    def __init__(
        self, transaction: Transaction, plan: Plan, position: Position, last: Operation | None
    ) -> None:
        self._transaction = transaction
        self._plan = plan
        self._position = position
        self._last = last
        every = transaction.checkpoints.list(plan.id, set_aside=True)
        self._group_ids = {item.id: item.group_id for item in every}
        self._first_rows = {item.group_id: item for item in reversed(every)}
        self._groups = {item.id: item for item in transaction.checkpoints.groups(plan.id)}

    def last_step(self) -> Entry | None:
        """Returns the newest step that was run since the operation, or that began and failed."""
        calls = self._transaction.tool_calls.list(self._plan.id)
        step, done = _progress(self._position, calls)
        last = self._last
        if step < 0 or (
            last is not None
            and last.after is not None
            and (step, done) <= _progress(last.after, calls)
        ):
            return None
        for group, checkpoint in self._newest_first():
            if self._is_before(step, group, checkpoint, calls):
                first = checkpoint.metadata.last_completed_step + 1
                return Entry(self._steps(first, step), checkpoint=checkpoint)
        return self._since_operation(self._steps(step, step))

    def last_changes(self) -> Entry | None:
        """Returns the newest changes that a session made since the operation."""
        here = self._groups.get(self._group_ids.get(self._position.last_checkpoint_id or "", ""))
        if here is None:
            return None
        newer = self._first_rows[here.id]
        for group, checkpoint in self._newest_first():
            if group.sequence >= here.sequence:
                continue
            if group.snapshots != here.snapshots:
                return Entry(_changes(newer), checkpoint=checkpoint)
            newer = checkpoint
        target = self._groups.get(self._last.target_group_id) if self._last is not None else None
        if self._last is None or (target is not None and target.snapshots == here.snapshots):
            return None
        return self._since_operation(_changes(newer))

    def _newest_first(self) -> Iterator[tuple[CheckpointGroup, Checkpoint]]:
        """Yields what the work since the operation has left, and where it began."""
        since = self._first_number()
        for group in sorted(self._groups.values(), key=lambda item: -item.sequence):
            row = self._first_rows.get(group.id)
            if (
                row is not None
                and row.checkpoint_type is not CheckpointType.SAFETY
                and group.sequence > since
                and holds(self._position.groups, group.sequence)
            ):
                yield group, row

    def _first_number(self) -> int:
        """Returns the number of the last group that belongs to the operation."""
        if self._last is None:
            return 0
        named = (self._last.safety_group_id, self._last.target_group_id)
        safety, target = (self._groups.get(group_id) for group_id in named)
        numbers = [group.sequence for group in (safety, target) if group is not None]
        return max(numbers, default=0)

    def _is_before(
        self, step: int, group: CheckpointGroup, checkpoint: Checkpoint, calls: Sequence[ToolCall]
    ) -> bool:
        """Says whether nothing of a step had happened at a checkpoint."""
        known = checkpoint.metadata
        if known.last_completed_step >= step:
            return False
        if any(call.step_index >= step and known.knows(call) for call in calls):
            return False
        decisions = self._transaction.decisions.list(self._plan.id, superseded=True)
        return group.way is None or not any(
            item.step_index is not None
            and item.step_index >= step
            and holds(group.way.decisions, item.sequence)
            for item in decisions
        )

    def _since_operation(self, what: str) -> Entry:
        """Returns the work since the operation as a whole: no checkpoint is in between."""
        if self._last is None:
            return Entry(what)
        try:
            checkpoint = self._transaction.checkpoints.get(self._last.target_checkpoint_id)
        except CheckpointNotFoundError:
            return Entry(what)
        return Entry(what, checkpoint=checkpoint, after=self._last.after)

    def _steps(self, first: int, last: int) -> str:
        planned = [*step_sequence(self._plan.definition.steps, self._position.choices)]
        name = f": {planned[last].step.name}" if last < len(planned) else ""
        if first < last:
            return f"steps {first + 1} to {last + 1}"
        return f"step {last + 1}{name}"


def _progress(position: Position, calls: Sequence[ToolCall]) -> tuple[int, int]:
    """Returns the last step that has left anything, and the last one that is completed."""
    done = position.last_completed_step
    begun = (call.step_index for call in calls if holds(position.calls, call.sequence))
    return max((done, *begun)), done


def _changes(checkpoint: Checkpoint) -> str:
    return f"changes up to `{checkpoint.metadata.label}`"
