"""Checkpoints, the operations that go back to them, and which records are in effect."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from cleveragents.application.ports.records import CheckpointStore, OperationStore
from cleveragents.domain.checkpoints.checkpoint import (
    Checkpoint,
    CheckpointGroup,
    CheckpointType,
    EffectiveRecords,
)
from cleveragents.domain.checkpoints.number_ranges import gaps
from cleveragents.domain.checkpoints.operation import Operation, OperationKind, OperationStatus
from cleveragents.domain.checkpoints.retention import CountedGroup
from cleveragents.domain.errors import CheckpointNotFoundError
from cleveragents.domain.plans.events import (
    CheckpointCreated,
    CheckpointDeleted,
    CheckpointPinned,
    CheckpointPruned,
    CheckpointRestored,
    CheckpointUnpinned,
    PlanApplied,
    PlanUnapplied,
    SandboxCommitted,
    SandboxRolledBack,
)
from cleveragents.infrastructure.database.models import (
    CHECKPOINTS,
    EVENTS,
    GROUPS,
    OPERATIONS,
    UNREADABLE,
    Row,
    dump,
    load_object,
)
from cleveragents.infrastructure.database.repositories.plans import (
    RecordRepository,
    SandboxRepository,
)
from cleveragents.infrastructure.database.session import id_lists

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
_GROUP_IDS = "SELECT group_id FROM checkpoint_groups WHERE plan_id = :plan_id"
_VISIBLE_GROUPS = (
    f"{GROUPS.select} WHERE plan_id = :plan_id AND set_aside_by IS NULL ORDER BY sequence"
)
_COUNTS = "SELECT plan_id, count(*) FROM checkpoint_groups GROUP BY plan_id"
_COUNTED = (
    " FROM checkpoint_groups WHERE plan_id = :plan_id AND NOT EXISTS"
    " (SELECT 1 FROM checkpoint_metadata WHERE group_id = checkpoint_groups.group_id"
    " AND checkpoint_type = 'safety')"
)
_COUNTED_GROUPS = (
    "SELECT group_id, state_hashes_json, pinned,"
    " (SELECT metadata_json FROM checkpoint_metadata"
    " WHERE group_id = checkpoint_groups.group_id ORDER BY sequence LIMIT 1)"
    f"{_COUNTED} ORDER BY sequence"
)
_COUNT_STATES = f"SELECT count(DISTINCT state_hashes_json){_COUNTED}"
_CREATIONS = f"{EVENTS.select} WHERE plan_id = :plan_id AND type = :type"
_COUNT_PRUNED = "SELECT count(*) FROM events WHERE plan_id = :plan_id AND type = :type"
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


def _last(kind: int, table: str) -> str:
    """Selects the highest sequence number, as the end of a range from 0."""
    return f"SELECT {kind}, 0, coalesce(max(sequence), 0) FROM {table} WHERE plan_id = :plan_id"


def _last_and_ranges(kind: int, table: str, mark: str) -> str:
    """Selects the highest sequence number, and the ranges of the rows that have a mark.

    Consecutive numbers have the same distance from their rank, so grouping by
    that distance makes one range of them.
    """
    return (
        f"{_last(kind, table)}"
        f" UNION ALL SELECT {kind}, min(sequence), max(sequence) FROM"
        " (SELECT sequence, sequence - row_number() OVER (ORDER BY sequence) AS distance"
        f" FROM {table} WHERE plan_id = :plan_id AND {mark} IS NOT NULL) AS marked"
        " GROUP BY distance"
    )


# One statement for all tables, since every checkpoint runs it.
_SEQUENCES = " UNION ALL ".join(
    [
        _last_and_ranges(0, "tool_calls", "undone_by"),
        _last_and_ranges(1, "decisions", "superseded_by"),
        _last_and_ranges(2, "checkpoint_groups", "set_aside_by"),
        _last(3, "checkpoint_metadata"),
    ]
)

_OPERATIONS = f"{OPERATIONS.select} WHERE plan_id = :plan_id ORDER BY created_at, operation_id"
_ALL_PENDING = f"{OPERATIONS.select} WHERE status = 'pending' ORDER BY created_at, operation_id"
_PENDING = (
    f"{OPERATIONS.select} WHERE plan_id = :plan_id AND status = 'pending'"
    " ORDER BY created_at DESC, operation_id DESC LIMIT 1"
)
_STATUS = "SELECT status FROM operations WHERE operation_id = :operation_id"

_ALSO_IN_EVENT = {"label", "step_index", "trigger"}
"""The fields of a checkpoint's metadata that its event holds too."""

_GroupEvent: TypeAlias = (
    type[CheckpointPruned]
    | type[CheckpointDeleted]
    | type[CheckpointPinned]
    | type[CheckpointUnpinned]
)
"""The events of a whole group; each names the group's first checkpoint."""


class CheckpointRepository(RecordRepository, CheckpointStore):
    """Checkpoints and their groups; a group is written, set aside, pinned and deleted whole."""

    def add_group(self, group: CheckpointGroup, checkpoints: Sequence[Checkpoint]) -> None:
        rows = [CHECKPOINTS.row(checkpoint) for checkpoint in checkpoints]
        with self._session.savepoint():
            self._session.insert(GROUPS, GROUPS.row(group))
            for row in rows:
                self._session.insert(CHECKPOINTS, row)
            # One event for the group, however many resources it has checkpoints of.
            for first in checkpoints[:1]:
                self._events.add(
                    CheckpointCreated(
                        group.plan_id,
                        first.id,
                        group.id,
                        first.metadata.label,
                        first.checkpoint_type.value,
                        first.metadata.trigger,
                        first.metadata.step_index,
                        tuple(checkpoint.metadata.resource for checkpoint in checkpoints),
                    )
                )

    def expect(self, plan_id: str) -> None:
        self._session.expect(_SEQUENCES, plan_id=plan_id)

    def next_group(self, plan_id: str) -> tuple[int, int, EffectiveRecords]:
        rows = sorted(self._session.rows(_SEQUENCES, plan_id=plan_id))
        marked = [[(first, last) for of, first, last in rows if of == kind] for kind in range(4)]
        # The first range of each kind is not one: it starts at 0 and ends at the highest number.
        highest = [ranges[0][1] for ranges in marked]
        calls, decisions, groups = (
            tuple(gaps(ranges[1:], last)) for ranges, last in zip(marked[:3], highest, strict=False)
        )
        return highest[2] + 1, highest[3] + 1, EffectiveRecords(calls, decisions, groups)

    def effective_records(self, plan_id: str) -> EffectiveRecords:
        return self.next_group(plan_id)[2]

    def get(self, checkpoint_id: str) -> Checkpoint:
        found = self._session.find(CHECKPOINTS, _CHECKPOINT, checkpoint_id=checkpoint_id)
        if not found:
            raise CheckpointNotFoundError(checkpoint_id)
        return self._completed(found[0])

    def get_group(self, group_id: str) -> CheckpointGroup:
        found = self._session.find(GROUPS, _GROUP, group_id=group_id)
        if not found:
            raise CheckpointNotFoundError(group_id)
        return found[0]

    def group_of(self, checkpoint_id: str) -> CheckpointGroup:
        found = self._session.find(GROUPS, _GROUP_OF, checkpoint_id=checkpoint_id)
        if not found:
            raise CheckpointNotFoundError(checkpoint_id)
        return found[0]

    def list(self, plan_id: str, *, set_aside: bool = False) -> Sequence[Checkpoint]:
        sql = _ALL if set_aside else _VISIBLE
        return [*map(self._completed, self._session.find(CHECKPOINTS, sql, plan_id=plan_id))]

    def newest_first(self, plan_id: str) -> Iterator[Checkpoint]:
        found = self._session.find_each(CHECKPOINTS, _NEWEST_FIRST, plan_id=plan_id)
        return map(self._completed, found)

    def newest(self, plan_id: str, checkpoint_type: CheckpointType) -> Checkpoint | None:
        values = {"plan_id": plan_id, "checkpoint_type": checkpoint_type.value}
        found = self._session.find(CHECKPOINTS, _NEWEST_OF_TYPE, **values)
        return self._completed(found[0]) if found else None

    def _completed(self, checkpoint: Checkpoint) -> Checkpoint:
        """Returns the checkpoint; damaged metadata is completed from its group and its event."""
        if checkpoint.metadata.state_hash != UNREADABLE:
            return checkpoint
        group = self.get_group(checkpoint.group_id)
        if group.way is None or group.way.last_completed_step is None:
            return checkpoint  # An older program recorded it.
        known = {
            "state_hash": group.state_hashes.get(checkpoint.resource_id, UNREADABLE),
            "last_completed_step": group.way.last_completed_step,
            "effective_calls": group.way.calls,
        }
        kind = CheckpointCreated.type
        for event in self._session.find(EVENTS, _CREATIONS, plan_id=group.plan_id, type=kind):
            if event.data.get("group_id") == group.id:
                said = _ALSO_IN_EVENT & event.data.keys()
                known |= {name: event.data[name] for name in said}
        metadata = replace(checkpoint.metadata, **known)
        return replace(checkpoint, metadata=metadata)

    def groups(self, plan_id: str, *, set_aside: bool = True) -> Sequence[CheckpointGroup]:
        sql = _ALL_GROUPS if set_aside else _VISIBLE_GROUPS
        return self._session.find(GROUPS, sql, plan_id=plan_id)

    def group_ids(self, plan_id: str) -> Collection[str]:
        return {group_id for [group_id] in self._session.rows(_GROUP_IDS, plan_id=plan_id)}

    def groups_oldest_first(self, plan_id: str) -> Iterator[CheckpointGroup]:
        return self._session.find_each(GROUPS, _ALL_GROUPS, plan_id=plan_id)

    def group_counts(self) -> Mapping[str, int]:
        return dict(self._session.rows(_COUNTS))

    def counted_groups(self, plan_id: str) -> Sequence[CountedGroup]:
        rows = self._session.rows(_COUNTED_GROUPS, plan_id=plan_id)
        return [
            CountedGroup(
                group, state, bool(pinned), str(load_object(metadata or "").get("trigger"))
            )
            for group, state, pinned, metadata in rows
        ]

    def count_states(self, plan_id: str) -> int:
        [[count]] = self._session.rows(_COUNT_STATES, plan_id=plan_id)
        return count

    def count_pruned(self, plan_id: str) -> int:
        [[count]] = self._session.rows(_COUNT_PRUNED, plan_id=plan_id, type=CheckpointPruned.type)
        return count

    def is_snapshot_named(self, plan_id: str, resource_id: str, snapshot_id: str) -> bool:
        entry = dump({resource_id: snapshot_id}).strip("{}")
        [[count]] = self._session.rows(_NAMING_SNAPSHOT, plan_id=plan_id, entry=entry)
        return count > 0

    def ids(self, prefix: str) -> Sequence[str]:
        return self._ids_starting_with("checkpoint_metadata", "checkpoint_id", prefix)

    def set_aside(self, group_ids: Collection[str], operation_id: str | None) -> None:
        for sql, values in id_lists(_SET_ASIDE, group_ids):
            self._session.run(sql, operation_id=operation_id, **values)

    def set_pinned(self, group_ids: Collection[str], *, pinned: bool) -> None:
        event = CheckpointPinned if pinned else CheckpointUnpinned
        for group_id in group_ids:
            if self._session.run(_SET_PINNED, group_id=group_id, pinned=pinned).rowcount:
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
        rows = self._session.rows(_FIRST_OF_GROUP, group_id=group_id)
        return rows[0] if rows else None

    def _add_event(self, event: _GroupEvent, group_id: str, first: Row | None) -> None:
        if first is not None:
            plan_id, checkpoint_id, metadata = first
            label = load_object(metadata).get("label")
            readable = label if isinstance(label, str) else UNREADABLE
            self._events.add(event(plan_id, checkpoint_id, group_id, readable))


class OperationRepository(RecordRepository, OperationStore):
    """The journal of operations."""

    def add(self, operation: Operation) -> None:
        self._session.insert(OPERATIONS, OPERATIONS.row(operation))

    def save(self, operation: Operation) -> None:
        before = self._session.rows(_STATUS, operation_id=operation.id)
        self._session.update(OPERATIONS, OPERATIONS.row(operation))
        completed = OperationStatus.COMPLETED
        if operation.status is not completed or before == [(completed.value,)]:
            return
        plan_id, target = operation.plan_id, operation.target_checkpoint_id
        sandboxes = SandboxRepository(self._session, self._events).list(plan_id)
        if operation.apply is not None:
            mode, targets = operation.apply.mode.value, operation.apply.targets
            commits = tuple(item.commit for item in targets if item.commit is not None)
            if operation.kind is OperationKind.UNDO:
                self._events.add(PlanUnapplied(plan_id, operation.id, mode, commits))
                return
            self._events.add(PlanApplied(plan_id, operation.id, mode, commits))
            for sandbox in sandboxes:
                facts = (sandbox.id, sandbox.resource, operation.id)
                self._events.add(SandboxCommitted(plan_id, *facts))
            return
        found = self._session.find(CHECKPOINTS, _CHECKPOINT, checkpoint_id=target)
        # Retention may have deleted the checkpoint meanwhile.
        label = found[0].metadata.label if found else UNREADABLE
        kind = operation.kind.value
        self._events.add(CheckpointRestored(plan_id, target, label, operation.id, kind))
        for sandbox in sandboxes:
            facts = (sandbox.id, sandbox.resource, target, operation.id)
            self._events.add(SandboxRolledBack(plan_id, *facts))

    def pending(self, plan_id: str) -> Operation | None:
        found = self._session.find(OPERATIONS, _PENDING, plan_id=plan_id)
        return found[0] if found else None

    def all_pending(self) -> Sequence[Operation]:
        found = self._session.find(OPERATIONS, _ALL_PENDING)
        return [*{operation.plan_id: operation for operation in found}.values()]

    def list(self, plan_id: str) -> Sequence[Operation]:
        return self._session.find(OPERATIONS, _OPERATIONS, plan_id=plan_id)
