"""Rows of corrections, and of what influenced a decision."""

from __future__ import annotations

import json
from datetime import datetime

from pydantic import JsonValue
from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from cleveragents.domain.correction import (
    CorrectionAttempt,
    CorrectionMode,
    CorrectionState,
    RevertedDecision,
)
from cleveragents.infrastructure.database import stored_json
from cleveragents.infrastructure.database.models.base import Key, Model, PlanKey, StoredRow, Values


class DecisionDependencyModel(Model):
    """A row of `decision_dependencies`: one decision rests on another."""

    __tablename__ = "decision_dependencies"
    __table_args__ = (Index(None, "influenced_by_id"),)

    decision_id: Mapped[str] = mapped_column(
        ForeignKey("decisions.decision_id", ondelete="CASCADE"), primary_key=True
    )
    influenced_by_id: Mapped[str] = mapped_column(
        ForeignKey("decisions.decision_id", ondelete="CASCADE"), primary_key=True
    )


class CorrectionModel(Model):
    """A row of `correction_attempts`."""

    __tablename__ = "correction_attempts"
    __table_args__ = (Index(None, "plan_id"),)

    correction_attempt_id: Mapped[Key]
    plan_id: Mapped[PlanKey]
    original_decision_id: Mapped[str] = mapped_column(
        ForeignKey("decisions.decision_id", ondelete="CASCADE")
    )
    new_decision_id: Mapped[str]
    operation_id: Mapped[str | None]
    mode: Mapped[str]
    guidance: Mapped[str]
    choose: Mapped[str | None]
    attempt: Mapped[int]
    state: Mapped[str]
    original_subtree_snapshot: Mapped[str]
    archived_checkpoint_id: Mapped[str | None]
    archived_artifacts_path: Mapped[str | None]
    child_plan_id: Mapped[str | None]
    created_at: Mapped[datetime]
    completed_at: Mapped[datetime | None]

    @staticmethod
    def from_domain(attempt: CorrectionAttempt) -> Values:
        subtree: list[JsonValue] = [item.model_dump() for item in attempt.original_subtree]
        return {
            "correction_attempt_id": attempt.id,
            "plan_id": attempt.plan_id,
            "original_decision_id": attempt.original_decision_id,
            "new_decision_id": attempt.new_decision_id,
            "operation_id": attempt.operation_id,
            "mode": attempt.mode.value,
            "guidance": attempt.guidance,
            "choose": attempt.choose,
            "attempt": attempt.attempt,
            "state": attempt.state.value,
            "original_subtree_snapshot": stored_json.dump({"decisions": subtree}),
            "archived_checkpoint_id": attempt.archived_checkpoint_id,
            "archived_artifacts_path": attempt.archived_artifacts_path,
            "child_plan_id": attempt.child_plan_id,
            "created_at": attempt.created_at,
            "completed_at": attempt.completed_at,
        }

    @staticmethod
    def to_domain(row: StoredRow) -> CorrectionAttempt:
        subtree = json.loads(row.original_subtree_snapshot)["decisions"]
        return CorrectionAttempt(
            id=row.correction_attempt_id,
            plan_id=row.plan_id,
            original_decision_id=row.original_decision_id,
            new_decision_id=row.new_decision_id,
            operation_id=row.operation_id,
            mode=CorrectionMode(row.mode),
            guidance=row.guidance,
            choose=row.choose,
            attempt=row.attempt,
            state=CorrectionState(row.state),
            original_subtree=tuple(RevertedDecision.model_validate(item) for item in subtree),
            archived_checkpoint_id=row.archived_checkpoint_id,
            archived_artifacts_path=row.archived_artifacts_path,
            child_plan_id=row.child_plan_id,
            created_at=row.created_at,
            completed_at=row.completed_at,
        )
