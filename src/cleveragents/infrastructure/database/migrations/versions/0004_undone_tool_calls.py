"""An index of the tool calls that were undone: there are few, and each checkpoint asks for them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004_undone_tool_calls"
down_revision = "0003_sandbox_strategies"


def upgrade() -> None:
    undone = sa.text("undone_by IS NOT NULL")
    op.create_index(
        "ix_tool_calls_undone",
        "tool_calls",
        ["plan_id", "sequence"],
        sqlite_where=undone,
        postgresql_where=undone,
    )
