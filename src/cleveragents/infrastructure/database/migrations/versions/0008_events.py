"""What happened to plans, numbered by the database."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008_events"
down_revision = "0007_changes"


def upgrade() -> None:
    op.create_table(
        "events",
        sa.Column(
            "sequence", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True
        ),
        sa.Column("plan_id", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("data_json", sa.Text(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("sequence", name="pk_events"),
        sa.ForeignKeyConstraint(
            ["plan_id"], ["plans.plan_id"], name="fk_events_plan_id", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_events_plan_id_sequence", "events", ["plan_id", "sequence"])
