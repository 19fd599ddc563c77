"""Rows of what happened to plans."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, Index, Integer
from sqlalchemy.orm import Mapped, mapped_column

from cleveragents.domain.events import StoredEvent
from cleveragents.infrastructure.database import stored_json
from cleveragents.infrastructure.database.models.base import Model, PlanKey, StoredRow


class EventModel(Model):
    """A row of `events`; the database numbers them."""

    __tablename__ = "events"
    __table_args__ = (Index(None, "plan_id", "sequence"),)

    # SQLite numbers the rows of a table by itself only where the type is exactly INTEGER.
    sequence: Mapped[int] = mapped_column(
        BigInteger().with_variant(Integer(), "sqlite"), primary_key=True
    )
    plan_id: Mapped[PlanKey]
    type: Mapped[str]
    data_json: Mapped[str]
    created_at: Mapped[datetime]

    @staticmethod
    def to_domain(row: StoredRow) -> StoredEvent:
        return StoredEvent(
            sequence=row.sequence,
            plan_id=row.plan_id,
            type=row.type,
            created_at=row.created_at,
            data=stored_json.load_object(row.data_json),
        )
