"""Rows of what a plan decided and which tools it ran."""

from __future__ import annotations

import json
from datetime import datetime

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from cleveragents.domain.decision import Decision, DecisionType
from cleveragents.domain.tool import ToolCall, ToolCallStatus
from cleveragents.infrastructure.database import stored_json
from cleveragents.infrastructure.database.models.base import Key, Model, PlanKey, StoredRow, Values


class DecisionModel(Model):
    """A row of `decisions`."""

    __tablename__ = "decisions"
    __table_args__ = (
        Index(None, "plan_id", "sequence"),
        Index(
            "ix_decisions_superseded",
            "plan_id",
            sqlite_where=text("superseded_by IS NOT NULL"),
            postgresql_where=text("superseded_by IS NOT NULL"),
        ),
    )

    decision_id: Mapped[Key]
    plan_id: Mapped[PlanKey]
    parent_decision_id: Mapped[str | None] = mapped_column(
        ForeignKey("decisions.decision_id", ondelete="SET NULL")
    )
    sequence: Mapped[int]
    decision_type: Mapped[str]
    question: Mapped[str]
    chosen_option: Mapped[str]
    alternatives_considered: Mapped[str]
    confidence: Mapped[float | None]
    rationale: Mapped[str]
    context_snapshot: Mapped[str]
    is_correction: Mapped[bool]
    superseded_by: Mapped[str | None]
    step_index: Mapped[int | None]
    created_at: Mapped[datetime]
    place: Mapped[str | None]
    downstream_plan_ids: Mapped[str]
    actor_reasoning: Mapped[str | None]
    correction_reason: Mapped[str | None]

    @staticmethod
    def from_domain(decision: Decision) -> Values:
        return {
            "decision_id": decision.id,
            "plan_id": decision.plan_id,
            "parent_decision_id": decision.parent_id,
            "sequence": decision.sequence,
            "decision_type": decision.decision_type.value,
            "question": decision.question,
            "chosen_option": decision.chosen_option,
            "alternatives_considered": stored_json.dump(decision.alternatives_considered),
            "confidence": decision.confidence,
            "rationale": decision.rationale,
            "context_snapshot": stored_json.dump(decision.context_snapshot),
            "is_correction": decision.is_correction,
            "superseded_by": decision.superseded_by,
            "step_index": decision.step_index,
            "created_at": decision.created_at,
            "place": decision.place,
            "downstream_plan_ids": stored_json.dump(decision.downstream_plan_ids),
            "actor_reasoning": decision.actor_reasoning,
            "correction_reason": decision.correction_reason,
        }

    @staticmethod
    def to_domain(row: StoredRow) -> Decision:
        return Decision(
            id=row.decision_id,
            plan_id=row.plan_id,
            parent_id=row.parent_decision_id,
            sequence=row.sequence,
            decision_type=DecisionType(row.decision_type),
            question=row.question,
            chosen_option=row.chosen_option,
            alternatives_considered=json.loads(row.alternatives_considered),
            confidence=row.confidence,
            rationale=row.rationale,
            context_snapshot=json.loads(row.context_snapshot),
            is_correction=row.is_correction,
            superseded_by=row.superseded_by,
            step_index=row.step_index,
            created_at=row.created_at,
            place=row.place,
            downstream_plan_ids=json.loads(row.downstream_plan_ids),
            actor_reasoning=row.actor_reasoning,
            correction_reason=row.correction_reason,
        )


class ToolCallModel(Model):
    """A row of `tool_calls`."""

    __tablename__ = "tool_calls"
    __table_args__ = (
        Index(None, "plan_id", "sequence"),
        # Few calls are undone: finding them must not mean looking at all.
        Index(
            "ix_tool_calls_undone",
            "plan_id",
            "sequence",
            sqlite_where=text("undone_by IS NOT NULL"),
            postgresql_where=text("undone_by IS NOT NULL"),
        ),
    )

    tool_call_id: Mapped[Key]
    plan_id: Mapped[PlanKey]
    sequence: Mapped[int]
    step_index: Mapped[int]
    tool: Mapped[str]
    resource: Mapped[str]
    input_json: Mapped[str]
    input_hash: Mapped[str]
    status: Mapped[str]
    output: Mapped[str | None]
    error: Mapped[str | None]
    undone_by: Mapped[str | None]
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    side_effects_json: Mapped[str | None]
    """None for the many calls that have none."""

    @staticmethod
    def from_domain(call: ToolCall) -> Values:
        return {
            "tool_call_id": call.id,
            "plan_id": call.plan_id,
            "sequence": call.sequence,
            "step_index": call.step_index,
            "tool": call.tool,
            "resource": call.resource,
            "input_json": stored_json.dump(call.input),
            "input_hash": call.input_hash,
            "status": call.status.value,
            "output": call.output,
            "error": call.error,
            "undone_by": call.undone_by,
            "started_at": call.started_at,
            "finished_at": call.finished_at,
            "side_effects_json": (
                stored_json.dump(list(call.side_effects)) if call.side_effects else None
            ),
        }

    @staticmethod
    def to_domain(row: StoredRow) -> ToolCall:
        return ToolCall(
            id=row.tool_call_id,
            plan_id=row.plan_id,
            sequence=row.sequence,
            step_index=row.step_index,
            tool=row.tool,
            resource=row.resource,
            input=json.loads(row.input_json),
            input_hash=row.input_hash,
            status=ToolCallStatus(row.status),
            output=row.output,
            error=row.error,
            undone_by=row.undone_by,
            started_at=row.started_at,
            finished_at=row.finished_at,
            side_effects=tuple(json.loads(row.side_effects_json or "[]")),
        )
