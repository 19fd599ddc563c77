"""Checkpoints and their groups."""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from typing import TypeAlias

from sqlalchemy import Connection, bindparam, func, select, update

from cleveragents.application.ports import CheckpointStore
from cleveragents.domain.checkpoint import Checkpoint, CheckpointGroup, CheckpointType, InEffect
from cleveragents.domain.errors import CheckpointNotFoundError
from cleveragents.domain.events import (
    CheckpointDeleted,
    CheckpointPinned,
    CheckpointPruned,
    CheckpointUnpinned,
)
from cleveragents.infrastructure.database import happenings, stored_json
from cleveragents.infrastructure.database.models import CheckpointGroupModel, CheckpointModel
from cleveragents.infrastructure.database.repositories import rows
from cleveragents.infrastructure.database.repositories.events import EventRepository
from cleveragents.infrastructure.database.repositories.in_effect import in_effect
from cleveragents.infrastructure.database.statements import Statement, StoredRow

_GROUPS, _CHECKPOINTS = CheckpointGroupModel.table(), CheckpointModel.table()
_PLAN = bindparam("plan_id", type_=_GROUPS.c.plan_id.type)

_NEXT_SEQUENCES = Statement(
    select(
        select(func.coalesce(func.max(_GROUPS.c.sequence), 0) + 1)
        .where(_GROUPS.c.plan_id == _PLAN)
        .scalar_subquery(),
        select(func.coalesce(func.max(_CHECKPOINTS.c.sequence), 0) + 1)
        .where(_CHECKPOINTS.c.plan_id == _PLAN)
        .scalar_subquery(),
    )
)
_CHECKPOINT = Statement(
    select(_CHECKPOINTS).where(_CHECKPOINTS.c.checkpoint_id == bindparam("checkpoint_id"))
)
_IN_PLAN = (
    select(_CHECKPOINTS)
    .join(_GROUPS, _GROUPS.c.group_id == _CHECKPOINTS.c.group_id)
    .where(_CHECKPOINTS.c.plan_id == _PLAN)
)
_VISIBLE_IN_PLAN = _IN_PLAN.where(_GROUPS.c.set_aside_by.is_(None))
_DESCENDING = _VISIBLE_IN_PLAN.order_by(_CHECKPOINTS.c.sequence.desc())
_ALL = Statement(_IN_PLAN.order_by(_CHECKPOINTS.c.sequence))
_VISIBLE = Statement(_VISIBLE_IN_PLAN.order_by(_CHECKPOINTS.c.sequence))
_NEWEST_FIRST = Statement(_DESCENDING)
_NEWEST_OF_TYPE = Statement(
    _DESCENDING.where(_CHECKPOINTS.c.checkpoint_type == bindparam("checkpoint_type")).limit(1)
)

_GROUPS_IN_PLAN = select(_GROUPS).where(_GROUPS.c.plan_id == _PLAN)
_GROUP = Statement(select(_GROUPS).where(_GROUPS.c.group_id == bindparam("group_id")))
_ALL_GROUPS = Statement(_GROUPS_IN_PLAN.order_by(_GROUPS.c.sequence))
_VISIBLE_GROUPS = Statement(
    _GROUPS_IN_PLAN.where(_GROUPS.c.set_aside_by.is_(None)).order_by(_GROUPS.c.sequence)
)
_GROUP_OF = Statement(
    select(_GROUPS)
    .join(_CHECKPOINTS, _CHECKPOINTS.c.group_id == _GROUPS.c.group_id)
    .where(_CHECKPOINTS.c.checkpoint_id == bindparam("checkpoint_id"))
)
_COUNT = Statement(select(func.count()).where(_GROUPS.c.plan_id == _PLAN))
# Each database has its own function that finds a text within another, but all can replace one.
_NAMING_SNAPSHOT = Statement(
    select(func.count()).where(
        _GROUPS.c.plan_id == _PLAN,
        func.replace(_GROUPS.c.snapshots_json, bindparam("entry"), "") != _GROUPS.c.snapshots_json,
    )
)
_FIRST_OF_GROUP = Statement(
    select(_CHECKPOINTS.c.plan_id, _CHECKPOINTS.c.checkpoint_id, _CHECKPOINTS.c.metadata_json)
    .where(_CHECKPOINTS.c.group_id == bindparam("group_id"))
    .order_by(_CHECKPOINTS.c.sequence)
    .limit(1)
)
_DELETE_GROUP = Statement(_GROUPS.delete().where(_GROUPS.c.group_id == bindparam("group_id")))
_WANTED = bindparam("wanted", type_=_GROUPS.c.pinned.type)
_SET_PINNED = Statement(
    _GROUPS.update()
    .where(_GROUPS.c.group_id == bindparam("of_group"), _GROUPS.c.pinned != _WANTED)
    .values(pinned=_WANTED)
)
_OfGroup: TypeAlias = (
    type[CheckpointPruned]
    | type[CheckpointDeleted]
    | type[CheckpointPinned]
    | type[CheckpointUnpinned]
)
"""What can be told of a group by its id and its first checkpoint alone."""

FOR_CHECKPOINTS = (
    *(_NEXT_SEQUENCES, _GROUP_OF, _GROUP, _COUNT, _ALL_GROUPS, _NAMING_SNAPSHOT),
    *(_FIRST_OF_GROUP, _DELETE_GROUP),
    *(rows.insertion(_GROUPS), rows.insertion(_CHECKPOINTS)),
)
"""What every checkpoint runs; see `Database.prepare`."""


class CheckpointRepository(CheckpointStore):
    """Checkpoints and their groups; a group is written, set aside, pinned and deleted whole."""

    def __init__(self, connection: Connection, events: EventRepository) -> None:
        self._connection = connection
        self._events = events

    def add_group(self, group: CheckpointGroup, checkpoints: Sequence[Checkpoint]) -> None:
        with rows.whole(self._connection):
            values = CheckpointGroupModel.from_domain(group)
            rows.insert(self._connection, _GROUPS, values, "checkpoint group")
            for checkpoint in checkpoints:
                values = CheckpointModel.from_domain(checkpoint)
                rows.insert(self._connection, _CHECKPOINTS, values, "checkpoint")
        self._events.add_all(happenings.of_new_group(group, checkpoints))

    def next_sequence(self, plan_id: str) -> tuple[int, int]:
        [(group, checkpoint)] = _NEXT_SEQUENCES.rows(self._connection, {"plan_id": plan_id})
        return group, checkpoint

    def in_effect(self, plan_id: str) -> InEffect:
        return in_effect(self._connection, plan_id)

    def get(self, checkpoint_id: str) -> Checkpoint:
        row = _CHECKPOINT.first(self._connection, {"checkpoint_id": checkpoint_id})
        if row is None:
            raise CheckpointNotFoundError(checkpoint_id)
        return rows.record(row, CheckpointModel.to_domain, "checkpoint")

    def label(self, checkpoint_id: str) -> str:
        """Returns the label of a checkpoint; one that is gone has none that could be read."""
        row = _CHECKPOINT.first(self._connection, {"checkpoint_id": checkpoint_id})
        return stored_json.UNREADABLE if row is None else _label(row)

    def get_group(self, group_id: str) -> CheckpointGroup:
        row = _GROUP.first(self._connection, {"group_id": group_id})
        if row is None:
            raise CheckpointNotFoundError(group_id)
        return rows.record(row, CheckpointGroupModel.to_domain, "checkpoint group")

    def group_of(self, checkpoint_id: str) -> CheckpointGroup:
        row = _GROUP_OF.first(self._connection, {"checkpoint_id": checkpoint_id})
        if row is None:
            raise CheckpointNotFoundError(checkpoint_id)
        return rows.record(row, CheckpointGroupModel.to_domain, "checkpoint group")

    def list(self, plan_id: str, *, set_aside: bool = False) -> Sequence[Checkpoint]:
        found = (_ALL if set_aside else _VISIBLE).rows(self._connection, {"plan_id": plan_id})
        return rows.records(found, CheckpointModel.to_domain, "checkpoint")

    def newest_first(self, plan_id: str) -> Generator[Checkpoint]:
        for row in _NEWEST_FIRST.iterate(self._connection, {"plan_id": plan_id}):
            yield rows.record(row, CheckpointModel.to_domain, "checkpoint")

    def newest(self, plan_id: str, checkpoint_type: CheckpointType) -> Checkpoint | None:
        values = {"plan_id": plan_id, "checkpoint_type": checkpoint_type.value}
        row = _NEWEST_OF_TYPE.first(self._connection, values)
        return None if row is None else rows.record(row, CheckpointModel.to_domain, "checkpoint")

    def groups(self, plan_id: str, *, set_aside: bool = True) -> Sequence[CheckpointGroup]:
        query = _ALL_GROUPS if set_aside else _VISIBLE_GROUPS
        found = query.rows(self._connection, {"plan_id": plan_id})
        return rows.records(found, CheckpointGroupModel.to_domain, "checkpoint group")

    def groups_oldest_first(self, plan_id: str) -> Generator[CheckpointGroup]:
        for row in _ALL_GROUPS.iterate(self._connection, {"plan_id": plan_id}):
            yield rows.record(row, CheckpointGroupModel.to_domain, "checkpoint group")

    def count_groups(self, plan_id: str) -> int:
        return _only_value(_COUNT.rows(self._connection, {"plan_id": plan_id}))

    def is_snapshot_named(self, plan_id: str, resource_id: str, snapshot_id: str) -> bool:
        entry = stored_json.dump({resource_id: snapshot_id}).strip("{}")
        values = {"plan_id": plan_id, "entry": entry}
        return _only_value(_NAMING_SNAPSHOT.rows(self._connection, values)) > 0

    def ids(self, prefix: str) -> Sequence[str]:
        query = (
            select(_CHECKPOINTS.c.checkpoint_id)
            .where(rows.begins_with(_CHECKPOINTS.c.checkpoint_id, prefix))
            .order_by(_CHECKPOINTS.c.created_at, _CHECKPOINTS.c.checkpoint_id)
        )
        return self._connection.scalars(query).all()

    def set_aside(self, group_ids: Collection[str], operation_id: str | None) -> None:
        for portion in rows.portions(group_ids):
            self._connection.execute(
                update(_GROUPS)
                .where(_GROUPS.c.group_id.in_(portion))
                .values(set_aside_by=operation_id)
            )

    def set_pinned(self, group_ids: Collection[str], *, pinned: bool) -> None:
        happening = CheckpointPinned if pinned else CheckpointUnpinned
        for group_id in group_ids:
            values = {"of_group": group_id, "wanted": pinned}
            if _SET_PINNED.run(self._connection, values):
                first = _FIRST_OF_GROUP.first(self._connection, {"group_id": group_id})
                self._tell(happening, group_id, first)

    def prune_groups(self, group_ids: Collection[str]) -> None:
        self._delete(group_ids, CheckpointPruned)

    def delete_groups(self, group_ids: Collection[str]) -> None:
        self._delete(group_ids, CheckpointDeleted)

    def _delete(self, group_ids: Collection[str], happening: _OfGroup) -> None:
        for group_id in group_ids:
            first = _FIRST_OF_GROUP.first(self._connection, {"group_id": group_id})
            # Its checkpoints go with it: their foreign key says so.
            _DELETE_GROUP.run(self._connection, {"group_id": group_id})
            self._tell(happening, group_id, first)

    def _tell(self, happening: _OfGroup, group_id: str, first: StoredRow | None) -> None:
        """Enters what became of a group, under the name of its first checkpoint."""
        if first is not None:
            self._events.add(happening(first.plan_id, first.checkpoint_id, group_id, _label(first)))


def _label(row: StoredRow) -> str:
    """Returns a checkpoint's label, without reading all that its row says."""
    label = stored_json.load_object(row.metadata_json).get("label")
    return label if isinstance(label, str) else stored_json.UNREADABLE


def _only_value(found: Sequence[StoredRow]) -> int:
    [[value]] = found
    return value
