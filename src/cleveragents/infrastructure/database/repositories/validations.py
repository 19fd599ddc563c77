"""What validations of plans said."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from cleveragents.application.ports import ValidationStore
from cleveragents.domain.validation import ValidationResult
from cleveragents.infrastructure.database import happenings
from cleveragents.infrastructure.database.models import ValidationModel
from cleveragents.infrastructure.database.repositories import rows
from cleveragents.infrastructure.database.repositories.events import EventRepository

_RESULTS = ValidationModel.table()


class ValidationRepository(ValidationStore):
    """What validations of plans said."""

    def __init__(self, connection: Connection, events: EventRepository) -> None:
        self._connection = connection
        self._events = events

    def add(self, result: ValidationResult) -> None:
        rows.add(self._connection, _RESULTS, ValidationModel.from_domain(result), "validation")
        self._events.add_all(happenings.of_validation(result))

    def list(self, plan_id: str) -> Sequence[ValidationResult]:
        query = (
            select(_RESULTS)
            .where(_RESULTS.c.plan_id == plan_id)
            .order_by(_RESULTS.c.started_at, _RESULTS.c.validation_id)
        )
        found = self._connection.execute(query)
        return rows.records(found, ValidationModel.to_domain, "validation")
