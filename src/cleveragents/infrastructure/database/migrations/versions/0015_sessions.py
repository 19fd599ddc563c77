"""What a program does in a session; NULL for a plan that runs a file."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015_sessions"
down_revision = "0014_no_reversion_count"


def upgrade() -> None:
    op.add_column("plans", sa.Column("session_json", sa.Text(), nullable=True))
