"""Which options a plan takes, why it was cancelled, and what no restore can undo."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006_decisions_and_effects"
down_revision = "0005_include_uncommitted"


def upgrade() -> None:
    _add("plans", _text("choices_json", default="{}"), _text("cancel_reason"))
    _add(
        "decisions",
        _text("place"),
        _text("downstream_plan_ids", default="[]"),
        _text("actor_reasoning"),
        _text("correction_reason"),
    )
    superseded = sa.text("superseded_by IS NOT NULL")
    op.create_index(
        "ix_decisions_superseded",
        "decisions",
        ["plan_id"],
        sqlite_where=superseded,
        postgresql_where=superseded,
    )
    _add("tool_calls", _text("side_effects_json"))


def _text(name: str, *, default: str | None = None) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=default is None, server_default=default)


def _add(table: str, *columns: sa.Column[str]) -> None:
    for column in columns:
        op.add_column(table, column)
