"""Rows of the journal of operations and of the leases on plans."""

from __future__ import annotations

import json
from datetime import datetime

from sqlalchemy import Index
from sqlalchemy.orm import Mapped

from cleveragents.domain.apply import ApplyRecord
from cleveragents.domain.lease import Holder, Lease
from cleveragents.domain.operation import Operation, OperationKind, OperationStatus, Position
from cleveragents.infrastructure.database import stored_json
from cleveragents.infrastructure.database.models.base import (
    BigInt,
    Key,
    Model,
    PlanKey,
    StoredRow,
    Values,
)

PLAN_LEASE = "plan"
"""The `resource_type` of a lock on a plan."""


class OperationModel(Model):
    """A row of `operations`."""

    __tablename__ = "operations"
    __table_args__ = (Index(None, "plan_id", "created_at"),)

    operation_id: Mapped[Key]
    plan_id: Mapped[PlanKey]
    kind: Mapped[str]
    status: Mapped[str]
    target_checkpoint_id: Mapped[str]
    target_group_id: Mapped[str]
    safety_group_id: Mapped[str]
    note: Mapped[str]
    created_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    before_json: Mapped[str | None]
    after_json: Mapped[str | None]
    takes_back: Mapped[str | None]
    apply_json: Mapped[str | None]

    @staticmethod
    def from_domain(operation: Operation) -> Values:
        return {
            "operation_id": operation.id,
            "plan_id": operation.plan_id,
            "kind": operation.kind.value,
            "status": operation.status.value,
            "target_checkpoint_id": operation.target_checkpoint_id,
            "target_group_id": operation.target_group_id,
            "safety_group_id": operation.safety_group_id,
            "note": operation.note,
            "created_at": operation.created_at,
            "finished_at": operation.finished_at,
            "before_json": _stored(operation.before),
            "after_json": _stored(operation.after),
            "takes_back": operation.takes_back,
            "apply_json": _stored(operation.apply),
        }

    @staticmethod
    def to_domain(row: StoredRow) -> Operation:
        return Operation(
            id=row.operation_id,
            plan_id=row.plan_id,
            kind=OperationKind(row.kind),
            status=OperationStatus(row.status),
            target_checkpoint_id=row.target_checkpoint_id,
            target_group_id=row.target_group_id,
            safety_group_id=row.safety_group_id,
            note=row.note,
            created_at=row.created_at,
            finished_at=row.finished_at,
            before=_position(row.before_json),
            after=_position(row.after_json),
            takes_back=row.takes_back,
            apply=None
            if row.apply_json is None
            else ApplyRecord.model_validate(json.loads(row.apply_json)),
        )


def _stored(part: Position | ApplyRecord | None) -> str | None:
    return None if part is None else stored_json.dump(part)


def _position(stored: str | None) -> Position | None:
    return None if stored is None else Position.model_validate(json.loads(stored))


class LockModel(Model):
    """A row of `locks`: the lease on one plan, kept when it is released."""

    __tablename__ = "locks"

    resource_type: Mapped[Key]
    resource_id: Mapped[Key]
    owner_id: Mapped[str]
    fencing: Mapped[BigInt]
    host: Mapped[str]
    process_id: Mapped[BigInt]
    process_started: Mapped[str]
    command: Mapped[str]
    acquired_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    released: Mapped[bool]

    @staticmethod
    def from_domain(lease: Lease) -> Values:
        return {
            "resource_type": PLAN_LEASE,
            "resource_id": lease.plan_id,
            "owner_id": lease.holder.owner_id,
            "fencing": lease.fencing,
            "host": lease.holder.host,
            "process_id": lease.holder.process_id,
            "process_started": lease.holder.process_started,
            "command": lease.holder.command,
            "acquired_at": lease.acquired_at,
            "expires_at": lease.expires_at,
            "released": lease.released,
        }

    @staticmethod
    def to_domain(row: StoredRow) -> Lease:
        holder = Holder(
            owner_id=row.owner_id,
            host=row.host,
            process_id=row.process_id,
            process_started=row.process_started,
            command=row.command,
        )
        return Lease(
            plan_id=row.resource_id,
            holder=holder,
            fencing=row.fencing,
            acquired_at=row.acquired_at,
            expires_at=row.expires_at,
            released=row.released,
        )
