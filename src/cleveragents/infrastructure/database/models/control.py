"""Rows of the journal of operations and of the leases on plans."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from sqlalchemy import Index
from sqlalchemy.orm import Mapped

from cleveragents.domain.checkpoint import Operation, OperationKind, OperationStatus
from cleveragents.domain.lease import Holder, Lease
from cleveragents.infrastructure.database.models.base import BigInt, Key, Model, PlanKey

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

    @classmethod
    def from_domain(cls, operation: Operation) -> Self:
        return cls(
            operation_id=operation.id,
            plan_id=operation.plan_id,
            kind=operation.kind.value,
            status=operation.status.value,
            target_checkpoint_id=operation.target_checkpoint_id,
            target_group_id=operation.target_group_id,
            safety_group_id=operation.safety_group_id,
            note=operation.note,
            created_at=operation.created_at,
            finished_at=operation.finished_at,
        )

    def to_domain(self) -> Operation:
        return Operation(
            id=self.operation_id,
            plan_id=self.plan_id,
            kind=OperationKind(self.kind),
            status=OperationStatus(self.status),
            target_checkpoint_id=self.target_checkpoint_id,
            target_group_id=self.target_group_id,
            safety_group_id=self.safety_group_id,
            note=self.note,
            created_at=self.created_at,
            finished_at=self.finished_at,
        )


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

    @classmethod
    def from_domain(cls, lease: Lease) -> Self:
        return cls(
            resource_type=PLAN_LEASE,
            resource_id=lease.plan_id,
            owner_id=lease.holder.owner_id,
            fencing=lease.fencing,
            host=lease.holder.host,
            process_id=lease.holder.process_id,
            process_started=lease.holder.process_started,
            command=lease.holder.command,
            acquired_at=lease.acquired_at,
            expires_at=lease.expires_at,
            released=lease.released,
        )

    def to_domain(self) -> Lease:
        holder = Holder(
            owner_id=self.owner_id,
            host=self.host,
            process_id=self.process_id,
            process_started=self.process_started,
            command=self.command,
        )
        return Lease(
            plan_id=self.resource_id,
            holder=holder,
            fencing=self.fencing,
            acquired_at=self.acquired_at,
            expires_at=self.expires_at,
            released=self.released,
        )
