"""What undoing an operation needs, corrections, influences and child plans."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009_operations"
down_revision = "0008_events"


def upgrade() -> None:
    op.add_column("checkpoint_groups", _text("way_json", nullable=True))
    for name in ("before_json", "after_json", "takes_back"):
        op.add_column("operations", _text(name, nullable=True))
    for name in ("parent_plan_id", "spawn_decision_id"):
        op.add_column("plans", _text(name, nullable=True))
    op.create_index("ix_plans_parent_plan_id", "plans", ["parent_plan_id"])
    op.create_table(
        "decision_dependencies",
        _text("decision_id"),
        _text("influenced_by_id"),
        sa.PrimaryKeyConstraint("decision_id", "influenced_by_id", name="pk_decision_dependencies"),
        _reference("decision_dependencies", "decision_id", "decisions.decision_id"),
        _reference("decision_dependencies", "influenced_by_id", "decisions.decision_id"),
    )
    op.create_index(
        "ix_decision_dependencies_influenced_by_id", "decision_dependencies", ["influenced_by_id"]
    )
    op.create_table(
        "correction_attempts",
        _text("correction_attempt_id"),
        _text("plan_id"),
        _text("original_decision_id"),
        # Not a reference: the decision is recorded when the correction is done.
        _text("new_decision_id"),
        _text("operation_id", nullable=True),
        _text("mode"),
        _text("guidance"),
        _text("choose", nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        _text("state"),
        _text("original_subtree_snapshot"),
        _text("archived_checkpoint_id", nullable=True),
        _text("archived_artifacts_path", nullable=True),
        _text("child_plan_id", nullable=True),
        _moment("created_at"),
        _moment("completed_at", nullable=True),
        sa.PrimaryKeyConstraint("correction_attempt_id", name="pk_correction_attempts"),
        _reference("correction_attempts", "plan_id", "plans.plan_id"),
        _reference("correction_attempts", "original_decision_id", "decisions.decision_id"),
    )
    op.create_index("ix_correction_attempts_plan_id", "correction_attempts", ["plan_id"])


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def _moment(name: str, *, nullable: bool = False) -> sa.Column[object]:
    kind = sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite")
    return sa.Column(name, kind, nullable=nullable)


def _reference(table: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column], [target], name=f"fk_{table}_{column}", ondelete="CASCADE"
    )
