"""What an apply does to each resource, and what validations said."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010_apply"
down_revision = "0009_operations"


def upgrade() -> None:
    op.add_column("operations", sa.Column("apply_json", sa.Text(), nullable=True))
    op.create_table(
        "validation_results",
        *(
            sa.Column(name, sa.Text(), nullable=name == "message")
            for name in (
                *("validation_id", "plan_id", "name", "mode", "status"),
                *("message", "output", "changed_json"),
            )
        ),
        *(_moment(name) for name in ("started_at", "finished_at")),
        sa.PrimaryKeyConstraint("validation_id", name="pk_validation_results"),
        sa.ForeignKeyConstraint(
            ["plan_id"],
            ["plans.plan_id"],
            name="fk_validation_results_plan_id",
            ondelete="CASCADE",
        ),
    )
    op.create_index(
        "ix_validation_results_plan_id_started_at", "validation_results", ["plan_id", "started_at"]
    )


def _moment(name: str) -> sa.Column[object]:
    kind = sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite")
    return sa.Column(name, kind, nullable=False)
