"""Plans without a count of automatic reversions, which nothing ever counted."""

from __future__ import annotations

from alembic import op

revision = "0014_no_reversion_count"
down_revision = "0013_installation"


def upgrade() -> None:
    op.drop_column("plans", "reversion_count")
