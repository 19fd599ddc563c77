"""Rows of what tool calls did to paths."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from cleveragents.domain.change import AuthoredChange, ChangeOperation, PathChange
from cleveragents.infrastructure.database.models.base import Model, PlanKey, StoredRow, Values

PATH_START = 200
"""So many characters of a path are in the index: a server refuses entries of a few kilobytes."""


class ChangeModel(Model):
    """A row of `changes`."""

    __tablename__ = "changes"
    __table_args__ = (
        Index("ix_changes_plan_id_path", "plan_id", text(f"substr(path, 1, {PATH_START})")),
    )

    tool_call_id: Mapped[str] = mapped_column(
        ForeignKey("tool_calls.tool_call_id", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    plan_id: Mapped[PlanKey]
    resource: Mapped[str]
    path: Mapped[str]
    operation: Mapped[str]
    before_hash: Mapped[str | None]
    after_hash: Mapped[str | None]
    before_mode: Mapped[int | None]
    after_mode: Mapped[int | None]

    @staticmethod
    def from_domain(
        plan_id: str, call_id: str, resource: str, position: int, change: PathChange
    ) -> Values:
        return {
            "tool_call_id": call_id,
            "position": position,
            "plan_id": plan_id,
            "resource": resource,
            "path": change.path,
            "operation": change.operation.value,
            "before_hash": change.before_hash,
            "after_hash": change.after_hash,
            "before_mode": change.before_mode,
            "after_mode": change.after_mode,
        }

    @staticmethod
    def to_domain(row: StoredRow) -> AuthoredChange:
        """Takes a row that the tool call's columns were joined to."""
        return AuthoredChange(
            path=row.path,
            operation=ChangeOperation(row.operation),
            before_hash=row.before_hash,
            after_hash=row.after_hash,
            before_mode=row.before_mode,
            after_mode=row.after_mode,
            resource=row.resource,
            plan_id=row.plan_id,
            call_id=row.tool_call_id,
            call_sequence=row.sequence,
            step_index=row.step_index,
            tool=row.tool,
            undone_by=row.undone_by,
        )
