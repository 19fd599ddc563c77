"""How each record becomes a row, and a row a record.

A `Model` reads the fields of a record class and stores each under a column of
the same name, or under the one that `columns` names. The field's type decides
how: enums by value, times as times, records and collections as JSON. A `Codec`
replaces this for a field that is stored in another way. Nothing here depends on
SQLAlchemy; `tables.py` describes the same columns for the migrations.

JSON is stored as ASCII text, so that every database returns it exactly.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from enum import StrEnum
from functools import cached_property, lru_cache
from types import NoneType, UnionType
from typing import Any, Generic, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from cleveragents.domain.checkpoints.checkpoint import (
    Checkpoint,
    CheckpointGroup,
    CheckpointMetadata,
)
from cleveragents.domain.checkpoints.operation import Operation
from cleveragents.domain.decisions.correction import CorrectionAttempt
from cleveragents.domain.decisions.decision import Decision
from cleveragents.domain.errors import DatabaseError
from cleveragents.domain.plans.events import StoredEvent
from cleveragents.domain.plans.lease import Holder, Lease
from cleveragents.domain.plans.plan import Plan, PlanSummary
from cleveragents.domain.plans.plan_file import PlanDefinition
from cleveragents.domain.plans.validation import ValidationResult
from cleveragents.domain.record import JsonValue, Record
from cleveragents.domain.sandboxes.change import AuthoredChange, PathChange
from cleveragents.domain.sandboxes.sandbox import Resource, SandboxRef
from cleveragents.domain.tools.tool import ToolCall

Row: TypeAlias = tuple[Any, ...]
"""The values of a row, in the order of the columns that the statement names."""

RecordT = TypeVar("RecordT", bound=msgspec.Struct)

UNREADABLE = "unreadable"
"""Replaces a text of a checkpoint's metadata that cannot be read."""

_UNREADABLE_ROW = (ValueError, TypeError, LookupError, RecursionError, msgspec.ValidationError)
_LONGEST_PROBLEM = 200
"""Some errors quote the whole value, which may be a file."""

_PLACEHOLDERS: Mapping[str, JsonValue] = {
    "label": UNREADABLE,
    "step_index": -1,
    "last_completed_step": -1,
    "state_hash": UNREADABLE,
    "phase": "execute",
    "trigger": UNREADABLE,
    "source_tool": None,
    "reason": UNREADABLE,
    "resource": UNREADABLE,
    "not_captured": [{"path": UNREADABLE, "reason": "the stored list cannot be read"}],
}
"""Replaces each field that cannot be read and has no default."""
_POSITION = frozenset({"last_completed_step", "effective_calls", "tool_calls"})
"""The fields that say where the plan was."""


class Codec(msgspec.Struct, frozen=True):
    """How one field is stored. Without a function, the value is stored as it is."""

    encode: Callable[[Any], Any] | None = None
    decode: Callable[[Any], Any] | None = None
    """Never gets NULL."""
    null: Any = None
    """What NULL means."""


class Influence(msgspec.Struct, frozen=True):
    """A decision and one of those that it depends on besides its parent."""

    decision_id: str
    influenced_by_id: str


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
        key: str = "",
    ) -> None:
        """Reads the fields of the class.

        Args:
            record: The class.
            table: Where its records are stored.
            noun: Names a record in messages.
            columns: The columns that are not named like their field.
            codecs: How fields are stored whose type does not say so.
            without: The fields that are not stored.
            key: The column that identifies a record, if it is not that of the field `id`.
        """
        self.table = table
        self.noun = noun
        names = {
            name: columns.get(name, name)
            for name in record.__struct_fields__
            if name not in without
        }
        self.key = key or names.get("id", "")
        """The column whose value messages quote, and that `update` finds the row by."""
        qualified = [name if "." in name else f"{table}.{name}" for name in names.values()]
        self.columns = ", ".join(qualified)
        """The columns in the order that `read` expects."""
        self.width = len(qualified)
        self.select = f"SELECT {self.columns} FROM {table}"
        """Selects them; a statement starts with it."""
        self._key_position = (
            list(names.values()).index(self.key) if self.key in names.values() else None
        )
        self._record = record
        self._names = names
        self._given_codecs = codecs

    @cached_property
    def _codecs(self) -> Mapping[str, Codec]:
        """How each field is stored. Reading the types takes long, and a command needs few."""
        types = get_type_hints(self._record)
        return {name: self._given_codecs.get(name) or _codec(types[name]) for name in self._names}

    @cached_property
    def _encoders(self) -> list[tuple[str, str, Callable[[Any], Any] | None]]:
        return [(name, self._names[name], codec.encode) for name, codec in self._codecs.items()]

    @cached_property
    def _decoders(self) -> list[tuple[str, Callable[[Any], Any] | None, Any]]:
        return [(name, codec.decode, codec.null) for name, codec in self._codecs.items()]

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
                field: null if value is None else value if decode is None else decode(value)
                for (field, decode, null), value in zip(self._decoders, row, strict=True)
            }
            return msgspec.convert({**values, **given}, self._record)
        except _UNREADABLE_ROW as error:
            raise self._unreadable(row, error) from error

    def _unreadable(self, row: Row, error: Exception) -> DatabaseError:
        """Returns the error for a row that holds no record; it says which row that is."""
        stored = None if self._key_position is None else row[self._key_position]
        record_id = stored if isinstance(stored, str) else None
        named = f"{self.noun} {record_id}" if record_id else self.noun
        return DatabaseError(
            f"The stored {named} cannot be read (table `{self.table}`): {_problem(error)}",
            hint="Was the database changed by hand, or written by a newer program?",
            table=self.table,
            record_id=record_id,
        )


def _codec(kind: Any) -> Codec:
    """Returns how a field of this type is stored."""
    if isinstance(kind, UnionType):
        [kind] = [part for part in get_args(kind) if part is not NoneType]
    if get_origin(kind) in {dict, list, tuple} or issubclass(kind, Record):
        return _JSON
    if issubclass(kind, StrEnum):
        return _ENUM
    if issubclass(kind, bool):
        return _FLAG
    return _TIME if issubclass(kind, datetime) else Codec()


def _problem(error: Exception) -> str:
    if isinstance(error, msgspec.ValidationError):
        what, _, where = str(error).rstrip("`").partition(" - at `$")
        return ": ".join(filter(None, (where.lstrip("."), what)))
    if isinstance(error, LookupError):
        return f"{error} is missing"
    return str(error).splitlines()[0][:_LONGEST_PROBLEM]


def _plain(value: object) -> object:
    if isinstance(value, Record):
        return msgspec.to_builtins(value, builtin_types=(datetime,))
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} cannot be stored as JSON")


dump = json.JSONEncoder(ensure_ascii=True, default=_plain).encode
"""Returns the stored form of a JSON value, which may hold records and times."""


def _dump_metadata(metadata: CheckpointMetadata) -> str:
    """Returns the stored form; `tool_calls` is only there in records of older versions."""
    fields = msgspec.to_builtins(metadata, builtin_types=(datetime,))
    if not metadata.tool_calls:
        del fields["tool_calls"]
    return dump(fields)


def load_metadata(text: str) -> CheckpointMetadata:
    """Returns a checkpoint's metadata, whatever is stored; never raises.

    Only this and `load_object` accept malformed data: a checkpoint whose
    metadata is damaged still has its snapshot. Known fields that can be read
    are kept and unknown ones dropped. The others become `unreadable`, or -1 for
    a step; `not_captured` then has one entry that says so. If the plan's position
    cannot be read, the state hash is `unreadable` too, since a rollback would leave
    the plan at a wrong step; the repository then completes it from the group.
    """
    with suppress(msgspec.DecodeError, *_UNREADABLE_ROW):
        return msgspec.json.decode(text, type=CheckpointMetadata)
    stored = load_object(text)
    known = {name: stored[name] for name in CheckpointMetadata.__struct_fields__ if name in stored}
    if isinstance(listed := known.get("not_captured"), list):
        known["not_captured"] = [_known_of_uncaptured(entry) for entry in listed]
    if "last_completed_step" not in known:
        known.pop("state_hash", None)
    try:
        return msgspec.convert({**_PLACEHOLDERS, **known}, CheckpointMetadata)
    except _UNREADABLE_ROW:
        types = get_type_hints(CheckpointMetadata)
    wrong = {name for name, value in known.items() if not _is_readable(value, types[name])}
    if wrong & _POSITION:
        wrong.add("state_hash")
    readable = {name: value for name, value in known.items() if name not in wrong}
    return msgspec.convert({**_PLACEHOLDERS, **readable}, CheckpointMetadata)


def _is_readable(value: JsonValue, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except _UNREADABLE_ROW:
        return False
    return True


def load_object(text: str) -> dict[str, JsonValue]:
    """Returns a stored JSON object, or an empty one where something else is stored."""
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _known_of_uncaptured(entry: JsonValue) -> JsonValue:
    if not isinstance(entry, dict):
        return entry
    return {name: entry[name] for name in ("path", "reason") if name in entry}


def _flag(stored: object) -> object:
    """Returns a truth value, which SQLite stores as a number."""
    return bool(stored) if stored in (0, 1) else stored


@lru_cache(maxsize=8)
def _definition(text: str) -> PlanDefinition:
    """Parses a definition once: a running plan is read often, and its definition never changes."""
    return msgspec.convert(json.loads(text), PlanDefinition)


_JSON = Codec(lambda value: None if value is None else dump(value), json.loads)
_FLAG = Codec(decode=_flag)
_ENUM = Codec(lambda value: None if value is None else value.value)
# A `DatabaseSession` returns times as text, whatever the database does.
_TIME = Codec(decode=datetime.fromisoformat)
_NULL_IF_EMPTY = Codec(lambda value: dump(value) if value else None, json.loads, null=())
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
        "session": "session_json",
    },
    codecs={"definition": Codec(dump, _definition)},
)
PLAN_SUMMARIES = Model(
    PlanSummary, "plans", "plan", columns={"id": "plan_id", "session": "session_json"}
)
"""The part of a row of `PLANS` that lists show."""
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
        "resource_id": Codec(null=""),
        "metadata": Codec(_dump_metadata, load_metadata),
    },
)
DECISIONS = Model(
    Decision,
    "decisions",
    "decision",
    columns={"id": "decision_id", "parent_id": "parent_decision_id"},
)
INFLUENCES = Model(Influence, "decision_dependencies", "influence on decision", key="decision_id")
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
            lambda subtree: dump({"decisions": subtree}),
            lambda text: json.loads(text)["decisions"],
        )
    },
)
TOOL_CALLS = Model(
    ToolCall,
    "tool_calls",
    "tool call",
    columns={
        "id": "tool_call_id",
        "input": "input_json",
        "side_effects": "side_effects_json",
        "stderr": "stderr_json",
    },
    codecs={"side_effects": _NULL_IF_EMPTY, "stderr": _NULL_IF_EMPTY},
)
CHANGES = Model(PathChange, "changes", "change of the tool call", key="tool_call_id")
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
    columns={"id": "validation_id", "changed": "changed_json", "stderr": "stderr_json"},
    codecs={"stderr": _NULL_IF_EMPTY},
)
LEASES = Model(
    Lease,
    "locks",
    "lease",
    columns={"plan_id": "resource_id"},
    without=("holder",),
    key="resource_id",
)
LEASE_HOLDERS = Model(Holder, "locks", "lease")
"""The holder of a lease, which is stored in the same row."""
EVENTS = Model(
    StoredEvent,
    "events",
    "event",
    columns={"data": "data_json"},
    codecs={"data": Codec(dump, load_object)},
)
