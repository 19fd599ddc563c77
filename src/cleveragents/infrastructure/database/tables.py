"""The tables, as SQLAlchemy describes them: for the migrations and the check against drift.

Nothing else loads this module: statements are plain SQL, and `models.py` maps
records to columns. `migrations/` creates the tables; a test compares the two.

A column refers to another table by foreign key only where the other row must
exist as long as this one. The id of an operation, or of a checkpoint that
retention may delete, is plain text.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    text,
)

METADATA = MetaData(
    naming_convention={
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_TIME = DateTime(timezone=True).with_variant(Text(), "sqlite")


def _key(name: str) -> Column[Any]:
    return Column(name, Text, primary_key=True)


def _required(kind: Any, *names: str) -> list[Column[Any]]:
    return [Column(name, kind, nullable=False) for name in names]


def _optional(kind: Any, *names: str) -> list[Column[Any]]:
    return [Column(name, kind, nullable=True) for name in names]


def _reference(
    name: str, target: str, *, key: bool = False, on_delete: str = "CASCADE"
) -> Column[Any]:
    foreign = ForeignKey(target, ondelete=on_delete)
    return Column(name, Text, foreign, primary_key=key, nullable=on_delete == "SET NULL")


def _plan() -> Column[Any]:
    return _reference("plan_id", "plans.plan_id")


def _partial_index(name: str, condition: str, *columns: str) -> Index:
    """An index of few rows: finding them must not mean reading all rows."""
    where = text(condition)
    return Index(name, *columns, sqlite_where=where, postgresql_where=where)


Table(
    "plans",
    METADATA,
    _key("plan_id"),
    *_required(Text, "name", "project", "project_key", "plan_file", "definition_json"),
    *_required(Text, "arguments_json", "phase", "state", "choices_json"),
    *_required(Integer, "attempt", "last_completed_step"),
    *_optional(Text, "last_checkpoint_id", "decision_root_id", "error_json", "cancel_reason"),
    *_optional(Text, "parent_plan_id", "spawn_decision_id", "session_json"),
    *_required(_TIME, "created_at", "updated_at"),
    *_optional(_TIME, "started_at", "finished_at"),
    # The order of creation. The record does not have it; see `PlanRepository.add`.
    *_optional(BigInteger, "number"),
    Index(None, "number", unique=True),
    Index(None, "parent_plan_id"),
)
Table(
    "resources",
    METADATA,
    _key("resource_id"),
    _plan(),
    *_required(Text, "name", "type", "strategy", "path"),
    *_required(Integer, "position"),
    *_required(Boolean, "include_uncommitted"),
    Index(None, "plan_id", "position"),
)
Table(
    "sandboxes",
    METADATA,
    _key("sandbox_id"),
    _plan(),
    _reference("resource_id", "resources.resource_id"),
    *_required(Text, "resource", "strategy", "path", "branch", "store", "state"),
    *_optional(Text, "base_commit", "copied_by", "skipped_json", "home_id"),
    *_required(_TIME, "created_at"),
    Index(None, "plan_id"),
)
# The home directories that use the database: a server may serve several.
Table(
    "installations",
    METADATA,
    _key("home_id"),
    *_required(Text, "path", "host"),
    *_required(_TIME, "created_at"),
)
Table(
    "checkpoint_groups",
    METADATA,
    _key("group_id"),
    _plan(),
    *_required(Integer, "sequence"),
    *_required(_TIME, "created_at"),
    *_required(Text, "snapshots_json", "state_hashes_json"),
    *_required(Boolean, "pinned"),
    *_optional(Text, "set_aside_by", "way_json"),
    Index(None, "plan_id", "sequence", unique=True),
)
# The view `checkpoints` shows five of its columns.
Table(
    "checkpoint_metadata",
    METADATA,
    _key("checkpoint_id"),
    _plan(),
    _reference("group_id", "checkpoint_groups.group_id"),
    _reference("decision_id", "decisions.decision_id", on_delete="SET NULL"),
    _reference("resource_id", "resources.resource_id", on_delete="SET NULL"),
    *_required(Integer, "sequence"),
    *_required(Text, "checkpoint_type", "sandbox_ref", "filesystem_path", "metadata_json"),
    *_required(BigInteger, "size_bytes"),
    *_required(_TIME, "created_at"),
    Index(None, "plan_id", "created_at"),
    Index(None, "plan_id", "sequence", unique=True),
    Index(None, "decision_id"),
    Index(None, "group_id"),
    Index(None, "created_at", "checkpoint_id"),
)
Table(
    "decisions",
    METADATA,
    _key("decision_id"),
    _plan(),
    _reference("parent_decision_id", "decisions.decision_id", on_delete="SET NULL"),
    *_required(Integer, "sequence"),
    *_required(Text, "decision_type", "question", "chosen_option", "alternatives_considered"),
    *_required(Text, "rationale", "context_snapshot", "downstream_plan_ids"),
    *_optional(Float, "confidence"),
    *_required(Boolean, "is_correction"),
    *_optional(Text, "superseded_by", "place", "actor_reasoning", "correction_reason"),
    *_optional(Integer, "step_index"),
    *_required(_TIME, "created_at"),
    Index(None, "plan_id", "sequence"),
    _partial_index("ix_decisions_superseded", "superseded_by IS NOT NULL", "plan_id"),
)
Table(
    "decision_dependencies",
    METADATA,
    _reference("decision_id", "decisions.decision_id", key=True),
    _reference("influenced_by_id", "decisions.decision_id", key=True),
    Index(None, "influenced_by_id"),
)
Table(
    "correction_attempts",
    METADATA,
    _key("correction_attempt_id"),
    _plan(),
    _reference("original_decision_id", "decisions.decision_id"),
    *_required(Text, "new_decision_id", "mode", "guidance", "state"),
    *_required(Text, "original_subtree_snapshot"),
    *_optional(Text, "operation_id", "choose", "child_plan_id"),
    *_optional(Text, "archived_checkpoint_id", "archived_artifacts_path"),
    *_required(Integer, "attempt"),
    *_required(_TIME, "created_at"),
    *_optional(_TIME, "completed_at"),
    Index(None, "plan_id"),
)
Table(
    "tool_calls",
    METADATA,
    _key("tool_call_id"),
    _plan(),
    *_required(Integer, "sequence", "step_index"),
    *_required(Text, "tool", "resource", "input_json", "input_hash", "status"),
    *_optional(Text, "output", "error", "undone_by", "side_effects_json", "stderr_json"),
    *_required(_TIME, "started_at"),
    *_optional(_TIME, "finished_at"),
    Index(None, "plan_id", "sequence"),
    _partial_index("ix_tool_calls_undone", "undone_by IS NOT NULL", "plan_id", "sequence"),
)
Table(
    "changes",
    METADATA,
    _reference("tool_call_id", "tool_calls.tool_call_id", key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    _plan(),
    *_required(Text, "resource", "path", "operation"),
    *_optional(Text, "before_hash", "after_hash"),
    *_optional(Integer, "before_mode", "after_mode"),
    # Only the start of a path: a server refuses index entries of a few kilobytes.
    Index("ix_changes_plan_id_path", "plan_id", text("substr(path, 1, 200)")),
)
Table(
    "operations",
    METADATA,
    _key("operation_id"),
    _plan(),
    *_required(Text, "kind", "status", "target_checkpoint_id", "target_group_id"),
    *_required(Text, "safety_group_id", "note"),
    *_required(_TIME, "created_at"),
    *_optional(_TIME, "finished_at"),
    *_optional(Text, "before_json", "after_json", "takes_back", "apply_json"),
    Index(None, "plan_id", "created_at"),
)
Table(
    "validation_results",
    METADATA,
    _key("validation_id"),
    _plan(),
    *_required(Text, "name", "mode", "status", "output", "changed_json"),
    *_optional(Text, "message", "stderr_json"),
    *_required(_TIME, "started_at", "finished_at"),
    Index(None, "plan_id", "started_at"),
)
Table(
    "locks",
    METADATA,
    _key("resource_type"),
    _key("resource_id"),
    *_required(Text, "owner_id", "host", "process_started", "command"),
    *_required(BigInteger, "fencing", "process_id"),
    *_required(_TIME, "acquired_at", "expires_at"),
    *_required(Boolean, "released"),
)
Table(
    "events",
    METADATA,
    # SQLite numbers the rows of a table by itself only where the type is exactly INTEGER.
    Column("sequence", BigInteger().with_variant(Integer(), "sqlite"), primary_key=True),
    _plan(),
    *_required(Text, "type", "data_json"),
    *_required(_TIME, "created_at"),
    Index(None, "plan_id", "sequence"),
)
