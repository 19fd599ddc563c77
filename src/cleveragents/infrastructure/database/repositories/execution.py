"""What plans decided and which tools they ran."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import Connection, bindparam, func, select, update

from cleveragents.application.ports import DecisionStore, ToolCallStore
from cleveragents.domain.decision import Decision
from cleveragents.domain.errors import DecisionNotFoundError
from cleveragents.domain.events import DecisionReinstated, DecisionSuperseded
from cleveragents.domain.number_ranges import HIGHEST, Ranges, gaps
from cleveragents.domain.tool import ToolCall
from cleveragents.infrastructure.database import happenings
from cleveragents.infrastructure.database.models import (
    DecisionDependencyModel,
    DecisionModel,
    ToolCallModel,
)
from cleveragents.infrastructure.database.repositories import rows
from cleveragents.infrastructure.database.repositories.events import EventRepository
from cleveragents.infrastructure.database.statements import Statement

_DECISIONS, _CALLS = DecisionModel.table(), ToolCallModel.table()
_INFLUENCES = DecisionDependencyModel.table()
_OF_PLAN = _CALLS.c.plan_id == bindparam("plan")

_DECISIONS_OF_PLAN = (
    select(_DECISIONS)
    .where(_DECISIONS.c.plan_id == bindparam("plan"))
    .order_by(_DECISIONS.c.sequence, _DECISIONS.c.decision_id)
)
_ALL_DECISIONS = Statement(_DECISIONS_OF_PLAN)
_STANDING_DECISIONS = Statement(_DECISIONS_OF_PLAN.where(_DECISIONS.c.superseded_by.is_(None)))

_CALLS_OF_PLAN = Statement(
    select(_CALLS).where(_OF_PLAN).order_by(_CALLS.c.sequence, _CALLS.c.tool_call_id)
)
_HIGHEST = func.coalesce(func.max(_CALLS.c.sequence), 0)
_LAST_CALL = Statement(select(_HIGHEST.label("last")).where(_OF_PLAN))

_IN_RANGE = _CALLS.c.sequence.between(bindparam("first"), bindparam("last"))
_UNDO = Statement(
    update(_CALLS)
    .where(_OF_PLAN, _IN_RANGE, _CALLS.c.undone_by.is_(None))
    .values(undone_by=bindparam("operation"))
)
_BRING_BACK = Statement(
    update(_CALLS)
    .where(_OF_PLAN, _IN_RANGE, _CALLS.c.undone_by.is_not(None))
    .values(undone_by=None)
)

FOR_CHECKPOINTS = (_UNDO, _BRING_BACK, _STANDING_DECISIONS)


class DecisionRepository(DecisionStore):
    """The decision tree of plans; superseded decisions stay as rows."""

    def __init__(self, connection: Connection, events: EventRepository) -> None:
        self._connection = connection
        self._events = events

    def add(self, decision: Decision, influenced_by: Collection[str] = ()) -> None:
        rows.add(self._connection, _DECISIONS, DecisionModel.from_domain(decision), "decision")
        edges = [
            {"decision_id": decision.id, "influenced_by_id": cause}
            for cause in sorted({*influenced_by})
        ]
        rows.add_all(self._connection, _INFLUENCES, edges, "influence on decision")
        self._events.add_all(happenings.of_new_decision(decision))

    def save(self, decision: Decision) -> None:
        rows.save(self._connection, _DECISIONS, DecisionModel.from_domain(decision), "decision")

    def influences(self, plan_id: str) -> Mapping[str, Sequence[str]]:
        query = (
            select(_INFLUENCES)
            .join(_DECISIONS, _DECISIONS.c.decision_id == _INFLUENCES.c.decision_id)
            .where(_DECISIONS.c.plan_id == plan_id)
            .order_by(_INFLUENCES.c.decision_id, _INFLUENCES.c.influenced_by_id)
        )
        found: dict[str, list[str]] = {}
        for row in self._connection.execute(query):
            found.setdefault(row.decision_id, []).append(row.influenced_by_id)
        return found

    def get(self, decision_id: str) -> Decision:
        query = select(_DECISIONS).where(_DECISIONS.c.decision_id == decision_id)
        row = self._connection.execute(query).first()
        if row is None:
            raise DecisionNotFoundError(decision_id)
        return rows.record(row, DecisionModel.to_domain, "decision")

    def ids(self, prefix: str) -> Sequence[str]:
        query = (
            select(_DECISIONS.c.decision_id)
            .where(rows.begins_with(_DECISIONS.c.decision_id, prefix))
            .order_by(_DECISIONS.c.created_at, _DECISIONS.c.decision_id)
        )
        return self._connection.scalars(query).all()

    def next_sequence(self, plan_id: str) -> int:
        last = select(func.max(_DECISIONS.c.sequence)).where(_DECISIONS.c.plan_id == plan_id)
        return (self._connection.scalar(last) or 0) + 1

    def list(self, plan_id: str, *, superseded: bool = False) -> Sequence[Decision]:
        statement = _ALL_DECISIONS if superseded else _STANDING_DECISIONS
        found = statement.rows(self._connection, {"plan": plan_id})
        return rows.records(found, DecisionModel.to_domain, "decision")

    def supersede(self, decision_ids: Collection[str], by: str) -> None:
        for portion in rows.portions(decision_ids):
            chosen = _DECISIONS.c.decision_id.in_(portion)
            standing = self._connection.execute(
                select(_DECISIONS)
                .where(chosen, _DECISIONS.c.superseded_by.is_(None))
                .order_by(_DECISIONS.c.sequence)
            ).all()
            self._connection.execute(
                update(_DECISIONS)
                .where(chosen, _DECISIONS.c.superseded_by.is_(None))
                .values(superseded_by=by)
            )
            self._events.add_all(
                DecisionSuperseded(row.plan_id, row.decision_id, row.question, by)
                for row in standing
            )

    def reinstate(self, decision_ids: Collection[str]) -> None:
        for portion in rows.portions(decision_ids):
            gone = (
                _DECISIONS.c.decision_id.in_(portion),
                _DECISIONS.c.superseded_by.is_not(None),
            )
            returning = self._connection.execute(
                select(_DECISIONS).where(*gone).order_by(_DECISIONS.c.sequence)
            ).all()
            self._connection.execute(update(_DECISIONS).where(*gone).values(superseded_by=None))
            self._events.add_all(
                DecisionReinstated(row.plan_id, row.decision_id, row.question) for row in returning
            )


class ToolCallRepository(ToolCallStore):
    """Every tool call of plans."""

    def __init__(self, connection: Connection, events: EventRepository) -> None:
        self._connection = connection
        self._events = events

    def add(self, call: ToolCall) -> None:
        rows.add(self._connection, _CALLS, ToolCallModel.from_domain(call), "tool call")
        self._events.add_all(happenings.of_new_tool_call(call))

    def save(self, call: ToolCall) -> None:
        before = rows.status(self._connection, _CALLS, call.id, "tool call")
        rows.save(self._connection, _CALLS, ToolCallModel.from_domain(call), "tool call")
        self._events.add_all(happenings.of_tool_call(before, call))

    def next_sequence(self, plan_id: str) -> int:
        return sum(row.last for row in _LAST_CALL.rows(self._connection, {"plan": plan_id})) + 1

    def list(self, plan_id: str) -> Sequence[ToolCall]:
        found = _CALLS_OF_PLAN.rows(self._connection, {"plan": plan_id})
        return rows.records(found, ToolCallModel.to_domain, "tool call")

    def make_effective(self, plan_id: str, wanted: Ranges, undone_by: str) -> int:
        undone = 0
        for first, last in gaps(wanted, HIGHEST):
            values = {"plan": plan_id, "first": first, "last": last, "operation": undone_by}
            undone += _UNDO.run(self._connection, values)
        for first, last in wanted:
            values = {"plan": plan_id, "first": first, "last": last}
            _BRING_BACK.run(self._connection, values)
        return undone
