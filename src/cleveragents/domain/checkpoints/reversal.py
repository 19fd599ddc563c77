"""Undoing an apply, and redoing it: what that would do to the project, and what it did."""

from __future__ import annotations

from cleveragents.domain.checkpoints.operation import OperationKind
from cleveragents.domain.plans.apply import ApplyMode, Target
from cleveragents.domain.plans.plan import PlanPhase, PlanState
from cleveragents.domain.record import Record


class ReversalPreview(Record):
    """What the undo or the redo of an apply would do; the project was only read."""

    plan_id: str
    kind: OperationKind
    what: str
    """What it is about, in a few words."""
    takes_back: str
    """The operation that it reverses."""
    mode: ApplyMode
    targets: tuple[Target, ...]


class ReversalResult(Record):
    """What it did."""

    plan_id: str
    kind: OperationKind
    what: str
    takes_back: str
    mode: ApplyMode
    targets: tuple[Target, ...]
    operation_id: str
    checkpoint_id: str
    """The checkpoint that the plan's sandboxes are at."""
    checkpoint_label: str
    checkpoints_remaining: int
    phase: PlanPhase
    state: PlanState
    next_undo: str | None
    """What the next undo would undo."""
    next_redo: str | None
    """What the next redo would bring back."""
