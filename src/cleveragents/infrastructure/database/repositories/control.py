"""The journal of operations and the leases on plans."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from cleveragents.application.ports import LeaseStore, OperationStore
from cleveragents.domain.checkpoint import Operation, OperationStatus
from cleveragents.domain.lease import Lease
from cleveragents.infrastructure.database.models import LockModel, OperationModel
from cleveragents.infrastructure.database.models.control import PLAN_LEASE
from cleveragents.infrastructure.database.repositories import rows


class OperationRepository(OperationStore):
    """The journal of rollbacks."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, operation: Operation) -> None:
        rows.add(self._session, OperationModel.from_domain(operation), "operation", operation.id)

    def save(self, operation: Operation) -> None:
        rows.save(self._session, OperationModel.from_domain(operation), "operation", operation.id)

    def pending(self, plan_id: str) -> Operation | None:
        unfinished = [
            operation
            for operation in self.list(plan_id)
            if operation.status is OperationStatus.PENDING
        ]
        return unfinished[-1] if unfinished else None

    def list(self, plan_id: str) -> Sequence[Operation]:
        query = (
            select(OperationModel)
            .where(OperationModel.plan_id == plan_id)
            .order_by(OperationModel.created_at, OperationModel.operation_id)
        )
        return rows.records(self._session.scalars(query), "operation")


class LeaseRepository(LeaseStore):
    """Leases; a released one stays as a row, since it keeps the fencing number."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def get(self, plan_id: str) -> Lease | None:
        row = self._session.get(LockModel, (PLAN_LEASE, plan_id))
        return None if row is None else rows.record(row, "lease")

    def put(self, lease: Lease) -> None:
        self._session.merge(LockModel.from_domain(lease))
        self._session.flush()

    def release(self, plan_id: str, owner_id: str) -> None:
        row = self._session.get(LockModel, (PLAN_LEASE, plan_id))
        if row is not None and row.owner_id == owner_id:
            row.released = True
            self._session.flush()
