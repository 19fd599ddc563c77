"""Operations: rollback, correction, undo, redo and apply change files and plan together.

Each operation can itself be undone. An undo that names no operation undid work: a step, or what a
session changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from cleveragents.domain.checkpoints.checkpoint import Checkpoint
from cleveragents.domain.plans.apply import ApplyRecord
from cleveragents.domain.plans.plan import PlanError, PlanPhase, PlanState
from cleveragents.domain.record import Record
from cleveragents.domain.sandboxes.sandbox import FileChange, Uncaptured
from cleveragents.domain.tools.tool import Effect


class OperationKind(StrEnum):
    """What the user asked for."""

    ROLLBACK = "rollback"
    CORRECTION = "correction"
    UNDO = "undo"
    REDO = "redo"
    APPLY = "apply"
    """The only one that changes the project, with what undoes and redoes it."""


class OperationStatus(StrEnum):
    """`pending` is what a killed process leaves behind."""

    PENDING = "pending"
    COMPLETED = "completed"
    UNDONE = "undone"
    """It failed, and its changes were undone."""


class Position(Record):
    """A plan's position: everything in its records that operations change."""

    phase: PlanPhase
    state: PlanState
    attempt: int
    last_completed_step: int
    last_checkpoint_id: str | None
    choices: dict[str, str]
    error: PlanError | None
    cancel_reason: str | None
    finished_at: datetime | None
    calls: tuple[tuple[int, int], ...]
    """The tool calls whose effects the sandboxes contain: ranges of sequence numbers."""
    decisions: tuple[tuple[int, int], ...]
    """The decisions in effect."""
    groups: tuple[tuple[int, int], ...]
    """The checkpoint groups that no operation has set aside."""
    children: dict[str, PlanState] = {}
    """The state of every child plan, by its id."""


class Operation(Record):
    """The journal entry of one operation: intent first, outcome last."""

    id: str
    plan_id: str
    kind: OperationKind
    status: OperationStatus
    target_checkpoint_id: str
    target_group_id: str
    safety_group_id: str
    """The state of the sandboxes before: restoring it undoes the operation."""
    note: str
    created_at: datetime
    finished_at: datetime | None
    before: Position | None = None
    """The plan's position before; None in records of older versions, which cannot be undone."""
    after: Position | None = None
    """Its position when the operation is completed."""
    takes_back: str | None = None
    """For `undo` and `redo`: the operation that they reverse; None if an undo undid work."""
    apply: ApplyRecord | None = None
    """What an apply does to each resource, or the undo or redo of one."""


@dataclass(frozen=True)
class RecoveryOutcome:
    """How an operation ended that a killed process had begun."""

    kind: OperationKind
    completed: bool
    sentence: str
    """For people."""


def to_undo(operations: Iterable[Operation]) -> list[Operation]:
    """Returns the operations that can be undone, the next one last. `operations`: oldest first."""
    return _stacks(operations)[0]


def to_redo(operations: Iterable[Operation]) -> list[Operation]:
    """Returns the undos that can be redone, the next one last."""
    return _stacks(operations)[1]


def _stacks(operations: Iterable[Operation]) -> tuple[list[Operation], list[Operation]]:
    """Replays operations; after a new rollback, correction or apply nothing can be redone."""
    done: list[Operation] = []
    undone: list[Operation] = []
    for operation in operations:
        if operation.status is not OperationStatus.COMPLETED:
            continue
        if operation.kind is OperationKind.UNDO:
            done = [item for item in done if item.id != operation.takes_back]
            undone.append(operation)
        elif operation.kind is OperationKind.REDO:
            undone = [item for item in undone if item.id != operation.takes_back]
            done.append(operation)
        else:
            done.append(operation)
            undone = []
    return done, undone


def bare_note(note: str) -> str:
    """Returns what an operation was about at first: an undo of an undo of a rollback is of that."""
    for kind in (OperationKind.UNDO, OperationKind.REDO):
        note = note.removeprefix(f"{kind.value} of ")
    return note


class RollbackPreview(Record):
    """What an operation would do; the preview changes nothing."""

    plan_id: str
    kind: OperationKind
    checkpoint: Checkpoint
    """The checkpoint to restore from."""
    label: str
    """The label of the state to restore."""
    in_part: bool
    """Whether only some paths of the checkpoint are restored."""
    changes: tuple[FileChange, ...]
    left_alone: tuple[Uncaptured, ...]
    replaced: tuple[Uncaptured, ...]
    """Special files in the way; an undo can make only FIFOs again."""
    decisions_after: int
    tool_calls_after: int
    child_plans_after: int
    decisions_brought_back: int
    tool_calls_brought_back: int
    child_plans_brought_back: int
    checkpoints_after: int
    checkpoints_remaining: int
    effects_not_undone: tuple[Effect, ...]
    phase: PlanPhase
    state: PlanState
    takes_back: Operation | None = None
    in_place: str | None = None
    """The project whose own files change; None if only a sandbox does."""
    commits_kept: tuple[str, ...] = ()
    """Commits that the project got since the checkpoint; a rollback of files leaves them."""
    what: str | None = None
    """What an undo or a redo is about, in a few words."""
    key: str | None = None
    """Names what an undo or a redo is about, so that the user gets what the preview showed."""


class RollbackResult(Record):
    """What an operation did. Every field is measured, not predicted."""

    plan_id: str
    kind: OperationKind
    checkpoint: Checkpoint
    changes: tuple[FileChange, ...]
    left_alone: tuple[Uncaptured, ...]
    replaced: tuple[Uncaptured, ...]
    """Special files in the way; an undo can make only FIFOs again."""
    decisions_discarded: int
    decisions_brought_back: int
    tool_calls_undone: int
    tool_calls_brought_back: int
    child_plans_invalidated: int
    child_plans_brought_back: int
    checkpoints_remaining: int
    effects_not_undone: tuple[Effect, ...]
    operation_id: str
    takes_back: Operation | None
    safety_checkpoint_id: str
    phase: PlanPhase
    state: PlanState
    verified: bool
    """Always true: a restore that cannot be verified is undone, and raises."""
    in_place: str | None = None
    """The project whose own files changed; None if only a sandbox did."""
    commits_kept: tuple[str, ...] = ()
    """Commits that the project got since the checkpoint; its `HEAD` stays where it is."""
    what: str | None = None
    """What an undo or a redo was about, in a few words."""
    next_undo: str | None = None
    """What the next undo would undo."""
    next_redo: str | None = None
    """What the next redo would bring back."""

    @property
    def label(self) -> str:
        return self.checkpoint.metadata.label
