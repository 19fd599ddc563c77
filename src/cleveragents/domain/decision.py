"""Decisions: why the plan is as it is."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import JsonValue

from cleveragents.domain.record import Record


class DecisionType(StrEnum):
    """Kinds of decision this version records."""

    PROMPT_DEFINITION = "prompt_definition"


class Decision(Record):
    """One choice, with what it rests on; superseded ones stay as records."""

    id: str
    plan_id: str
    parent_id: str | None
    sequence: int
    decision_type: DecisionType
    question: str
    chosen_option: str
    alternatives_considered: list[str]
    confidence: float | None
    rationale: str
    context_snapshot: dict[str, JsonValue]
    is_correction: bool
    superseded_by: str | None
    """The operation or decision that took its place."""
    step_index: int | None
    created_at: datetime
