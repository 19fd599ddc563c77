"""How each resource is isolated, and what a copied sandbox is made of."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003_sandbox_strategies"
down_revision = "0002_checkpoints_view"


def upgrade() -> None:
    # Every plan of an earlier program worked in a worktree.
    op.add_column(
        "resources", sa.Column("strategy", sa.Text(), nullable=False, server_default="git_worktree")
    )
    op.add_column("sandboxes", sa.Column("copied_by", sa.Text(), nullable=True))
    op.add_column("sandboxes", sa.Column("skipped_json", sa.Text(), nullable=True))
