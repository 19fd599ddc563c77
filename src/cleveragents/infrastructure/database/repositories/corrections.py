"""Corrections of plans."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from cleveragents.application.ports import CorrectionStore
from cleveragents.domain.correction import CorrectionAttempt
from cleveragents.domain.errors import CorrectionNotFoundError
from cleveragents.infrastructure.database.models import CorrectionModel
from cleveragents.infrastructure.database.repositories import rows

_TABLE = CorrectionModel.table()
_OLDEST_FIRST = (_TABLE.c.created_at, _TABLE.c.correction_attempt_id)


class CorrectionRepository(CorrectionStore):
    """Every correction of plans, whatever became of it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, attempt: CorrectionAttempt) -> None:
        values = CorrectionModel.from_domain(attempt)
        rows.add(self._connection, _TABLE, values, "correction")

    def save(self, attempt: CorrectionAttempt) -> None:
        values = CorrectionModel.from_domain(attempt)
        rows.save(self._connection, _TABLE, values, "correction")

    def get(self, attempt_id: str) -> CorrectionAttempt:
        query = select(_TABLE).where(_TABLE.c.correction_attempt_id == attempt_id)
        row = self._connection.execute(query).first()
        if row is None:
            raise CorrectionNotFoundError(attempt_id)
        return rows.record(row, CorrectionModel.to_domain, "correction")

    def of_operation(self, operation_id: str) -> CorrectionAttempt | None:
        query = select(_TABLE).where(_TABLE.c.operation_id == operation_id)
        row = self._connection.execute(query).first()
        return None if row is None else rows.record(row, CorrectionModel.to_domain, "correction")

    def ids(self, prefix: str) -> Sequence[str]:
        query = (
            select(_TABLE.c.correction_attempt_id)
            .where(rows.begins_with(_TABLE.c.correction_attempt_id, prefix))
            .order_by(*_OLDEST_FIRST)
        )
        return self._connection.scalars(query).all()

    def list(self, plan_id: str) -> Sequence[CorrectionAttempt]:
        query = select(_TABLE).where(_TABLE.c.plan_id == plan_id).order_by(*_OLDEST_FIRST)
        found = self._connection.execute(query)
        return rows.records(found, CorrectionModel.to_domain, "correction")
