"""Rows of plans, their resources and sandboxes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from cleveragents.domain.plan import Plan, PlanError, PlanPhase, PlanState
from cleveragents.domain.plan_file import PlanDefinition, ResourceType
from cleveragents.domain.record import Record
from cleveragents.domain.sandbox import (
    CopyMethod,
    Resource,
    SandboxRef,
    SandboxState,
    SandboxStrategy,
    Uncaptured,
)
from cleveragents.infrastructure.database import stored_json
from cleveragents.infrastructure.database.models.base import Key, Model, PlanKey, StoredRow, Values


class PlanModel(Model):
    """A row of `plans`."""

    __tablename__ = "plans"
    __table_args__ = (Index(None, "created_at", "plan_id"), Index(None, "parent_plan_id"))

    plan_id: Mapped[Key]
    name: Mapped[str]
    project: Mapped[str]
    project_key: Mapped[str]
    plan_file: Mapped[str]
    definition_json: Mapped[str]
    arguments_json: Mapped[str]
    phase: Mapped[str]
    state: Mapped[str]
    attempt: Mapped[int]
    reversion_count: Mapped[int]
    last_completed_step: Mapped[int]
    last_checkpoint_id: Mapped[str | None]
    decision_root_id: Mapped[str | None]
    error_json: Mapped[str | None]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    choices_json: Mapped[str]
    cancel_reason: Mapped[str | None]
    parent_plan_id: Mapped[str | None]
    spawn_decision_id: Mapped[str | None]

    @staticmethod
    def from_domain(plan: Plan, before: Plan | None = None) -> Values:
        """Returns the columns; with `before` only those in which the plan differs from it."""
        return {
            _COLUMNS.get(field, field): _stored(value)
            for field, value in plan
            if before is None or _differs(value, getattr(before, field))
        }

    @staticmethod
    def to_domain(row: StoredRow) -> Plan:
        error = None if row.error_json is None else json.loads(row.error_json)
        return Plan(
            id=row.plan_id,
            name=row.name,
            project=row.project,
            project_key=row.project_key,
            plan_file=row.plan_file,
            definition=_definition(row.definition_json),
            arguments=json.loads(row.arguments_json),
            phase=PlanPhase(row.phase),
            state=PlanState(row.state),
            attempt=row.attempt,
            reversion_count=row.reversion_count,
            last_completed_step=row.last_completed_step,
            last_checkpoint_id=row.last_checkpoint_id,
            decision_root_id=row.decision_root_id,
            error=None if error is None else PlanError.model_validate(error),
            created_at=row.created_at,
            updated_at=row.updated_at,
            started_at=row.started_at,
            finished_at=row.finished_at,
            choices=json.loads(row.choices_json),
            cancel_reason=row.cancel_reason,
            parent_plan_id=row.parent_plan_id,
            spawn_decision_id=row.spawn_decision_id,
        )


_COLUMNS = {
    "id": "plan_id",
    "definition": "definition_json",
    "arguments": "arguments_json",
    "error": "error_json",
    "choices": "choices_json",
}
"""Columns that are not called as the field is."""


def _stored(value: Any) -> object:
    if isinstance(value, StrEnum):
        return value.value
    return stored_json.dump(value) if isinstance(value, Record | dict) else value  # pyright: ignore[reportUnknownArgumentType] # the only dictionaries hold texts


def _differs(value: object, before: object) -> bool:
    return value is not before and value != before


@lru_cache(maxsize=8)
def _definition(text: str) -> PlanDefinition:
    """Reads a definition once: a running plan is read many times, and its definition stays."""
    return PlanDefinition.model_validate(json.loads(text))


class ResourceModel(Model):
    """A row of `resources`."""

    __tablename__ = "resources"
    __table_args__ = (Index(None, "plan_id", "position"),)

    resource_id: Mapped[Key]
    plan_id: Mapped[PlanKey]
    name: Mapped[str]
    type: Mapped[str]
    strategy: Mapped[str]
    path: Mapped[str]
    position: Mapped[int]
    include_uncommitted: Mapped[bool]

    @staticmethod
    def from_domain(resource: Resource) -> Values:
        return {
            "resource_id": resource.id,
            "plan_id": resource.plan_id,
            "name": resource.name,
            "type": resource.type.value,
            "strategy": resource.strategy.value,
            "path": resource.path,
            "position": resource.position,
            "include_uncommitted": resource.include_uncommitted,
        }

    @staticmethod
    def to_domain(row: StoredRow) -> Resource:
        return Resource(
            id=row.resource_id,
            plan_id=row.plan_id,
            name=row.name,
            type=ResourceType(row.type),
            strategy=SandboxStrategy(row.strategy),
            path=row.path,
            position=row.position,
            include_uncommitted=row.include_uncommitted,
        )


class SandboxModel(Model):
    """A row of `sandboxes`."""

    __tablename__ = "sandboxes"
    __table_args__ = (Index(None, "plan_id"),)

    sandbox_id: Mapped[Key]
    plan_id: Mapped[PlanKey]
    resource_id: Mapped[str] = mapped_column(
        ForeignKey("resources.resource_id", ondelete="CASCADE")
    )
    resource: Mapped[str]
    strategy: Mapped[str]
    path: Mapped[str]
    branch: Mapped[str]
    """Empty where there is none: SQLite would have to make the table anew to allow NULL."""
    store: Mapped[str]
    base_commit: Mapped[str | None]
    state: Mapped[str]
    created_at: Mapped[datetime]
    copied_by: Mapped[str | None]
    skipped_json: Mapped[str | None]

    @staticmethod
    def from_domain(sandbox: SandboxRef) -> Values:
        return {
            "sandbox_id": sandbox.id,
            "plan_id": sandbox.plan_id,
            "resource_id": sandbox.resource_id,
            "resource": sandbox.resource,
            "strategy": sandbox.strategy.value,
            "path": sandbox.path,
            "branch": sandbox.branch or "",
            "store": sandbox.store,
            "base_commit": sandbox.base_commit,
            "state": sandbox.state.value,
            "created_at": sandbox.created_at,
            "copied_by": None if sandbox.copied_by is None else sandbox.copied_by.value,
            "skipped_json": _dump_skipped(sandbox.skipped),
        }

    @staticmethod
    def to_domain(row: StoredRow) -> SandboxRef:
        return SandboxRef(
            id=row.sandbox_id,
            plan_id=row.plan_id,
            resource_id=row.resource_id,
            resource=row.resource,
            strategy=SandboxStrategy(row.strategy),
            path=row.path,
            branch=row.branch or None,
            store=row.store,
            base_commit=row.base_commit,
            state=SandboxState(row.state),
            created_at=row.created_at,
            copied_by=None if row.copied_by is None else CopyMethod(row.copied_by),
            skipped=_load_skipped(row.skipped_json),
        )


def _dump_skipped(skipped: Sequence[Uncaptured]) -> str | None:
    return json.dumps([item.model_dump() for item in skipped]) if skipped else None


def _load_skipped(stored: str | None) -> tuple[Uncaptured, ...]:
    return tuple(Uncaptured.model_validate(item) for item in json.loads(stored or "[]"))
