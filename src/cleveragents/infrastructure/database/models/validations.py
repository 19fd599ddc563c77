"""Rows of what validations said."""

from __future__ import annotations

import json
from datetime import datetime

from sqlalchemy import Index
from sqlalchemy.orm import Mapped

from cleveragents.domain.validation import ValidationMode, ValidationResult, ValidationStatus
from cleveragents.infrastructure.database import stored_json
from cleveragents.infrastructure.database.models.base import Key, Model, PlanKey, StoredRow, Values


class ValidationModel(Model):
    """A row of `validation_results`."""

    __tablename__ = "validation_results"
    __table_args__ = (Index(None, "plan_id", "started_at"),)

    validation_id: Mapped[Key]
    plan_id: Mapped[PlanKey]
    name: Mapped[str]
    mode: Mapped[str]
    status: Mapped[str]
    message: Mapped[str | None]
    output: Mapped[str]
    changed_json: Mapped[str]
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime]

    @staticmethod
    def from_domain(result: ValidationResult) -> Values:
        return {
            "validation_id": result.id,
            "plan_id": result.plan_id,
            "name": result.name,
            "mode": result.mode.value,
            "status": result.status.value,
            "message": result.message,
            "output": result.output,
            "changed_json": stored_json.dump(list(result.changed)),
            "started_at": result.started_at,
            "finished_at": result.finished_at,
        }

    @staticmethod
    def to_domain(row: StoredRow) -> ValidationResult:
        return ValidationResult(
            id=row.validation_id,
            plan_id=row.plan_id,
            name=row.name,
            mode=ValidationMode(row.mode),
            status=ValidationStatus(row.status),
            message=row.message,
            output=row.output,
            changed=tuple(json.loads(row.changed_json)),
            started_at=row.started_at,
            finished_at=row.finished_at,
        )
