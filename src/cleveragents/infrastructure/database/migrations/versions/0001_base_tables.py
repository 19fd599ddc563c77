"""The tables of plans, sandboxes, checkpoints, decisions, tool calls, operations and locks."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from alembic import op

revision = "0001_base_tables"
down_revision = None


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def _number(name: str, *, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=nullable)


def _big_number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=False)


def _flag(name: str) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean(), nullable=False)


def _time(name: str, *, nullable: bool = False) -> sa.Column[datetime]:
    # ISO text in SQLite, so that it sorts and people can read it.
    kind = sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite")
    return sa.Column(name, kind, nullable=nullable)


def _key(table: str, *columns: str) -> sa.PrimaryKeyConstraint:
    return sa.PrimaryKeyConstraint(*columns, name=f"pk_{table}")


def _reference(table: str, column: str, target: str, on_delete: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column], [target], name=f"fk_{table}_{column}", ondelete=on_delete
    )


def _of_plan(table: str) -> sa.ForeignKeyConstraint:
    return _reference(table, "plan_id", "plans.plan_id", "CASCADE")


def _index(table: str, *columns: str, unique: bool = False) -> None:
    op.create_index(f"ix_{table}_{'_'.join(columns)}", table, list(columns), unique=unique)


def upgrade() -> None:
    _plans_and_sandboxes()
    _decisions_and_tool_calls()
    _checkpoints()
    _operations_and_locks()


def _plans_and_sandboxes() -> None:
    op.create_table(
        "plans",
        _text("plan_id"),
        _text("name"),
        _text("project"),
        _text("project_key"),
        _text("plan_file"),
        _text("definition_json"),
        _text("arguments_json"),
        _text("phase"),
        _text("state"),
        _number("attempt"),
        _number("reversion_count"),
        _number("last_completed_step"),
        _text("last_checkpoint_id", nullable=True),
        _text("decision_root_id", nullable=True),
        _text("error_json", nullable=True),
        _time("created_at"),
        _time("updated_at"),
        _time("started_at", nullable=True),
        _time("finished_at", nullable=True),
        _key("plans", "plan_id"),
    )
    _index("plans", "created_at", "plan_id")
    op.create_table(
        "resources",
        _text("resource_id"),
        _text("plan_id"),
        _text("name"),
        _text("type"),
        _text("path"),
        _number("position"),
        _key("resources", "resource_id"),
        _of_plan("resources"),
    )
    _index("resources", "plan_id", "position")
    op.create_table(
        "sandboxes",
        _text("sandbox_id"),
        _text("plan_id"),
        _text("resource_id"),
        _text("resource"),
        _text("strategy"),
        _text("path"),
        _text("branch"),
        _text("store"),
        _text("base_commit", nullable=True),
        _text("state"),
        _time("created_at"),
        _key("sandboxes", "sandbox_id"),
        _of_plan("sandboxes"),
        _reference("sandboxes", "resource_id", "resources.resource_id", "CASCADE"),
    )
    _index("sandboxes", "plan_id")


def _decisions_and_tool_calls() -> None:
    op.create_table(
        "decisions",
        _text("decision_id"),
        _text("plan_id"),
        _text("parent_decision_id", nullable=True),
        _number("sequence"),
        _text("decision_type"),
        _text("question"),
        _text("chosen_option"),
        _text("alternatives_considered"),
        sa.Column("confidence", sa.Float(), nullable=True),
        _text("rationale"),
        _text("context_snapshot"),
        _flag("is_correction"),
        _text("superseded_by", nullable=True),
        _number("step_index", nullable=True),
        _time("created_at"),
        _key("decisions", "decision_id"),
        _of_plan("decisions"),
        _reference("decisions", "parent_decision_id", "decisions.decision_id", "SET NULL"),
    )
    _index("decisions", "plan_id", "sequence")
    op.create_table(
        "tool_calls",
        _text("tool_call_id"),
        _text("plan_id"),
        _number("sequence"),
        _number("step_index"),
        _text("tool"),
        _text("resource"),
        _text("input_json"),
        _text("input_hash"),
        _text("status"),
        _text("output", nullable=True),
        _text("error", nullable=True),
        _text("undone_by", nullable=True),
        _time("started_at"),
        _time("finished_at", nullable=True),
        _key("tool_calls", "tool_call_id"),
        _of_plan("tool_calls"),
    )
    _index("tool_calls", "plan_id", "sequence")


def _checkpoints() -> None:
    op.create_table(
        "checkpoint_groups",
        _text("group_id"),
        _text("plan_id"),
        _number("sequence"),
        _time("created_at"),
        _text("snapshots_json"),
        _text("state_hashes_json"),
        _flag("pinned"),
        _text("set_aside_by", nullable=True),
        _key("checkpoint_groups", "group_id"),
        _of_plan("checkpoint_groups"),
    )
    _index("checkpoint_groups", "plan_id", "sequence", unique=True)
    table = "checkpoint_metadata"
    op.create_table(
        table,
        _text("checkpoint_id"),
        _text("plan_id"),
        _text("group_id"),
        _number("sequence"),
        _text("decision_id", nullable=True),
        _text("resource_id", nullable=True),
        _text("checkpoint_type"),
        _text("sandbox_ref"),
        _text("filesystem_path"),
        _big_number("size_bytes"),
        _time("created_at"),
        _text("metadata_json"),
        _key(table, "checkpoint_id"),
        _of_plan(table),
        _reference(table, "group_id", "checkpoint_groups.group_id", "CASCADE"),
        _reference(table, "decision_id", "decisions.decision_id", "SET NULL"),
        _reference(table, "resource_id", "resources.resource_id", "SET NULL"),
    )
    _index(table, "plan_id", "created_at")
    _index(table, "plan_id", "sequence", unique=True)
    _index(table, "decision_id")
    _index(table, "group_id")
    _index(table, "created_at", "checkpoint_id")


def _operations_and_locks() -> None:
    op.create_table(
        "operations",
        _text("operation_id"),
        _text("plan_id"),
        _text("kind"),
        _text("status"),
        _text("target_checkpoint_id"),
        _text("target_group_id"),
        _text("safety_group_id"),
        _text("note"),
        _time("created_at"),
        _time("finished_at", nullable=True),
        _key("operations", "operation_id"),
        _of_plan("operations"),
    )
    _index("operations", "plan_id", "created_at")
    op.create_table(
        "locks",
        _text("resource_type"),
        _text("resource_id"),
        _text("owner_id"),
        _big_number("fencing"),
        _text("host"),
        _big_number("process_id"),
        _text("process_started"),
        _text("command"),
        _time("acquired_at"),
        _time("expires_at"),
        _flag("released"),
        _key("locks", "resource_type", "resource_id"),
    )
