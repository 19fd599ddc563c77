"""Which part of the output of tools and validations came from standard error."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011_output_streams"
down_revision = "0010_apply"


def upgrade() -> None:
    for table in ("tool_calls", "validation_results"):
        op.add_column(table, sa.Column("stderr_json", sa.Text(), nullable=True))
