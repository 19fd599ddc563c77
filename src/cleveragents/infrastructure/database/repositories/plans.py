"""Plans, their resources and sandboxes."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, select

from cleveragents.application.ports import PlanStore, SandboxStore
from cleveragents.domain.errors import PlanNotFoundError
from cleveragents.domain.plan import Plan, PlanPhase, PlanState
from cleveragents.domain.sandbox import Resource, SandboxRef
from cleveragents.infrastructure.database import happenings
from cleveragents.infrastructure.database.models import PlanModel, ResourceModel, SandboxModel
from cleveragents.infrastructure.database.repositories import rows
from cleveragents.infrastructure.database.repositories.events import EventRepository
from cleveragents.infrastructure.database.statements import Statement

_PLANS, _RESOURCES, _SANDBOXES = PlanModel.table(), ResourceModel.table(), SandboxModel.table()
_OF_PLAN = bindparam("plan_id", type_=_PLANS.c.plan_id.type)

_PLAN = Statement(select(_PLANS).where(_PLANS.c.plan_id == _OF_PLAN))
_CHILDREN_OF_PLAN = Statement(
    select(_PLANS)
    .where(_PLANS.c.parent_plan_id == _OF_PLAN)
    .order_by(_PLANS.c.created_at, _PLANS.c.plan_id)
)
_RESOURCES_OF_PLAN = Statement(
    select(_RESOURCES)
    .where(_RESOURCES.c.plan_id == _OF_PLAN)
    .order_by(_RESOURCES.c.position, _RESOURCES.c.resource_id)
)
_SANDBOXES_OF_PLAN = Statement(
    select(_SANDBOXES)
    .join(_RESOURCES, _RESOURCES.c.resource_id == _SANDBOXES.c.resource_id)
    .where(_SANDBOXES.c.plan_id == _OF_PLAN)
    .order_by(_RESOURCES.c.position, _SANDBOXES.c.created_at, _SANDBOXES.c.sandbox_id)
)

_WITH_CHECKPOINT = ("last_checkpoint_id", "updated_at")
_WITH_RUN = ("phase", "state", *_WITH_CHECKPOINT)
_WITH_STEP = ("last_completed_step", *_WITH_CHECKPOINT)
FOR_CHECKPOINTS = (
    *(_PLAN, _CHILDREN_OF_PLAN, _SANDBOXES_OF_PLAN),
    *(rows.changing(_PLANS, columns) for columns in (_WITH_CHECKPOINT, _WITH_RUN, _WITH_STEP)),
    rows.changing(_PLANS, (*_WITH_RUN, "started_at")),
)


class PlanRepository(PlanStore):
    """The plans of one database."""

    def __init__(
        self, connection: Connection, events: EventRepository, known: dict[str, Plan]
    ) -> None:
        """Args: `known` holds the plans as this transaction has read or written them."""
        self._connection = connection
        self._events = events
        self._known = known

    def add(self, plan: Plan) -> None:
        rows.add(self._connection, _PLANS, PlanModel.from_domain(plan), "plan")
        self._events.add_all(happenings.of_new_plan(plan))

    def save(self, plan: Plan) -> None:
        before = self._known.get(plan.id) or self.get(plan.id)
        changed = PlanModel.from_domain(plan, before)
        if changed:
            rows.change(self._connection, _PLANS, plan.id, changed)
        self._known[plan.id] = plan
        self._events.add_all(happenings.of_plan(before, plan))

    def get(self, plan_id: str) -> Plan:
        row = _PLAN.first(self._connection, {"plan_id": plan_id})
        if row is None:
            raise PlanNotFoundError(plan_id)
        plan = rows.record(row, PlanModel.to_domain, "plan")
        self._known[plan_id] = plan
        return plan

    def list(
        self,
        *,
        phase: PlanPhase | None = None,
        state: PlanState | None = None,
        project: str | None = None,
    ) -> Sequence[Plan]:
        query = select(_PLANS).order_by(_PLANS.c.created_at, _PLANS.c.plan_id)
        if phase is not None:
            query = query.where(_PLANS.c.phase == phase.value)
        if state is not None:
            query = query.where(_PLANS.c.state == state.value)
        if project is not None:
            query = query.where(_PLANS.c.project == project)
        return rows.records(self._connection.execute(query), PlanModel.to_domain, "plan")

    def children(self, plan_id: str) -> Sequence[Plan]:
        found = _CHILDREN_OF_PLAN.rows(self._connection, {"plan_id": plan_id})
        return rows.records(found, PlanModel.to_domain, "plan")

    def ids(self, prefix: str = "", *, subplans: bool = True) -> Sequence[str]:
        query = (
            select(_PLANS.c.plan_id)
            .where(rows.begins_with(_PLANS.c.plan_id, prefix))
            .order_by(_PLANS.c.created_at, _PLANS.c.plan_id)
        )
        if not subplans:
            query = query.where(_PLANS.c.parent_plan_id.is_(None))
        return self._connection.scalars(query).all()


class SandboxRepository(SandboxStore):
    """The resources of plans and the sandboxes made of them."""

    def __init__(self, connection: Connection, events: EventRepository) -> None:
        self._connection = connection
        self._events = events

    def add_resource(self, resource: Resource) -> None:
        values = ResourceModel.from_domain(resource)
        rows.add(self._connection, _RESOURCES, values, "resource")

    def add(self, sandbox: SandboxRef) -> None:
        rows.add(self._connection, _SANDBOXES, SandboxModel.from_domain(sandbox), "sandbox")
        self._events.add_all(happenings.of_new_sandbox(sandbox))

    def save(self, sandbox: SandboxRef) -> None:
        rows.save(self._connection, _SANDBOXES, SandboxModel.from_domain(sandbox), "sandbox")

    def resources(self, plan_id: str) -> Sequence[Resource]:
        found = _RESOURCES_OF_PLAN.rows(self._connection, {"plan_id": plan_id})
        return rows.records(found, ResourceModel.to_domain, "resource")

    def list(self, plan_id: str) -> Sequence[SandboxRef]:
        found = _SANDBOXES_OF_PLAN.rows(self._connection, {"plan_id": plan_id})
        return rows.records(found, SandboxModel.to_domain, "sandbox")
