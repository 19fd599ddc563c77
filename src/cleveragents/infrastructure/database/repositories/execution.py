"""What plans decided and which tools they ran."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, bindparam, func, literal, select, union_all, update

from cleveragents.application.ports import DecisionStore, ToolCallStore
from cleveragents.domain.decision import Decision
from cleveragents.domain.errors import DecisionNotFoundError
from cleveragents.domain.events import DecisionSuperseded
from cleveragents.domain.number_ranges import HIGHEST, Ranges, gaps
from cleveragents.domain.tool import ToolCall
from cleveragents.infrastructure.database import happenings
from cleveragents.infrastructure.database.models import DecisionModel, ToolCallModel
from cleveragents.infrastructure.database.repositories import rows
from cleveragents.infrastructure.database.repositories.events import EventRepository
from cleveragents.infrastructure.database.statements import Statement

_DECISIONS, _CALLS = DecisionModel.table(), ToolCallModel.table()
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

# Neighbours have the same distance from their place in the order, so that they fall together.
_UNDONE = (
    select(
        _CALLS.c.sequence,
        (_CALLS.c.sequence - func.row_number().over(order_by=_CALLS.c.sequence)).label("distance"),
    )
    .where(_OF_PLAN, _CALLS.c.undone_by.is_not(None))
    .subquery()
)
_LAST_AND_UNDONE = Statement(
    union_all(
        select(literal(0), _HIGHEST).where(_OF_PLAN),
        select(func.min(_UNDONE.c.sequence), func.max(_UNDONE.c.sequence)).group_by(
            _UNDONE.c.distance
        ),
    )
)

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

FOR_CHECKPOINTS = (_LAST_AND_UNDONE, _UNDO, _BRING_BACK, _STANDING_DECISIONS)


class DecisionRepository(DecisionStore):
    """The decision tree of plans; superseded decisions stay as rows."""

    def __init__(self, connection: Connection, events: EventRepository) -> None:
        self._connection = connection
        self._events = events

    def add(self, decision: Decision) -> None:
        rows.add(self._connection, _DECISIONS, DecisionModel.from_domain(decision), "decision")
        self._events.add_all(happenings.of_new_decision(decision))

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
            self._connection.execute(update(_DECISIONS).where(chosen).values(superseded_by=by))
            self._events.add_all(
                DecisionSuperseded(row.plan_id, row.decision_id, row.question, by)
                for row in standing
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

    def effective(self, plan_id: str) -> Ranges:
        found = _LAST_AND_UNDONE.rows(self._connection, {"plan": plan_id})
        (_, last), *undone = sorted((first, final) for first, final in found)
        return gaps(undone, last)

    def make_effective(self, plan_id: str, wanted: Ranges, undone_by: str) -> int:
        undone = 0
        for first, last in gaps(wanted, HIGHEST):
            values = {"plan": plan_id, "first": first, "last": last, "operation": undone_by}
            undone += _UNDO.run(self._connection, values)
        for first, last in wanted:
            values = {"plan": plan_id, "first": first, "last": last}
            _BRING_BACK.run(self._connection, values)
        return undone
