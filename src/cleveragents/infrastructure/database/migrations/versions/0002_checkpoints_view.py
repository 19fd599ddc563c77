"""The view `checkpoints`: the columns that a reader of the database looks for first.

A later migration that recreates `checkpoint_metadata` must drop and remake it.
"""

from __future__ import annotations

from alembic import op

revision = "0002_checkpoints_view"
down_revision = "0001_base_tables"


def upgrade() -> None:
    op.execute(
        "CREATE VIEW checkpoints AS"
        " SELECT checkpoint_id, plan_id, sandbox_ref, created_at, metadata_json"
        " FROM checkpoint_metadata"
    )
