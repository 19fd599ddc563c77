"""Checkpoints and their groups, and which records of a plan are in effect."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias

from cleveragents.application.ports.records import CheckpointStore
from cleveragents.domain.checkpoints.checkpoint import (
    Checkpoint,
    CheckpointGroup,
    CheckpointType,
    EffectiveRecords,
)
from cleveragents.domain.checkpoints.number_ranges import gaps
from cleveragents.domain.errors import CheckpointNotFoundError
from cleveragents.domain.plans.events import (
    CheckpointDeleted,
    CheckpointPinned,
    CheckpointPruned,
    CheckpointUnpinned,
)
from cleveragents.infrastructure.database import event_rules, stored_json
from cleveragents.infrastructure.database.models import CHECKPOINTS, GROUPS, Row
from cleveragents.infrastructure.database.repositories.events import Repository
from cleveragents.infrastructure.database.session import id_lists

_NEXT_SEQUENCES = (
    "SELECT (SELECT coalesce(max(sequence), 0) + 1 FROM checkpoint_groups"
    " WHERE plan_id = :plan_id),"
    " (SELECT coalesce(max(sequence), 0) + 1 FROM checkpoint_metadata WHERE plan_id = :plan_id)"
)
_CHECKPOINT = f"{CHECKPOINTS.select} WHERE checkpoint_id = :checkpoint_id"
_IN_PLAN = (
    f"{CHECKPOINTS.select}"
    " JOIN checkpoint_groups ON checkpoint_groups.group_id = checkpoint_metadata.group_id"
    " WHERE checkpoint_metadata.plan_id = :plan_id"
)
_ALL = f"{_IN_PLAN} ORDER BY checkpoint_metadata.sequence"
_VISIBLE_IN_PLAN = f"{_IN_PLAN} AND checkpoint_groups.set_aside_by IS NULL"
_VISIBLE = f"{_VISIBLE_IN_PLAN} ORDER BY checkpoint_metadata.sequence"
_NEWEST_FIRST = f"{_VISIBLE_IN_PLAN} ORDER BY checkpoint_metadata.sequence DESC"
_NEWEST_OF_TYPE = (
    f"{_VISIBLE_IN_PLAN} AND checkpoint_type = :checkpoint_type"
    " ORDER BY checkpoint_metadata.sequence DESC LIMIT 1"
)

_GROUP = f"{GROUPS.select} WHERE group_id = :group_id"
_GROUP_OF = (
    f"{GROUPS.select}"
    " JOIN checkpoint_metadata ON checkpoint_metadata.group_id = checkpoint_groups.group_id"
    " WHERE checkpoint_id = :checkpoint_id"
)
_ALL_GROUPS = f"{GROUPS.select} WHERE plan_id = :plan_id ORDER BY sequence"
_VISIBLE_GROUPS = (
    f"{GROUPS.select} WHERE plan_id = :plan_id AND set_aside_by IS NULL ORDER BY sequence"
)
_COUNT = "SELECT count(*) FROM checkpoint_groups WHERE plan_id = :plan_id"
# Each database has its own function to find a text in another, but all have `replace`.
_NAMING_SNAPSHOT = (
    "SELECT count(*) FROM checkpoint_groups WHERE plan_id = :plan_id"
    " AND replace(snapshots_json, :entry, '') != snapshots_json"
)
_FIRST_OF_GROUP = (
    "SELECT plan_id, checkpoint_id, metadata_json FROM checkpoint_metadata"
    " WHERE group_id = :group_id ORDER BY sequence LIMIT 1"
)
_SET_ASIDE = "UPDATE checkpoint_groups SET set_aside_by = :operation_id WHERE group_id IN (:ids)"
_SET_PINNED = (
    "UPDATE checkpoint_groups SET pinned = :pinned WHERE group_id = :group_id AND pinned != :pinned"
)
# The foreign key of the checkpoints deletes them with their group.
_DELETE_GROUP = "DELETE FROM checkpoint_groups WHERE group_id = :group_id"


def _last_and_ranges(kind: int, table: str, mark: str) -> str:
    """Selects the highest sequence number, and the ranges of the rows that have a mark.

    Consecutive numbers have the same distance from their rank, so grouping by
    that distance makes one range of them.
    """
    return (
        f"SELECT {kind}, 0, coalesce(max(sequence), 0) FROM {table} WHERE plan_id = :plan_id"
        f" UNION ALL SELECT {kind}, min(sequence), max(sequence) FROM"
        " (SELECT sequence, sequence - row_number() OVER (ORDER BY sequence) AS distance"
        f" FROM {table} WHERE plan_id = :plan_id AND {mark} IS NOT NULL) AS marked"
        " GROUP BY distance"
    )


# One statement for all three tables, since every checkpoint runs it.
_EFFECTIVE = " UNION ALL ".join(
    [
        _last_and_ranges(0, "tool_calls", "undone_by"),
        _last_and_ranges(1, "decisions", "superseded_by"),
        _last_and_ranges(2, "checkpoint_groups", "set_aside_by"),
    ]
)

_GroupEvent: TypeAlias = (
    type[CheckpointPruned]
    | type[CheckpointDeleted]
    | type[CheckpointPinned]
    | type[CheckpointUnpinned]
)
"""The events of a whole group; each names the group's first checkpoint."""


class CheckpointRepository(Repository, CheckpointStore):
    """Checkpoints and their groups; a group is written, set aside, pinned and deleted whole."""

    def add_group(self, group: CheckpointGroup, checkpoints: Sequence[Checkpoint]) -> None:
        with self._session.savepoint():
            self._session.insert(GROUPS, group)
            for checkpoint in checkpoints:
                self._session.insert(CHECKPOINTS, checkpoint)
        self._events.add_all(event_rules.of_new_group(group, checkpoints))

    def next_sequence(self, plan_id: str) -> tuple[int, int]:
        [(group, checkpoint)] = self._session.rows(_NEXT_SEQUENCES, plan_id=plan_id)
        return group, checkpoint

    def effective_records(self, plan_id: str) -> EffectiveRecords:
        rows = sorted(self._session.rows(_EFFECTIVE, plan_id=plan_id))

        def ranges(kind: int) -> tuple[tuple[int, int], ...]:
            (_, last), *marked = [(first, final) for of, first, final in rows if of == kind]
            return tuple(gaps(marked, last))

        return EffectiveRecords(calls=ranges(0), decisions=ranges(1), groups=ranges(2))

    def get(self, checkpoint_id: str) -> Checkpoint:
        found = self._session.find_first(CHECKPOINTS, _CHECKPOINT, checkpoint_id=checkpoint_id)
        if found is None:
            raise CheckpointNotFoundError(checkpoint_id)
        return found

    def label(self, checkpoint_id: str) -> str:
        """Returns the label of a checkpoint, or `unreadable` if the checkpoint is deleted."""
        found = self._session.find_first(CHECKPOINTS, _CHECKPOINT, checkpoint_id=checkpoint_id)
        return stored_json.UNREADABLE if found is None else found.metadata.label

    def get_group(self, group_id: str) -> CheckpointGroup:
        found = self._session.find_first(GROUPS, _GROUP, group_id=group_id)
        if found is None:
            raise CheckpointNotFoundError(group_id)
        return found

    def group_of(self, checkpoint_id: str) -> CheckpointGroup:
        found = self._session.find_first(GROUPS, _GROUP_OF, checkpoint_id=checkpoint_id)
        if found is None:
            raise CheckpointNotFoundError(checkpoint_id)
        return found

    def list(self, plan_id: str, *, set_aside: bool = False) -> Sequence[Checkpoint]:
        return self._session.find(CHECKPOINTS, _ALL if set_aside else _VISIBLE, plan_id=plan_id)

    def newest_first(self, plan_id: str) -> Iterator[Checkpoint]:
        return self._session.find_each(CHECKPOINTS, _NEWEST_FIRST, plan_id=plan_id)

    def newest(self, plan_id: str, checkpoint_type: CheckpointType) -> Checkpoint | None:
        values = {"plan_id": plan_id, "checkpoint_type": checkpoint_type.value}
        return self._session.find_first(CHECKPOINTS, _NEWEST_OF_TYPE, **values)

    def groups(self, plan_id: str, *, set_aside: bool = True) -> Sequence[CheckpointGroup]:
        sql = _ALL_GROUPS if set_aside else _VISIBLE_GROUPS
        return self._session.find(GROUPS, sql, plan_id=plan_id)

    def groups_oldest_first(self, plan_id: str) -> Iterator[CheckpointGroup]:
        return self._session.find_each(GROUPS, _ALL_GROUPS, plan_id=plan_id)

    def count_groups(self, plan_id: str) -> int:
        return self._session.value(_COUNT, plan_id=plan_id)

    def is_snapshot_named(self, plan_id: str, resource_id: str, snapshot_id: str) -> bool:
        entry = stored_json.dump({resource_id: snapshot_id}).strip("{}")
        return self._session.value(_NAMING_SNAPSHOT, plan_id=plan_id, entry=entry) > 0

    def ids(self, prefix: str) -> Sequence[str]:
        return self._ids_starting_with("checkpoint_metadata", "checkpoint_id", prefix)

    def set_aside(self, group_ids: Collection[str], operation_id: str | None) -> None:
        for sql, values in id_lists(_SET_ASIDE, group_ids):
            self._session.run(sql, operation_id=operation_id, **values)

    def set_pinned(self, group_ids: Collection[str], *, pinned: bool) -> None:
        event = CheckpointPinned if pinned else CheckpointUnpinned
        for group_id in group_ids:
            if self._session.run(_SET_PINNED, group_id=group_id, pinned=pinned):
                self._add_event(event, group_id, self._first_of(group_id))

    def prune_groups(self, group_ids: Collection[str]) -> None:
        self._delete(group_ids, CheckpointPruned)

    def delete_groups(self, group_ids: Collection[str]) -> None:
        self._delete(group_ids, CheckpointDeleted)

    def _delete(self, group_ids: Collection[str], event: _GroupEvent) -> None:
        for group_id in group_ids:
            first = self._first_of(group_id)
            self._session.run(_DELETE_GROUP, group_id=group_id)
            self._add_event(event, group_id, first)

    def _first_of(self, group_id: str) -> Row | None:
        return self._session.first(_FIRST_OF_GROUP, group_id=group_id)

    def _add_event(self, event: _GroupEvent, group_id: str, first: Row | None) -> None:
        if first is not None:
            plan_id, checkpoint_id, metadata = first
            label = stored_json.load_object(metadata).get("label")
            readable = label if isinstance(label, str) else stored_json.UNREADABLE
            self._events.add(event(plan_id, checkpoint_id, group_id, readable))
