"""What plans decided and which tools they ran."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from cleveragents.application.ports import DecisionStore, ToolCallStore
from cleveragents.domain.decision import Decision
from cleveragents.domain.tool import ToolCall
from cleveragents.infrastructure.database.models import DecisionModel, ToolCallModel
from cleveragents.infrastructure.database.repositories import rows


class DecisionRepository(DecisionStore):
    """The decision tree of plans; superseded decisions stay as rows."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, decision: Decision) -> None:
        rows.add(self._session, DecisionModel.from_domain(decision), "decision", decision.id)

    def list(self, plan_id: str, *, superseded: bool = False) -> Sequence[Decision]:
        query = (
            select(DecisionModel)
            .where(DecisionModel.plan_id == plan_id)
            .order_by(DecisionModel.sequence, DecisionModel.decision_id)
        )
        if not superseded:
            query = query.where(DecisionModel.superseded_by.is_(None))
        return rows.records(self._session.scalars(query), "decision")

    def supersede(self, decision_ids: Collection[str], by: str) -> None:
        for portion in rows.portions(decision_ids):
            self._session.execute(
                update(DecisionModel)
                .where(DecisionModel.decision_id.in_(portion))
                .values(superseded_by=by)
            )


class ToolCallRepository(ToolCallStore):
    """Every tool call of plans."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, call: ToolCall) -> None:
        rows.add(self._session, ToolCallModel.from_domain(call), "tool call", call.id)

    def save(self, call: ToolCall) -> None:
        rows.save(self._session, ToolCallModel.from_domain(call), "tool call", call.id)

    def list(self, plan_id: str) -> Sequence[ToolCall]:
        query = (
            select(ToolCallModel)
            .where(ToolCallModel.plan_id == plan_id)
            .order_by(ToolCallModel.sequence, ToolCallModel.tool_call_id)
        )
        return rows.records(self._session.scalars(query), "tool call")
