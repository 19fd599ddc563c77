"""Whether a sandbox starts from the project's files as they are; earlier ones did not."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005_include_uncommitted"
down_revision = "0004_undone_tool_calls"


def upgrade() -> None:
    op.add_column(
        "resources",
        sa.Column("include_uncommitted", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
