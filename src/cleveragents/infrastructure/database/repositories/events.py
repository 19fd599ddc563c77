"""Events, and the base of the repositories that record them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from cleveragents.application.ports.records import EventStore
from cleveragents.application.ports.system import Clock
from cleveragents.domain.plans.events import PlanEventRecord, StoredEvent
from cleveragents.infrastructure.database.models import EVENTS
from cleveragents.infrastructure.database.session import Session, id_lists
from cleveragents.infrastructure.database.stored_json import dump

_ADD = (
    "INSERT INTO events (plan_id, type, data_json, created_at)"
    " VALUES (:plan_id, :type, :data_json, :created_at) RETURNING sequence"
)
_LATER = f"{EVENTS.select} WHERE plan_id = :plan_id AND sequence > :after"


class EventRepository(EventStore):
    """The events of plans; the database numbers them."""

    def __init__(self, session: Session, clock: Clock) -> None:
        self._session = session
        self._clock = clock
        self._added: list[StoredEvent] = []

    def add(self, event: PlanEventRecord) -> None:
        # The time of storing, not one of the record's: so time and sequence grow together.
        now, facts = self._clock.now(), event.facts()
        sequence = self._session.value(
            _ADD, plan_id=event.plan_id, type=event.type, data_json=dump(facts), created_at=now
        )
        self._added.append(StoredEvent(sequence, event.plan_id, event.type, now, facts))

    def add_all(self, events: Iterable[PlanEventRecord]) -> None:
        for event in events:
            self.add(event)

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
        return tuple(self._added)


class Repository:
    """A repository that records the events that follow from what it stores."""

    def __init__(self, session: Session, events: EventRepository) -> None:
        self._session = session
        self._events = events

    def _ids_starting_with(self, table: str, key: str, prefix: str, where: str = "") -> list[str]:
        """Returns ids, oldest first.

        Compares exactly: LIKE has wildcards, and whether it ignores case depends on the database.
        """
        rows = self._session.rows(
            f"SELECT {key} FROM {table}"
            f" WHERE substr({key}, 1, length(CAST(:prefix AS text))) = :prefix {where}"
            f" ORDER BY created_at, {key}",
            prefix=prefix,
        )
        return [row[0] for row in rows]
