"""Rows of what a plan decided and which tools it ran."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Self

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from cleveragents.domain.decision import Decision, DecisionType
from cleveragents.domain.tool import ToolCall, ToolCallStatus
from cleveragents.infrastructure.database import stored_json
from cleveragents.infrastructure.database.models.base import Key, Model, PlanKey


class DecisionModel(Model):
    """A row of `decisions`."""

    __tablename__ = "decisions"
    __table_args__ = (Index(None, "plan_id", "sequence"),)

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

    @classmethod
    def from_domain(cls, decision: Decision) -> Self:
        return cls(
            decision_id=decision.id,
            plan_id=decision.plan_id,
            parent_decision_id=decision.parent_id,
            sequence=decision.sequence,
            decision_type=decision.decision_type.value,
            question=decision.question,
            chosen_option=decision.chosen_option,
            alternatives_considered=stored_json.dump(decision.alternatives_considered),
            confidence=decision.confidence,
            rationale=decision.rationale,
            context_snapshot=stored_json.dump(decision.context_snapshot),
            is_correction=decision.is_correction,
            superseded_by=decision.superseded_by,
            step_index=decision.step_index,
            created_at=decision.created_at,
        )

    def to_domain(self) -> Decision:
        return Decision(
            id=self.decision_id,
            plan_id=self.plan_id,
            parent_id=self.parent_decision_id,
            sequence=self.sequence,
            decision_type=DecisionType(self.decision_type),
            question=self.question,
            chosen_option=self.chosen_option,
            alternatives_considered=json.loads(self.alternatives_considered),
            confidence=self.confidence,
            rationale=self.rationale,
            context_snapshot=json.loads(self.context_snapshot),
            is_correction=self.is_correction,
            superseded_by=self.superseded_by,
            step_index=self.step_index,
            created_at=self.created_at,
        )


class ToolCallModel(Model):
    """A row of `tool_calls`."""

    __tablename__ = "tool_calls"
    __table_args__ = (Index(None, "plan_id", "sequence"),)

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

    @classmethod
    def from_domain(cls, call: ToolCall) -> Self:
        return cls(
            tool_call_id=call.id,
            plan_id=call.plan_id,
            sequence=call.sequence,
            step_index=call.step_index,
            tool=call.tool,
            resource=call.resource,
            input_json=stored_json.dump(call.input),
            input_hash=call.input_hash,
            status=call.status.value,
            output=call.output,
            error=call.error,
            undone_by=call.undone_by,
            started_at=call.started_at,
            finished_at=call.finished_at,
        )

    def to_domain(self) -> ToolCall:
        return ToolCall(
            id=self.tool_call_id,
            plan_id=self.plan_id,
            sequence=self.sequence,
            step_index=self.step_index,
            tool=self.tool,
            resource=self.resource,
            input=json.loads(self.input_json),
            input_hash=self.input_hash,
            status=ToolCallStatus(self.status),
            output=self.output,
            error=self.error,
            undone_by=self.undone_by,
            started_at=self.started_at,
            finished_at=self.finished_at,
        )
