"""The journal of operations, and the leases on plans."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from cleveragents.application.ports.records import LeaseStore, OperationStore
from cleveragents.domain.checkpoints.operation import Operation, OperationStatus
from cleveragents.domain.plans.lease import Lease
from cleveragents.infrastructure.database import event_rules
from cleveragents.infrastructure.database.models import LEASE_HOLDERS, LEASES, OPERATIONS
from cleveragents.infrastructure.database.repositories.checkpoints import CheckpointRepository
from cleveragents.infrastructure.database.repositories.events import Repository
from cleveragents.infrastructure.database.repositories.plans import SandboxRepository
from cleveragents.infrastructure.database.session import insertion

_OPERATIONS = f"{OPERATIONS.select} WHERE plan_id = :plan_id ORDER BY created_at, operation_id"

_IS_LEASE = "resource_type = 'plan' AND resource_id = :plan_id"
_IS_CURRENT = f"{_IS_LEASE} AND owner_id = :owner_id AND fencing = :fencing AND NOT released"
_LEASE = f"{LEASES.select} WHERE {_IS_LEASE}"
_HOLDER = f"{LEASE_HOLDERS.select} WHERE {_IS_LEASE}"
_REMOVE = f"DELETE FROM locks WHERE {_IS_LEASE}"
_CURRENT = f"SELECT fencing FROM locks WHERE {_IS_CURRENT}"
_RENEW = f"UPDATE locks SET expires_at = :expires_at WHERE {_IS_CURRENT}"
_RELEASE = f"UPDATE locks SET released = true WHERE {_IS_LEASE} AND owner_id = :owner_id"


class OperationRepository(Repository, OperationStore):
    """The journal of operations."""

    def add(self, operation: Operation) -> None:
        self._session.add(OPERATIONS, operation)

    def save(self, operation: Operation) -> None:
        before = self._session.status(OPERATIONS, operation.id)
        self._session.save(OPERATIONS, operation)
        completed = OperationStatus.COMPLETED
        if operation.status is completed and before != completed:
            self._add_events(operation)

    def _add_events(self, operation: Operation) -> None:
        checkpoints = CheckpointRepository(self._session, self._events)
        label = checkpoints.label(operation.target_checkpoint_id)
        sandboxes = SandboxRepository(self._session, self._events).list(operation.plan_id)
        self._events.add_all(event_rules.of_done_operation(operation, label, sandboxes))

    def pending(self, plan_id: str) -> Operation | None:
        unfinished = [
            operation
            for operation in self.list(plan_id)
            if operation.status is OperationStatus.PENDING
        ]
        return unfinished[-1] if unfinished else None

    def list(self, plan_id: str) -> Sequence[Operation]:
        return self._session.find(OPERATIONS, _OPERATIONS, plan_id=plan_id)


class LeaseRepository(Repository, LeaseStore):
    """Leases; a released one stays as a row, since it keeps the fencing number."""

    def get(self, plan_id: str) -> Lease | None:
        row = self._session.first(_LEASE, plan_id=plan_id)
        if row is None:
            return None
        [holder] = self._session.find(LEASE_HOLDERS, _HOLDER, plan_id=plan_id)
        return LEASES.read(row, holder=holder)

    def put(self, lease: Lease) -> None:
        self._session.run(_REMOVE, plan_id=lease.plan_id)
        holder = LEASE_HOLDERS.row(lease.holder)
        row = {"resource_type": "plan", **LEASES.row(lease), **holder}
        self._session.run(insertion(LEASES.table, tuple(row)), **row)

    def is_current(self, lease: Lease) -> bool:
        return self._session.first(_CURRENT, **_identity(lease)) is not None

    def renew(self, lease: Lease, expires_at: datetime) -> bool:
        return self._session.run(_RENEW, **_identity(lease), expires_at=expires_at) == 1

    def release(self, plan_id: str, owner_id: str) -> None:
        self._session.run(_RELEASE, plan_id=plan_id, owner_id=owner_id)


def _identity(lease: Lease) -> dict[str, object]:
    return {
        "plan_id": lease.plan_id,
        "owner_id": lease.holder.owner_id,
        "fencing": lease.fencing,
    }
