"""Rows of checkpoints and their groups."""

from __future__ import annotations

import json
from datetime import datetime

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from cleveragents.domain.checkpoint import Checkpoint, CheckpointGroup, CheckpointType, Way
from cleveragents.infrastructure.database import stored_json
from cleveragents.infrastructure.database.models.base import (
    BigInt,
    Key,
    Model,
    PlanKey,
    StoredRow,
    Values,
)


class CheckpointGroupModel(Model):
    """A row of `checkpoint_groups`."""

    __tablename__ = "checkpoint_groups"
    __table_args__ = (Index(None, "plan_id", "sequence", unique=True),)

    group_id: Mapped[Key]
    plan_id: Mapped[PlanKey]
    sequence: Mapped[int]
    created_at: Mapped[datetime]
    snapshots_json: Mapped[str]
    state_hashes_json: Mapped[str]
    pinned: Mapped[bool]
    set_aside_by: Mapped[str | None]
    way_json: Mapped[str | None]

    @staticmethod
    def from_domain(group: CheckpointGroup) -> Values:
        return {
            "group_id": group.id,
            "plan_id": group.plan_id,
            "sequence": group.sequence,
            "created_at": group.created_at,
            "snapshots_json": stored_json.dump(group.snapshots),
            "state_hashes_json": stored_json.dump(group.state_hashes),
            "pinned": group.pinned,
            "set_aside_by": group.set_aside_by,
            "way_json": None if group.way is None else stored_json.dump(group.way),
        }

    @staticmethod
    def to_domain(row: StoredRow) -> CheckpointGroup:
        return CheckpointGroup(
            id=row.group_id,
            plan_id=row.plan_id,
            sequence=row.sequence,
            created_at=row.created_at,
            snapshots=json.loads(row.snapshots_json),
            state_hashes=json.loads(row.state_hashes_json),
            pinned=row.pinned,
            set_aside_by=row.set_aside_by,
            way=None if row.way_json is None else Way.model_validate(json.loads(row.way_json)),
        )


class CheckpointModel(Model):
    """A row of `checkpoint_metadata`; the view `checkpoints` shows five of its columns."""

    __tablename__ = "checkpoint_metadata"
    __table_args__ = (
        Index(None, "plan_id", "created_at"),
        Index(None, "plan_id", "sequence", unique=True),
        Index(None, "decision_id"),
        Index(None, "group_id"),
        Index(None, "created_at", "checkpoint_id"),
    )

    checkpoint_id: Mapped[Key]
    plan_id: Mapped[PlanKey]
    group_id: Mapped[str] = mapped_column(
        ForeignKey("checkpoint_groups.group_id", ondelete="CASCADE")
    )
    sequence: Mapped[int]
    decision_id: Mapped[str | None] = mapped_column(
        ForeignKey("decisions.decision_id", ondelete="SET NULL")
    )
    resource_id: Mapped[str | None] = mapped_column(
        ForeignKey("resources.resource_id", ondelete="SET NULL")
    )
    checkpoint_type: Mapped[str]
    sandbox_ref: Mapped[str]
    filesystem_path: Mapped[str]
    size_bytes: Mapped[BigInt]
    created_at: Mapped[datetime]
    metadata_json: Mapped[str]

    @staticmethod
    def from_domain(checkpoint: Checkpoint) -> Values:
        return {
            "checkpoint_id": checkpoint.id,
            "plan_id": checkpoint.plan_id,
            "group_id": checkpoint.group_id,
            "sequence": checkpoint.sequence,
            "decision_id": checkpoint.decision_id,
            "resource_id": checkpoint.resource_id,
            "checkpoint_type": checkpoint.checkpoint_type.value,
            "sandbox_ref": checkpoint.sandbox_ref,
            "filesystem_path": checkpoint.filesystem_path,
            "size_bytes": checkpoint.size_bytes,
            "created_at": checkpoint.created_at,
            "metadata_json": stored_json.dump(checkpoint.metadata),
        }

    @staticmethod
    def to_domain(row: StoredRow) -> Checkpoint:
        return Checkpoint(
            id=row.checkpoint_id,
            plan_id=row.plan_id,
            group_id=row.group_id,
            sequence=row.sequence,
            decision_id=row.decision_id,
            resource_id=row.resource_id or "",
            checkpoint_type=CheckpointType(row.checkpoint_type),
            sandbox_ref=row.sandbox_ref,
            filesystem_path=row.filesystem_path,
            size_bytes=row.size_bytes,
            created_at=row.created_at,
            metadata=stored_json.load_metadata(row.metadata_json),
        )
