"""The history of a plan in one line: groups, or operations."""

from __future__ import annotations

from datetime import UTC, datetime

from cleveragents.domain.checkpoints.operation import Operation, OperationKind, OperationStatus
from cleveragents.domain.checkpoints.retention import CountedGroup
from cleveragents.domain.plans.session import SessionTrigger

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def counted_groups(words: str) -> list[CountedGroup]:
    """Groups in the order of their words.

    `A=s` is of state s, one in brackets is pinned, `~A` is from a burst of writes in a session,
    and `!A` is the end of one.
    """
    triggers = {"~": SessionTrigger.BURST, "!": SessionTrigger.END}
    parts = [(word.strip("[]~!").partition("="), word[0]) for word in words.split()]
    return [
        CountedGroup(name, state or name, mark == "[", triggers.get(mark, ""))
        for (name, _, state), mark in parts
    ]


def operations(words: str) -> list[Operation]:
    """Operations by the first letter of their kind; a question mark means it was undone."""
    return [] if words == "none" else [_operation(word) for word in words.split()]


_KINDS = {
    "R": OperationKind.ROLLBACK,
    "C": OperationKind.CORRECTION,
    "U": OperationKind.UNDO,
    "D": OperationKind.REDO,
    "A": OperationKind.APPLY,
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
