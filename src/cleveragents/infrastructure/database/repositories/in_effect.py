"""What of a plan's records is in effect: one question for all of it, asked at every checkpoint."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Select, Table, bindparam, func, literal, select, union_all

from cleveragents.domain.checkpoint import InEffect
from cleveragents.domain.number_ranges import gaps
from cleveragents.infrastructure.database.models import (
    CheckpointGroupModel,
    DecisionModel,
    ToolCallModel,
)
from cleveragents.infrastructure.database.statements import Statement

_CALLS, _DECISIONS, _GROUPS = range(3)


def _questions(kind: int, table: Table, mark: str) -> tuple[Select[Any, Any, Any], ...]:
    """Asks for the highest sequence number, and for the ranges of those that carry a mark."""
    in_plan = table.c.plan_id == bindparam("plan")
    number = table.c.sequence
    # Neighbours have the same distance from their place in the order, so that they fall together.
    distance = (number - func.row_number().over(order_by=number)).label("distance")
    marked = select(number, distance).where(in_plan, table.c[mark].is_not(None)).subquery()
    return (
        select(literal(kind), literal(0), func.coalesce(func.max(number), 0)).where(in_plan),
        select(literal(kind), func.min(marked.c.sequence), func.max(marked.c.sequence)).group_by(
            marked.c.distance
        ),
    )


_IN_EFFECT = Statement(
    union_all(
        *_questions(_CALLS, ToolCallModel.table(), "undone_by"),
        *_questions(_DECISIONS, DecisionModel.table(), "superseded_by"),
        *_questions(_GROUPS, CheckpointGroupModel.table(), "set_aside_by"),
    )
)

FOR_CHECKPOINTS = (_IN_EFFECT,)


def in_effect(connection: Connection, plan_id: str) -> InEffect:
    found = sorted(tuple(row) for row in _IN_EFFECT.rows(connection, {"plan": plan_id}))

    def ranges(kind: int) -> tuple[tuple[int, int], ...]:
        (_, last), *marked = [(first, final) for of, first, final in found if of == kind]
        return tuple(gaps(marked, last))

    return InEffect(ranges(_CALLS), ranges(_DECISIONS), ranges(_GROUPS))
