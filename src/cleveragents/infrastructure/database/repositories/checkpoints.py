"""Checkpoints and their groups."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from cleveragents.application.ports import CheckpointStore
from cleveragents.domain.checkpoint import Checkpoint, CheckpointGroup
from cleveragents.domain.errors import CheckpointNotFoundError
from cleveragents.infrastructure.database.models import CheckpointGroupModel, CheckpointModel
from cleveragents.infrastructure.database.repositories import rows


class CheckpointRepository(CheckpointStore):
    """Checkpoints and their groups; a group is written, set aside and deleted whole."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add_group(self, group: CheckpointGroup, checkpoints: Sequence[Checkpoint]) -> None:
        with self._session.begin_nested():
            rows.add(
                self._session,
                CheckpointGroupModel.from_domain(group),
                "checkpoint group",
                group.id,
            )
            for checkpoint in checkpoints:
                row = CheckpointModel.from_domain(checkpoint)
                rows.add(self._session, row, "checkpoint", checkpoint.id)

    def next_sequence(self, plan_id: str) -> tuple[int, int]:
        return (
            self._next(CheckpointGroupModel.sequence, CheckpointGroupModel.plan_id, plan_id),
            self._next(CheckpointModel.sequence, CheckpointModel.plan_id, plan_id),
        )

    def get(self, checkpoint_id: str) -> Checkpoint:
        row = self._session.get(CheckpointModel, checkpoint_id)
        if row is None:
            raise CheckpointNotFoundError(checkpoint_id)
        return rows.record(row, "checkpoint")

    def get_group(self, group_id: str) -> CheckpointGroup:
        row = self._session.get(CheckpointGroupModel, group_id)
        if row is None:
            raise CheckpointNotFoundError(group_id)
        return rows.record(row, "checkpoint group")

    def list(self, plan_id: str, *, set_aside: bool = False) -> Sequence[Checkpoint]:
        query = (
            select(CheckpointModel)
            .join(CheckpointGroupModel, CheckpointGroupModel.group_id == CheckpointModel.group_id)
            .where(CheckpointModel.plan_id == plan_id)
            .order_by(CheckpointModel.sequence)
        )
        if not set_aside:
            query = query.where(CheckpointGroupModel.set_aside_by.is_(None))
        return rows.records(self._session.scalars(query), "checkpoint")

    def groups(self, plan_id: str, *, set_aside: bool = True) -> Sequence[CheckpointGroup]:
        query = (
            select(CheckpointGroupModel)
            .where(CheckpointGroupModel.plan_id == plan_id)
            .order_by(CheckpointGroupModel.sequence)
        )
        if not set_aside:
            query = query.where(CheckpointGroupModel.set_aside_by.is_(None))
        return rows.records(self._session.scalars(query), "checkpoint group")

    def ids(self, prefix: str) -> Sequence[str]:
        query = (
            select(CheckpointModel.checkpoint_id)
            .where(rows.begins_with(CheckpointModel.checkpoint_id, prefix))
            .order_by(CheckpointModel.created_at, CheckpointModel.checkpoint_id)
        )
        return self._session.scalars(query).all()

    def set_aside(self, group_ids: Collection[str], operation_id: str | None) -> None:
        for portion in rows.portions(group_ids):
            self._session.execute(
                update(CheckpointGroupModel)
                .where(CheckpointGroupModel.group_id.in_(portion))
                .values(set_aside_by=operation_id)
            )

    def delete_groups(self, group_ids: Collection[str]) -> None:
        for portion in rows.portions(group_ids):
            self._session.execute(
                delete(CheckpointModel).where(CheckpointModel.group_id.in_(portion))
            )
            self._session.execute(
                delete(CheckpointGroupModel).where(CheckpointGroupModel.group_id.in_(portion))
            )

    def _next(
        self,
        sequence: InstrumentedAttribute[int],
        plan_column: InstrumentedAttribute[str],
        plan_id: str,
    ) -> int:
        last = self._session.scalar(select(func.max(sequence)).where(plan_column == plan_id))
        return (last or 0) + 1
