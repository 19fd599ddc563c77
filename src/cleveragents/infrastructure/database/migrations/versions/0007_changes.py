"""What tool calls did to paths."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007_changes"
down_revision = "0006_decisions_and_effects"


def upgrade() -> None:
    op.create_table(
        "changes",
        sa.Column("tool_call_id", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("plan_id", sa.Text(), nullable=False),
        sa.Column("resource", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("operation", sa.Text(), nullable=False),
        sa.Column("before_hash", sa.Text(), nullable=True),
        sa.Column("after_hash", sa.Text(), nullable=True),
        sa.Column("before_mode", sa.Integer(), nullable=True),
        sa.Column("after_mode", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("tool_call_id", "position", name="pk_changes"),
        sa.ForeignKeyConstraint(
            ["tool_call_id"],
            ["tool_calls.tool_call_id"],
            name="fk_changes_tool_call_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["plan_id"], ["plans.plan_id"], name="fk_changes_plan_id", ondelete="CASCADE"
        ),
    )
    # Not the whole path: PostgreSQL refuses entries of an index that are longer than 2.7 kB.
    op.create_index(
        "ix_changes_plan_id_path", "changes", ["plan_id", sa.text("substr(path, 1, 200)")]
    )
