"""The home directories that use the database, and which of them each sandbox belongs to."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013_installation"
down_revision = "0012_plan_order"


def upgrade() -> None:
    time = sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite")
    op.create_table(
        "installations",
        sa.Column("home_id", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("created_at", time, nullable=False),
        sa.PrimaryKeyConstraint("home_id", name="pk_installations"),
    )
    # NULL until the home directory with the sandbox opens the database.
    op.add_column("sandboxes", sa.Column("home_id", sa.Text(), nullable=True))
