"""The order in which plans were created, which no clock can change."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012_plan_order"
down_revision = "0011_output_streams"


def upgrade() -> None:
    op.add_column("plans", sa.Column("number", sa.BigInteger(), nullable=True))
    # All that is known about earlier plans is when each was created, by the clock of its host.
    op.execute(
        "UPDATE plans SET number = ordered.number FROM"
        " (SELECT plan_id, row_number() OVER (ORDER BY created_at, plan_id) AS number FROM plans)"
        " AS ordered WHERE ordered.plan_id = plans.plan_id"
    )
    op.create_index("ix_plans_number", "plans", ["number"], unique=True)
    op.drop_index("ix_plans_created_at_plan_id", "plans")
