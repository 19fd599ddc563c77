"""Corrections: a decision is made again, or a child plan adds to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum

from cleveragents.domain.decisions.decision import Decision, DecisionType
from cleveragents.domain.record import Record


class CorrectionMode(StrEnum):
    """What is done about a decision."""

    REVERT = "revert"
    """Roll back to before it, and decide again."""
    APPEND = "append"
    """Keep it, and start a child plan with more work."""


class CorrectionState(StrEnum):
    """`executing` is what a killed process leaves behind."""

    PENDING = "pending"
    EXECUTING = "executing"
    COMPLETE = "complete"
    FAILED = "failed"


class RevertedDecision(Record):
    """One decision of the subtree that a correction superseded."""

    decision_id: str
    question: str
    chosen: str
    artifacts: tuple[str, ...]
    """The paths that the steps of its option changed, as `plan explain` names them."""


class CorrectionAttempt(Record):
    """One correction of one decision, successful or not."""

    id: str
    plan_id: str
    original_decision_id: str
    new_decision_id: str
    """The `user_intervention` that carries the guidance; recorded when the correction is done."""
    operation_id: str | None
    """The operation that rolled the plan back; None for `append`, which does not roll back."""
    mode: CorrectionMode
    guidance: str
    choose: str | None
    """The option that the decision uses from now on."""
    attempt: int
    """The number of the plan's attempt that it starts."""
    state: CorrectionState
    original_subtree: tuple[RevertedDecision, ...]
    archived_checkpoint_id: str | None
    """The checkpoint with the state before a revert."""
    archived_artifacts_path: str | None
    """The snapshot of that checkpoint: a commit in the project's private mirror."""
    child_plan_id: str | None
    created_at: datetime
    completed_at: datetime | None


def affected_by(
    decision: Decision,
    standing: Sequence[Decision],
    influences: Mapping[str, Sequence[str]],
) -> list[Decision]:
    """Returns the decisions that are superseded with one, itself first.

    These are the decisions below it and those that it influenced. The root of a plan is never
    included: it is the task itself. Neither are its invariants, which hold for every attempt.

    Args:
        decision: The decision.
        standing: All decisions of its plan that are in effect.
        influences: The decisions that each one was influenced by, by id.
    """
    below: dict[str, list[Decision]] = {}
    for candidate in standing:
        for cause in {candidate.parent_id, *influences.get(candidate.id, ())}:
            if cause is not None:
                below.setdefault(cause, []).append(candidate)
    found = {decision.id: decision}
    waiting = [decision.id]
    while waiting:
        for candidate in below.get(waiting.pop(), ()):
            kept = candidate.decision_type is DecisionType.INVARIANT_ENFORCED
            if candidate.id not in found and candidate.parent_id is not None and not kept:
                found[candidate.id] = candidate
                waiting.append(candidate.id)
    in_order = sorted(found.values(), key=lambda item: item.sequence)
    return [item for item in in_order if item.parent_id is not None]
