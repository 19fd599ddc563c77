"""Rows of plans, their resources and sandboxes."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Self

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from cleveragents.domain.plan import Plan, PlanError, PlanPhase, PlanState
from cleveragents.domain.plan_file import PlanDefinition, ResourceType
from cleveragents.domain.sandbox import Resource, SandboxRef, SandboxState, SandboxStrategy
from cleveragents.infrastructure.database import stored_json
from cleveragents.infrastructure.database.models.base import Key, Model, PlanKey


class PlanModel(Model):
    """A row of `plans`."""

    __tablename__ = "plans"
    __table_args__ = (Index(None, "created_at", "plan_id"),)

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

    @classmethod
    def from_domain(cls, plan: Plan) -> Self:
        return cls(
            plan_id=plan.id,
            name=plan.name,
            project=plan.project,
            project_key=plan.project_key,
            plan_file=plan.plan_file,
            definition_json=stored_json.dump(plan.definition),
            arguments_json=stored_json.dump(plan.arguments),
            phase=plan.phase.value,
            state=plan.state.value,
            attempt=plan.attempt,
            reversion_count=plan.reversion_count,
            last_completed_step=plan.last_completed_step,
            last_checkpoint_id=plan.last_checkpoint_id,
            decision_root_id=plan.decision_root_id,
            error_json=None if plan.error is None else stored_json.dump(plan.error),
            created_at=plan.created_at,
            updated_at=plan.updated_at,
            started_at=plan.started_at,
            finished_at=plan.finished_at,
        )

    def to_domain(self) -> Plan:
        error = None if self.error_json is None else json.loads(self.error_json)
        return Plan(
            id=self.plan_id,
            name=self.name,
            project=self.project,
            project_key=self.project_key,
            plan_file=self.plan_file,
            definition=PlanDefinition.model_validate(json.loads(self.definition_json)),
            arguments=json.loads(self.arguments_json),
            phase=PlanPhase(self.phase),
            state=PlanState(self.state),
            attempt=self.attempt,
            reversion_count=self.reversion_count,
            last_completed_step=self.last_completed_step,
            last_checkpoint_id=self.last_checkpoint_id,
            decision_root_id=self.decision_root_id,
            error=None if error is None else PlanError.model_validate(error),
            created_at=self.created_at,
            updated_at=self.updated_at,
            started_at=self.started_at,
            finished_at=self.finished_at,
        )


class ResourceModel(Model):
    """A row of `resources`."""

    __tablename__ = "resources"
    __table_args__ = (Index(None, "plan_id", "position"),)

    resource_id: Mapped[Key]
    plan_id: Mapped[PlanKey]
    name: Mapped[str]
    type: Mapped[str]
    path: Mapped[str]
    position: Mapped[int]

    @classmethod
    def from_domain(cls, resource: Resource) -> Self:
        return cls(
            resource_id=resource.id,
            plan_id=resource.plan_id,
            name=resource.name,
            type=resource.type.value,
            path=resource.path,
            position=resource.position,
        )

    def to_domain(self) -> Resource:
        return Resource(
            id=self.resource_id,
            plan_id=self.plan_id,
            name=self.name,
            type=ResourceType(self.type),
            path=self.path,
            position=self.position,
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
    store: Mapped[str]
    base_commit: Mapped[str | None]
    state: Mapped[str]
    created_at: Mapped[datetime]

    @classmethod
    def from_domain(cls, sandbox: SandboxRef) -> Self:
        return cls(
            sandbox_id=sandbox.id,
            plan_id=sandbox.plan_id,
            resource_id=sandbox.resource_id,
            resource=sandbox.resource,
            strategy=sandbox.strategy.value,
            path=sandbox.path,
            branch=sandbox.branch,
            store=sandbox.store,
            base_commit=sandbox.base_commit,
            state=sandbox.state.value,
            created_at=sandbox.created_at,
        )

    def to_domain(self) -> SandboxRef:
        return SandboxRef(
            id=self.sandbox_id,
            plan_id=self.plan_id,
            resource_id=self.resource_id,
            resource=self.resource,
            strategy=SandboxStrategy(self.strategy),
            path=self.path,
            branch=self.branch,
            store=self.store,
            base_commit=self.base_commit,
            state=SandboxState(self.state),
            created_at=self.created_at,
        )
