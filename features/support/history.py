"""The history of a plan in one line: `A B*R C` are three groups, R a rollback that went past B."""

from __future__ import annotations

from datetime import UTC, datetime

from cleveragents.domain.checkpoint import (
    CheckpointGroup,
    Operation,
    OperationKind,
    OperationStatus,
)

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def groups(words: str) -> list[CheckpointGroup]:
    """Groups in the order of their words; one in brackets is pinned."""
    return [_group(number, word) for number, word in enumerate(words.split(), 1)]


def operations(words: str) -> list[Operation]:
    """Rollbacks, each with the group it started from; a question mark means it was undone."""
    return [] if words == "none" else [_operation(*word.split(":")) for word in words.split()]


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


def _operation(name: str, start: str) -> Operation:
    return Operation(
        id=name,
        plan_id="plan",
        kind=OperationKind.ROLLBACK,
        status=OperationStatus.UNDONE if start.endswith("?") else OperationStatus.COMPLETED,
        target_checkpoint_id="checkpoint",
        target_group_id="A",
        safety_group_id=start.rstrip("?"),
        note="",
        created_at=MOMENT,
        finished_at=MOMENT,
    )
