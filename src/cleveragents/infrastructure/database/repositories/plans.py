"""Plans, their resources, sandboxes and validation results."""

from __future__ import annotations

from collections.abc import Sequence

from cleveragents.application.ports.records import PlanStore, SandboxStore, ValidationStore
from cleveragents.domain.errors import PlanNotFoundError
from cleveragents.domain.plans.plan import Plan, PlanPhase, PlanState
from cleveragents.domain.plans.validation import ValidationResult
from cleveragents.domain.sandboxes.sandbox import Resource, SandboxRef
from cleveragents.infrastructure.database import event_rules
from cleveragents.infrastructure.database.models import PLANS, RESOURCES, SANDBOXES, VALIDATIONS
from cleveragents.infrastructure.database.repositories.events import EventRepository, Repository
from cleveragents.infrastructure.database.session import Session

_PLAN = f"{PLANS.select} WHERE plan_id = :plan_id"
_CHILDREN = f"{PLANS.select} WHERE parent_plan_id = :plan_id ORDER BY created_at, plan_id"
_RESOURCES = f"{RESOURCES.select} WHERE plan_id = :plan_id ORDER BY position, resource_id"
_SANDBOXES = (
    f"{SANDBOXES.select} JOIN resources ON resources.resource_id = sandboxes.resource_id"
    " WHERE sandboxes.plan_id = :plan_id"
    " ORDER BY resources.position, sandboxes.created_at, sandboxes.sandbox_id"
)
_VALIDATIONS = f"{VALIDATIONS.select} WHERE plan_id = :plan_id ORDER BY started_at, validation_id"


class PlanRepository(Repository, PlanStore):
    """The plans of one database."""

    def __init__(self, session: Session, events: EventRepository, known: dict[str, Plan]) -> None:
        """Args: `known` holds the plans as this transaction has read or written them."""
        super().__init__(session, events)
        self._known = known

    def add(self, plan: Plan) -> None:
        self._session.add(PLANS, plan)
        self._events.add_all(event_rules.of_new_plan(plan))

    def save(self, plan: Plan) -> None:
        before = self._known.get(plan.id) or self.get(plan.id)
        # Only the changed columns: most saves change three, and the definition is large.
        if changed := PLANS.changes(before, plan):
            self._session.update(PLANS, plan.id, changed)
        self._known[plan.id] = plan
        self._events.add_all(event_rules.of_plan(before, plan))

    def get(self, plan_id: str) -> Plan:
        plan = self._session.find_first(PLANS, _PLAN, plan_id=plan_id)
        if plan is None:
            raise PlanNotFoundError(plan_id)
        self._known[plan_id] = plan
        return plan

    def list(
        self,
        *,
        phase: PlanPhase | None = None,
        state: PlanState | None = None,
        project: str | None = None,
    ) -> Sequence[Plan]:
        wanted = {"phase": phase and phase.value, "state": state and state.value}
        wanted["project"] = project
        values = {name: value for name, value in wanted.items() if value is not None}
        where = " AND ".join(f"{name} = :{name}" for name in values) or "true"
        sql = f"{PLANS.select} WHERE {where} ORDER BY created_at, plan_id"
        return self._session.find(PLANS, sql, **values)

    def children(self, plan_id: str) -> Sequence[Plan]:
        return self._session.find(PLANS, _CHILDREN, plan_id=plan_id)

    def ids(self, prefix: str = "", *, subplans: bool = True) -> Sequence[str]:
        where = "" if subplans else "AND parent_plan_id IS NULL"
        return self._ids_starting_with("plans", "plan_id", prefix, where)


class SandboxRepository(Repository, SandboxStore):
    """The resources of plans and the sandboxes made of them."""

    def add_resource(self, resource: Resource) -> None:
        self._session.add(RESOURCES, resource)

    def add(self, sandbox: SandboxRef) -> None:
        self._session.add(SANDBOXES, sandbox)
        self._events.add_all(event_rules.of_new_sandbox(sandbox))

    def save(self, sandbox: SandboxRef) -> None:
        self._session.save(SANDBOXES, sandbox)

    def resources(self, plan_id: str) -> Sequence[Resource]:
        return self._session.find(RESOURCES, _RESOURCES, plan_id=plan_id)

    def list(self, plan_id: str) -> Sequence[SandboxRef]:
        return self._session.find(SANDBOXES, _SANDBOXES, plan_id=plan_id)


class ValidationRepository(Repository, ValidationStore):
    """The results of validations."""

    def add(self, result: ValidationResult) -> None:
        self._session.add(VALIDATIONS, result)
        self._events.add_all(event_rules.of_validation(result))

    def list(self, plan_id: str) -> Sequence[ValidationResult]:
        return self._session.find(VALIDATIONS, _VALIDATIONS, plan_id=plan_id)
