"""What happened to plans."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime

from sqlalchemy import Connection, bindparam, select

from cleveragents.application.ports import EventStore
from cleveragents.domain.events import Happening, StoredEvent
from cleveragents.infrastructure.database import stored_json
from cleveragents.infrastructure.database.models import EventModel
from cleveragents.infrastructure.database.repositories import rows
from cleveragents.infrastructure.database.statements import Statement

_EVENTS = EventModel.table()
_GIVEN = ("plan_id", "type", "data_json", "created_at")
_ADD = Statement(
    _EVENTS.insert()
    .values({name: bindparam(name, type_=_EVENTS.c[name].type) for name in _GIVEN})
    .returning(_EVENTS.c.sequence)
)

FOR_CHECKPOINTS = (_ADD,)


class EventRepository(EventStore):
    """Events; the other repositories enter what follows from what they store."""

    def __init__(self, connection: Connection, added: list[StoredEvent]) -> None:
        """Args: `added` is what the transaction has entered so far."""
        self._connection = connection
        self._added = added

    def add(self, event: Happening) -> None:
        # The moment of storing, not one of the record's: so time and number grow together.
        now, facts = datetime.now(UTC), event.facts()
        values = {
            "plan_id": event.plan_id,
            "type": event.type,
            "data_json": stored_json.dump(facts),
            "created_at": now,
        }
        [(sequence,)] = _ADD.rows(self._connection, values)
        self._added.append(StoredEvent(sequence, event.plan_id, event.type, now, facts))

    def add_all(self, events: Iterable[Happening]) -> None:
        for event in events:
            self.add(event)

    def list(
        self, plan_id: str, *, after: int = 0, types: Collection[str] | None = None
    ) -> Sequence[StoredEvent]:
        query = (
            select(_EVENTS)
            .where(_EVENTS.c.plan_id == plan_id, _EVENTS.c.sequence > after)
            .order_by(_EVENTS.c.sequence)
        )
        if types is not None:
            query = query.where(_EVENTS.c.type.in_(types))
        return rows.records(self._connection.execute(query), EventModel.to_domain, "event")

    def added(self) -> Sequence[StoredEvent]:
        return tuple(self._added)
