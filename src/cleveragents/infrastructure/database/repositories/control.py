"""The journal of operations and the leases on plans."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, bindparam, select

from cleveragents.application.ports import LeaseStore, OperationStore
from cleveragents.domain.lease import Lease
from cleveragents.domain.operation import Operation, OperationStatus
from cleveragents.infrastructure.database import happenings
from cleveragents.infrastructure.database.models import LockModel, OperationModel
from cleveragents.infrastructure.database.models.control import PLAN_LEASE
from cleveragents.infrastructure.database.repositories import rows
from cleveragents.infrastructure.database.repositories.checkpoints import CheckpointRepository
from cleveragents.infrastructure.database.repositories.events import EventRepository
from cleveragents.infrastructure.database.repositories.plans import SandboxRepository
from cleveragents.infrastructure.database.statements import Statement

_OPERATIONS, _LOCKS = OperationModel.table(), LockModel.table()

_OF_PLAN = select(_OPERATIONS).where(_OPERATIONS.c.plan_id == bindparam("plan_id"))
_OPERATIONS_OF_PLAN = Statement(
    _OF_PLAN.order_by(_OPERATIONS.c.created_at, _OPERATIONS.c.operation_id)
)
_IS_LEASE = (_LOCKS.c.resource_type == PLAN_LEASE) & (_LOCKS.c.resource_id == bindparam("plan"))
_LEASE = Statement(select(_LOCKS).where(_IS_LEASE))
_END_LEASE = Statement(_LOCKS.delete().where(_IS_LEASE))
_ADD_LEASE = Statement(_LOCKS.insert())
_RELEASE = Statement(
    _LOCKS.update().where(_IS_LEASE, _LOCKS.c.owner_id == bindparam("owner")).values(released=True)
)
_IS_CURRENT = (
    _IS_LEASE
    & (_LOCKS.c.owner_id == bindparam("owner"))
    & (_LOCKS.c.fencing == bindparam("number"))
    & _LOCKS.c.released.is_(False)
)
_CURRENT = Statement(select(_LOCKS.c.fencing).where(_IS_CURRENT))
_RENEW = Statement(_LOCKS.update().where(_IS_CURRENT).values(expires_at=bindparam("until")))

FOR_CHECKPOINTS = (_OPERATIONS_OF_PLAN, _CURRENT)


class OperationRepository(OperationStore):
    """The journal of operations."""

    def __init__(self, connection: Connection, events: EventRepository) -> None:
        self._connection = connection
        self._events = events

    def add(self, operation: Operation) -> None:
        rows.add(self._connection, _OPERATIONS, OperationModel.from_domain(operation), "operation")

    def save(self, operation: Operation) -> None:
        before = rows.status(self._connection, _OPERATIONS, operation.id, "operation")
        rows.save(self._connection, _OPERATIONS, OperationModel.from_domain(operation), "operation")
        completed = OperationStatus.COMPLETED
        if operation.status is completed and before != completed:
            self._tell_of(operation)

    def _tell_of(self, operation: Operation) -> None:
        """Enters what an operation means for the plan, once it is completed."""
        checkpoints = CheckpointRepository(self._connection, self._events)
        label = checkpoints.label(operation.target_checkpoint_id)
        sandboxes = SandboxRepository(self._connection, self._events).list(operation.plan_id)
        self._events.add_all(happenings.of_done_operation(operation, label, sandboxes))

    def pending(self, plan_id: str) -> Operation | None:
        unfinished = [
            operation
            for operation in self.list(plan_id)
            if operation.status is OperationStatus.PENDING
        ]
        return unfinished[-1] if unfinished else None

    def list(self, plan_id: str) -> Sequence[Operation]:
        found = _OPERATIONS_OF_PLAN.rows(self._connection, {"plan_id": plan_id})
        return rows.records(found, OperationModel.to_domain, "operation")


class LeaseRepository(LeaseStore):
    """Leases; a released one stays as a row, since it keeps the fencing number."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, plan_id: str) -> Lease | None:
        row = _LEASE.first(self._connection, {"plan": plan_id})
        return None if row is None else rows.record(row, LockModel.to_domain, "lease")

    def put(self, lease: Lease) -> None:
        _END_LEASE.run(self._connection, {"plan": lease.plan_id})
        _ADD_LEASE.run(self._connection, LockModel.from_domain(lease))

    def is_current(self, lease: Lease) -> bool:
        return _CURRENT.first(self._connection, _identity(lease)) is not None

    def renew(self, lease: Lease, expires_at: datetime) -> bool:
        return _RENEW.run(self._connection, {**_identity(lease), "until": expires_at}) == 1

    def release(self, plan_id: str, owner_id: str) -> None:
        _RELEASE.run(self._connection, {"plan": plan_id, "owner": owner_id})


def _identity(lease: Lease) -> dict[str, object]:
    return {"plan": lease.plan_id, "owner": lease.holder.owner_id, "number": lease.fencing}
