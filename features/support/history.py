"""The history of a plan in one line: `A B*R C` are three groups; operation R went past B."""

from __future__ import annotations

from datetime import UTC, datetime

from cleveragents.domain.checkpoints.checkpoint import CheckpointGroup
from cleveragents.domain.checkpoints.operation import Operation, OperationKind, OperationStatus

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def groups(words: str) -> list[CheckpointGroup]:
    """Groups in the order of their words; one in brackets is pinned."""
    return [_group(number, word) for number, word in enumerate(words.split(), 1)]


def operations(words: str) -> list[Operation]:
    """Operations by the first letter of their kind; a question mark means it was undone."""
    return [] if words == "none" else [_operation(word) for word in words.split()]


def _group(sequence: int, word: str) -> CheckpointGroup:
    name, _, rollback = word.strip("[]").partition("*")
    return CheckpointGroup(
        id=name,
        plan_id="plan",
        sequence=sequence,
        created_at=MOMENT,
        snapshots={},
        state_hashes={},
        pinned=word.startswith("["),
        set_aside_by=rollback or None,
    )


_KINDS = {
    "R": OperationKind.ROLLBACK,
    "C": OperationKind.CORRECTION,
    "U": OperationKind.UNDO,
    "D": OperationKind.REDO,
}


def _operation(word: str) -> Operation:
    name, _, taken_back = word.rstrip("?").partition("-")
    return Operation(
        id=name,
        plan_id="plan",
        kind=_KINDS[name[0]],
        status=OperationStatus.UNDONE if word.endswith("?") else OperationStatus.COMPLETED,
        target_checkpoint_id="checkpoint",
        target_group_id="A",
        safety_group_id="B",
        note="",
        created_at=MOMENT,
        finished_at=MOMENT,
        takes_back=taken_back or None,
    )
