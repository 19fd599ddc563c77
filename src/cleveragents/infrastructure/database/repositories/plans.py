"""Plans, their resources and sandboxes."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from cleveragents.application.ports import PlanStore, SandboxStore
from cleveragents.domain.errors import PlanNotFoundError
from cleveragents.domain.plan import Plan, PlanPhase, PlanState
from cleveragents.domain.sandbox import Resource, SandboxRef
from cleveragents.infrastructure.database.models import PlanModel, ResourceModel, SandboxModel
from cleveragents.infrastructure.database.repositories import rows


class PlanRepository(PlanStore):
    """The plans of one database."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, plan: Plan) -> None:
        rows.add(self._session, PlanModel.from_domain(plan), "plan", plan.id)

    def save(self, plan: Plan) -> None:
        self._row(plan.id)
        rows.save(self._session, PlanModel.from_domain(plan), "plan", plan.id)

    def get(self, plan_id: str) -> Plan:
        return rows.record(self._row(plan_id), "plan")

    def list(
        self,
        *,
        phase: PlanPhase | None = None,
        state: PlanState | None = None,
        project: str | None = None,
    ) -> Sequence[Plan]:
        query = select(PlanModel).order_by(PlanModel.created_at, PlanModel.plan_id)
        if phase is not None:
            query = query.where(PlanModel.phase == phase.value)
        if state is not None:
            query = query.where(PlanModel.state == state.value)
        if project is not None:
            query = query.where(PlanModel.project == project)
        return rows.records(self._session.scalars(query), "plan")

    def ids(self, prefix: str = "") -> Sequence[str]:
        query = (
            select(PlanModel.plan_id)
            .where(rows.begins_with(PlanModel.plan_id, prefix))
            .order_by(PlanModel.created_at, PlanModel.plan_id)
        )
        return self._session.scalars(query).all()

    def _row(self, plan_id: str) -> PlanModel:
        row = self._session.get(PlanModel, plan_id)
        if row is None:
            raise PlanNotFoundError(plan_id)
        return row


class SandboxRepository(SandboxStore):
    """The resources of plans and the sandboxes made of them."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add_resource(self, resource: Resource) -> None:
        rows.add(self._session, ResourceModel.from_domain(resource), "resource", resource.id)

    def add(self, sandbox: SandboxRef) -> None:
        rows.add(self._session, SandboxModel.from_domain(sandbox), "sandbox", sandbox.id)

    def save(self, sandbox: SandboxRef) -> None:
        rows.save(self._session, SandboxModel.from_domain(sandbox), "sandbox", sandbox.id)

    def resources(self, plan_id: str) -> Sequence[Resource]:
        query = (
            select(ResourceModel)
            .where(ResourceModel.plan_id == plan_id)
            .order_by(ResourceModel.position, ResourceModel.resource_id)
        )
        return rows.records(self._session.scalars(query), "resource")

    def list(self, plan_id: str) -> Sequence[SandboxRef]:
        query = (
            select(SandboxModel)
            .join(ResourceModel, ResourceModel.resource_id == SandboxModel.resource_id)
            .where(SandboxModel.plan_id == plan_id)
            .order_by(ResourceModel.position, SandboxModel.created_at, SandboxModel.sandbox_id)
        )
        return rows.records(self._session.scalars(query), "sandbox")
