"""Plans and what belongs to each: sandboxes, validation results, leases and events.

Also the base of all repositories: it has the events, because a repository stores
the events that follow from a record together with the record.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

import msgspec

from cleveragents.application.ports.records import (
    EventStore,
    LeaseStore,
    PlanStore,
    SandboxStore,
    ValidationStore,
)
from cleveragents.application.ports.system import Clock
from cleveragents.domain.errors import PlanNotFoundError
from cleveragents.domain.plans.events import (
    PlanCancelled,
    PlanCreated,
    PlanErrored,
    PlanEventRecord,
    PlanPhaseChanged,
    PlanStateChanged,
    SandboxCreated,
    StoredEvent,
    ValidationFailed,
    ValidationPassed,
)
from cleveragents.domain.plans.lease import Lease
from cleveragents.domain.plans.plan import Plan, PlanPhase, PlanState, PlanSummary
from cleveragents.domain.plans.validation import ValidationResult, ValidationStatus
from cleveragents.domain.record import JsonValue
from cleveragents.domain.sandboxes.sandbox import Resource, SandboxRef
from cleveragents.infrastructure.database.models import (
    EVENTS,
    LEASE_HOLDERS,
    LEASES,
    PLAN_SUMMARIES,
    PLANS,
    RESOURCES,
    SANDBOXES,
    VALIDATIONS,
    dump,
)
from cleveragents.infrastructure.database.session import NUMBERING_LOCK, DatabaseSession, id_lists

_PLAN = f"{PLANS.select} WHERE plan_id = :plan_id"
_NEXT_NUMBER = "SELECT coalesce(max(number), 0) + 1 FROM plans"
_NUMBERING = f"SELECT pg_advisory_xact_lock({NUMBERING_LOCK})"
_CHILDREN = f"{PLANS.select} WHERE parent_plan_id = :plan_id ORDER BY number"
# Numbers grow with time, so a plan comes after the one that spawned it.
_DESCENDANTS = (
    "WITH RECURSIVE below(id) AS ("
    "SELECT plan_id FROM plans WHERE parent_plan_id = :plan_id"
    " UNION ALL SELECT plans.plan_id FROM plans JOIN below ON plans.parent_plan_id = below.id)"
    f" {PLANS.select} WHERE plan_id IN (SELECT id FROM below) ORDER BY number"
)
_RESOURCES = f"{RESOURCES.select} WHERE plan_id = :plan_id ORDER BY position, resource_id"
_ALL_RESOURCES = f"{RESOURCES.select} ORDER BY position, resource_id"
_WITH_RESOURCE = (
    f"{SANDBOXES.select} JOIN resources ON resources.resource_id = sandboxes.resource_id"
)
_IN_ORDER = "ORDER BY resources.position, sandboxes.created_at, sandboxes.sandbox_id"
_SANDBOXES = f"{_WITH_RESOURCE} WHERE sandboxes.plan_id = :plan_id {_IN_ORDER}"
_ALL_SANDBOXES = f"{_WITH_RESOURCE} {_IN_ORDER}"
_VALIDATIONS = f"{VALIDATIONS.select} WHERE plan_id = :plan_id ORDER BY started_at, validation_id"

_IS_LEASE = "resource_type = 'plan' AND resource_id = :plan_id"
_IS_CURRENT = f"{_IS_LEASE} AND owner_id = :owner_id AND fencing = :fencing AND NOT released"
_ALL_LEASES = (
    f"SELECT {LEASES.columns}, {LEASE_HOLDERS.columns} FROM locks WHERE resource_type = 'plan'"
)
_LEASE = f"{_ALL_LEASES} AND resource_id = :plan_id"
_REMOVE = f"DELETE FROM locks WHERE {_IS_LEASE}"
_CURRENT = f"SELECT fencing FROM locks WHERE {_IS_CURRENT}"
_RENEW = f"UPDATE locks SET expires_at = :expires_at WHERE {_IS_CURRENT}"
_RELEASE = f"UPDATE locks SET released = true WHERE {_IS_LEASE} AND owner_id = :owner_id"

_ADD_EVENT = (
    "INSERT INTO events (plan_id, type, data_json, created_at)"
    " VALUES (:plan_id, :type, :data_json, :created_at) RETURNING sequence"
)
_LATER = f"{EVENTS.select} WHERE plan_id = :plan_id AND sequence > :after"


_AddedEvent: TypeAlias = tuple[
    Callable[[], int | None], PlanEventRecord, datetime, dict[str, JsonValue]
]
"""What gives an event its number, then the event, its time and its other facts."""


@dataclass(eq=False)
class EventRepository(EventStore):
    """The events of plans; the database numbers them."""

    _session: DatabaseSession
    clock: Clock
    _added: list[_AddedEvent] = field(default_factory=list[_AddedEvent])

    def add(self, event: PlanEventRecord) -> None:
        # The time of storing, not one of the record's: so time and sequence grow together.
        now = self.clock.now()
        facts: dict[str, JsonValue] = {
            name: list(value) if isinstance(value, tuple) else value  # pyright: ignore[reportUnknownArgumentType] # the only tuples are of texts
            for name, value in msgspec.structs.asdict(event).items()
            if name != "plan_id"
        }
        number = self._session.generated(
            _ADD_EVENT,
            plan_id=event.plan_id,
            type=event.type,
            data_json=dump(facts),
            created_at=now,
        )
        self._added.append((number, event, now, facts))

    def list(
        self, plan_id: str, *, after: int = 0, types: Collection[str] | None = None
    ) -> Sequence[StoredEvent]:
        if types is None:
            sql = f"{_LATER} ORDER BY sequence"
            return self._session.find(EVENTS, sql, plan_id=plan_id, after=after)
        found = [
            event
            for sql, values in id_lists(f"{_LATER} AND type IN (:ids)", types)
            for event in self._session.find(EVENTS, sql, plan_id=plan_id, after=after, **values)
        ]
        return sorted(found, key=lambda event: event.sequence)

    def added(self) -> Sequence[StoredEvent]:
        # What was undone with its savepoint has no number.
        return [
            StoredEvent(sequence, event.plan_id, event.type, moment, facts)
            for number, event, moment, facts in self._added
            if (sequence := number()) is not None
        ]


@dataclass(eq=False)
class RecordRepository:
    """A repository that stores the events that follow from what it stores."""

    _session: DatabaseSession
    _events: EventRepository

    def _ids_starting_with(
        self,
        table: str,
        key: str,
        prefix: str,
        where: str = "",
        order: str = "created_at",
        **values: str,
    ) -> list[str]:
        """Returns ids, oldest first.

        Compares exactly: LIKE has wildcards, and whether it ignores case depends on the database.
        """
        rows = self._session.rows(
            f"SELECT {key} FROM {table}"
            f" WHERE substr({key}, 1, length(CAST(:prefix AS text))) = :prefix {where}"
            f" ORDER BY {order}, {key}",
            prefix=prefix,
            **values,
        )
        return [row[0] for row in rows]


@dataclass(eq=False)
class PlanRepository(RecordRepository, PlanStore):
    """The plans of one database."""

    _known: dict[str, Plan] = field(default_factory=dict[str, Plan])
    """The plans as this transaction has read or written them."""

    def add(self, plan: Plan) -> None:
        if not self._session.is_sqlite:
            # Blocks about different plans run side by side, but numbers are given in turn.
            self._session.rows(_NUMBERING)
        [[number]] = self._session.rows(_NEXT_NUMBER)
        self._session.insert(PLANS, {**PLANS.row(plan), "number": number})
        self._events.add(
            PlanCreated(plan.id, plan.name, plan.project, plan.phase.value, plan.state.value)
        )

    def save(self, plan: Plan) -> None:
        before = self._known.get(plan.id) or self.get(plan.id)
        # Only the changed columns: most saves change three, and the definition is large.
        if changed := PLANS.changes(before, plan):
            self._session.update(PLANS, {PLANS.key: plan.id, **changed}, exists=True)
        self._known[plan.id] = plan
        phase, state = plan.phase.value, plan.state.value
        if before.phase is not plan.phase:
            self._events.add(PlanPhaseChanged(plan.id, before.phase.value, phase))
        if (before.phase, before.state) != (plan.phase, plan.state):
            self._events.add(PlanStateChanged(plan.id, phase, before.state.value, state))
        error = plan.error if plan.state is PlanState.ERRORED else None
        if error is not None and (before.state, before.error) != (plan.state, error):
            place = (error.tool, error.step, error.step_index, error.checkpoint)
            self._events.add(PlanErrored(plan.id, error.message, *place))
        if plan.state is PlanState.CANCELLED and before.state is not PlanState.CANCELLED:
            self._events.add(PlanCancelled(plan.id, plan.cancel_reason or ""))

    def expect(self, plan_id: str) -> None:
        self._session.expect(_PLAN, plan_id=plan_id)

    def get(self, plan_id: str) -> Plan:
        found = self._session.find(PLANS, _PLAN, plan_id=plan_id)
        if not found:
            raise PlanNotFoundError(plan_id)
        self._known[plan_id] = found[0]
        return found[0]

    def list(
        self,
        *,
        phase: PlanPhase | None = None,
        state: PlanState | None = None,
        project: str | None = None,
    ) -> Sequence[PlanSummary]:
        wanted = {"phase": phase and phase.value, "state": state and state.value}
        wanted["project"] = project
        values = {name: value for name, value in wanted.items() if value is not None}
        where = " AND ".join(f"{name} = :{name}" for name in values) or "true"
        sql = f"{PLAN_SUMMARIES.select} WHERE {where} ORDER BY number"
        return self._session.find(PLAN_SUMMARIES, sql, **values)

    def children(self, plan_id: str) -> Sequence[Plan]:
        return self._session.find(PLANS, _CHILDREN, plan_id=plan_id)

    def descendants(self, plan_id: str) -> Sequence[Plan]:
        return self._session.find(PLANS, _DESCENDANTS, plan_id=plan_id)

    def ids(
        self, prefix: str = "", *, subplans: bool = True, project: str | None = None
    ) -> Sequence[str]:
        where = "" if subplans else "AND parent_plan_id IS NULL"
        if project is None:
            return self._ids_starting_with("plans", "plan_id", prefix, where, order="number")
        where += " AND project = :project"
        return self._ids_starting_with(
            "plans", "plan_id", prefix, where, order="number", project=project
        )


class SandboxRepository(RecordRepository, SandboxStore):
    """The resources of plans and the sandboxes made of them."""

    home_id: str | None = None
    """The home directory that new sandboxes belong to."""

    def add_resource(self, resource: Resource) -> None:
        self._session.insert(RESOURCES, RESOURCES.row(resource))

    def add(self, sandbox: SandboxRef) -> None:
        row = SANDBOXES.row(sandbox)
        self._session.insert(SANDBOXES, {**row, "home_id": sandbox.home_id or self.home_id})
        facts = (sandbox.resource, sandbox.strategy.value, sandbox.path, sandbox.branch)
        self._events.add(SandboxCreated(sandbox.plan_id, sandbox.id, *facts))

    def save(self, sandbox: SandboxRef) -> None:
        self._session.update(SANDBOXES, SANDBOXES.row(sandbox))

    def resources(self, plan_id: str) -> Sequence[Resource]:
        return self._session.find(RESOURCES, _RESOURCES, plan_id=plan_id)

    def expect(self, plan_id: str) -> None:
        self._session.expect(_SANDBOXES, plan_id=plan_id)

    def list(self, plan_id: str) -> Sequence[SandboxRef]:
        return self._session.find(SANDBOXES, _SANDBOXES, plan_id=plan_id)

    def all_resources(self) -> Sequence[Resource]:
        return self._session.find(RESOURCES, _ALL_RESOURCES)

    def all(self) -> Sequence[SandboxRef]:
        return self._session.find(SANDBOXES, _ALL_SANDBOXES)


class ValidationRepository(RecordRepository, ValidationStore):
    """The results of validations."""

    def add(self, result: ValidationResult) -> None:
        self._session.insert(VALIDATIONS, VALIDATIONS.row(result))
        facts = (result.plan_id, result.id, result.name, result.mode.value, result.duration_ms)
        if result.status is ValidationStatus.PASSED:
            self._events.add(ValidationPassed(*facts))
        else:
            self._events.add(ValidationFailed(*facts, result.message or ""))

    def list(self, plan_id: str) -> Sequence[ValidationResult]:
        return self._session.find(VALIDATIONS, _VALIDATIONS, plan_id=plan_id)


class LeaseRepository(RecordRepository, LeaseStore):
    """Leases; a released one stays as a row, since it keeps the fencing number."""

    def get(self, plan_id: str) -> Lease | None:
        for row in self._session.rows(_LEASE, plan_id=plan_id):
            holder = LEASE_HOLDERS.read(row[LEASES.width :])
            return LEASES.read(row[: LEASES.width], holder=holder)
        return None

    def all(self) -> Sequence[Lease]:
        return [
            LEASES.read(row[: LEASES.width], holder=LEASE_HOLDERS.read(row[LEASES.width :]))
            for row in self._session.rows(_ALL_LEASES)
        ]

    def now(self) -> datetime:
        if self._session.is_sqlite:
            return self._events.clock.now()
        # Not `now()`, which is when the transaction began: it may have waited for a lock.
        moment: datetime = self._session.generated("SELECT clock_timestamp()")()
        return moment

    def put(self, lease: Lease) -> None:
        self._session.run(_REMOVE, plan_id=lease.plan_id)
        holder = LEASE_HOLDERS.row(lease.holder)
        self._session.insert(LEASES, {"resource_type": "plan", **LEASES.row(lease), **holder})

    def is_current(self, lease: Lease) -> bool:
        owner_id = lease.holder.owner_id
        return bool(
            self._session.rows(
                _CURRENT, plan_id=lease.plan_id, owner_id=owner_id, fencing=lease.fencing
            )
        )

    def renew(self, lease: Lease, expires_at: datetime) -> bool:
        renewed = self._session.run(
            _RENEW,
            plan_id=lease.plan_id,
            owner_id=lease.holder.owner_id,
            fencing=lease.fencing,
            expires_at=expires_at,
        )
        return renewed.rowcount == 1

    def release(self, plan_id: str, owner_id: str) -> None:
        self._session.run(_RELEASE, plan_id=plan_id, owner_id=owner_id)
