"""How each record becomes a row, and a row a record.

A `Model` reads the fields of a record class and stores each under a column of
the same name, or under the one that `columns` names. The field's type decides
how: enums by value, times as times, records and collections as JSON. A `Codec`
replaces this for a field that is stored in another way. Nothing here depends on
SQLAlchemy; `tables.py` describes the same columns for the migrations.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Generic, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from pydantic import ValidationError

from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointGroup
from cleveragents.domain.checkpoints.operation import Operation
from cleveragents.domain.decisions.correction import CorrectionAttempt
from cleveragents.domain.decisions.decision import Decision
from cleveragents.domain.errors import DatabaseError
from cleveragents.domain.plans.events import StoredEvent
from cleveragents.domain.plans.lease import Holder, Lease
from cleveragents.domain.plans.plan import Plan
from cleveragents.domain.plans.plan_file import PlanDefinition
from cleveragents.domain.plans.validation import ValidationResult
from cleveragents.domain.record import Record
from cleveragents.domain.sandboxes.change import AuthoredChange, PathChange
from cleveragents.domain.sandboxes.sandbox import Resource, SandboxRef
from cleveragents.domain.tools.tool import ToolCall
from cleveragents.infrastructure.database import stored_json

Row: TypeAlias = tuple[Any, ...]
"""The values of a row, in the order of the columns that the statement names."""

RecordT = TypeVar("RecordT")


@dataclass(frozen=True)
class Codec:
    """How one field is stored. None means that the value is stored as it is."""

    encode: Callable[[Any], Any] | None = None
    decode: Callable[[Any], Any] | None = None


class Model(Generic[RecordT]):
    """Maps one record class to the columns of one table."""

    def __init__(
        self,
        record: type[RecordT],
        table: str,
        noun: str,
        *,
        columns: Mapping[str, str] = {},
        codecs: Mapping[str, Codec] = {},
        without: tuple[str, ...] = (),
    ) -> None:
        """Args: `noun` names the record in messages; `without` lists fields that are not stored."""
        self.table = table
        self.noun = noun
        types = {name: kind for name, kind in _field_types(record).items() if name not in without}
        chosen = {name: codecs.get(name) or _codec(kind) for name, kind in types.items()}
        names = {name: columns.get(name, name) for name in types}
        self.key = names.get("id", "")
        """The column that holds the record's id."""
        qualified = [name if "." in name else f"{table}.{name}" for name in names.values()]
        self.select = f"SELECT {', '.join(qualified)} FROM {table}"
        """Selects the columns in the order that `read` expects; a statement starts with it."""
        self._record = record
        self._encoders = [(field, names[field], chosen[field].encode) for field in names]
        self._decoders = [(field, chosen[field].decode) for field in names]

    def row(self, record: RecordT) -> dict[str, Any]:
        """Returns the values to store, by column."""
        return {
            column: getattr(record, field) if encode is None else encode(getattr(record, field))
            for field, column, encode in self._encoders
        }

    def changes(self, before: RecordT, after: RecordT) -> dict[str, Any]:
        """Returns the values to store, by column, in which a record differs from another."""
        changed: dict[str, Any] = {}
        for field, column, encode in self._encoders:
            value, old = getattr(after, field), getattr(before, field)
            if value is not old and value != old:
                changed[column] = value if encode is None else encode(value)
        return changed

    def read(self, row: Row, **given: object) -> RecordT:
        """Returns the record that a row holds; `given` are the fields that are not stored in it.

        Raises:
            DatabaseError: The stored values do not make a record.
        """
        try:
            values = {
                field: value if decode is None else decode(value)
                for (field, decode), value in zip(self._decoders, row, strict=True)
            }
            return self._record(**values, **given)
        except (ValueError, RecursionError) as error:
            raise DatabaseError(
                f"A stored {self.noun} cannot be read: {_problem(error)}",
                hint="Was the database changed by hand, or written by a newer program?",
            ) from error


def _field_types(record: type[Any]) -> dict[str, Any]:
    if issubclass(record, Record):
        return {name: field.annotation for name, field in record.model_fields.items()}
    return get_type_hints(record)


def _codec(kind: Any) -> Codec:
    """Returns how a field of this type is stored."""
    if isinstance(kind, UnionType):
        [kind] = [part for part in get_args(kind) if part is not NoneType]
    if get_origin(kind) in {dict, list, tuple} or issubclass(kind, Record):
        return _JSON
    if issubclass(kind, StrEnum):
        return _ENUM
    return _TIME if issubclass(kind, datetime) else Codec()


def _time(stored: str | datetime | None) -> datetime | None:
    if stored is None:
        return None
    moment = datetime.fromisoformat(stored) if isinstance(stored, str) else stored
    return moment.astimezone(UTC)


def _problem(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_input=False)[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    return str(error).splitlines()[0]


def _load(text: str | None) -> Any:
    return None if text is None else json.loads(text)


@lru_cache(maxsize=8)
def _definition(text: str) -> PlanDefinition:
    """Parses a definition once: a running plan is read often, and its definition never changes."""
    return PlanDefinition.model_validate(json.loads(text))


_JSON = Codec(lambda value: None if value is None else stored_json.dump(value), _load)
_ENUM = Codec(lambda value: None if value is None else value.value)
_TIME = Codec(decode=_time)
_NULL_IF_EMPTY = Codec(
    lambda value: stored_json.dump(value) if value else None,
    lambda text: json.loads(text or "[]"),
)
_EMPTY_IF_NONE = Codec(lambda value: value or "", lambda text: text or None)

PLANS = Model(
    Plan,
    "plans",
    "plan",
    columns={
        "id": "plan_id",
        "definition": "definition_json",
        "arguments": "arguments_json",
        "error": "error_json",
        "choices": "choices_json",
    },
    codecs={"definition": Codec(stored_json.dump, _definition)},
)
RESOURCES = Model(Resource, "resources", "resource", columns={"id": "resource_id"})
SANDBOXES = Model(
    SandboxRef,
    "sandboxes",
    "sandbox",
    columns={"id": "sandbox_id", "skipped": "skipped_json"},
    # The column `branch` was created NOT NULL, before there were sandboxes without git.
    codecs={"branch": _EMPTY_IF_NONE, "skipped": _NULL_IF_EMPTY},
)
GROUPS = Model(
    CheckpointGroup,
    "checkpoint_groups",
    "checkpoint group",
    columns={
        "id": "group_id",
        "snapshots": "snapshots_json",
        "state_hashes": "state_hashes_json",
        "way": "way_json",
    },
)
CHECKPOINTS = Model(
    Checkpoint,
    "checkpoint_metadata",
    "checkpoint",
    columns={"id": "checkpoint_id", "metadata": "metadata_json"},
    codecs={
        # NULL once the resource is deleted.
        "resource_id": Codec(decode=lambda stored: stored or ""),
        "metadata": Codec(stored_json.dump, stored_json.load_metadata),
    },
)
DECISIONS = Model(
    Decision,
    "decisions",
    "decision",
    columns={"id": "decision_id", "parent_id": "parent_decision_id"},
)
CORRECTIONS = Model(
    CorrectionAttempt,
    "correction_attempts",
    "correction",
    columns={
        "id": "correction_attempt_id",
        "original_subtree": "original_subtree_snapshot",
    },
    codecs={
        "original_subtree": Codec(
            lambda subtree: stored_json.dump({"decisions": subtree}),
            lambda text: json.loads(text)["decisions"],
        )
    },
)
TOOL_CALLS = Model(
    ToolCall,
    "tool_calls",
    "tool call",
    columns={"id": "tool_call_id", "input": "input_json", "side_effects": "side_effects_json"},
    codecs={"side_effects": _NULL_IF_EMPTY},
)
CHANGES = Model(PathChange, "changes", "change of the tool call")
"""Only the part of a row that describes the change; `AUTHORED_CHANGES` reads the whole row."""
AUTHORED_CHANGES = Model(
    AuthoredChange,
    "changes",
    "change",
    columns={
        "call_id": "tool_call_id",
        "call_sequence": "tool_calls.sequence",
        "step_index": "tool_calls.step_index",
        "tool": "tool_calls.tool",
        "undone_by": "tool_calls.undone_by",
    },
)
OPERATIONS = Model(
    Operation,
    "operations",
    "operation",
    columns={
        "id": "operation_id",
        "before": "before_json",
        "after": "after_json",
        "apply": "apply_json",
    },
)
VALIDATIONS = Model(
    ValidationResult,
    "validation_results",
    "validation",
    columns={"id": "validation_id", "changed": "changed_json"},
)
LEASES = Model(Lease, "locks", "lease", columns={"plan_id": "resource_id"}, without=("holder",))
LEASE_HOLDERS = Model(Holder, "locks", "lease")
"""The holder of a lease, which is stored in the same row."""
EVENTS = Model(
    StoredEvent,
    "events",
    "event",
    columns={"data": "data_json"},
    codecs={"data": Codec(stored_json.dump, stored_json.load_object)},
)
