"""JSON as it is stored: ASCII text, so that every database returns it exactly."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

from pydantic import JsonValue, ValidationError

from cleveragents.domain.checkpoints.checkpoint import CheckpointMetadata
from cleveragents.domain.record import Record

UNREADABLE = "unreadable"
"""Replaces a text of a checkpoint's metadata that cannot be read."""

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


def dump(value: object) -> str:
    """Returns the stored form of a JSON value, which may hold records and times."""
    return json.dumps(value, ensure_ascii=True, default=_plain)


def _plain(value: object) -> object:
    if isinstance(value, Record):
        # Not `model_dump(mode="json")`: it replaces lone surrogates in keys.
        return value.model_dump(by_alias=True)
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} cannot be stored as JSON")


def load_metadata(text: str) -> CheckpointMetadata:
    """Returns a checkpoint's metadata, whatever is stored; never raises.

    Only this and `load_object` accept malformed data: a checkpoint whose
    metadata is damaged still has its snapshot. Known fields that can be read
    are kept and unknown ones dropped. The others become `unreadable`, or -1 for
    a step; `not_captured` then has one entry that says so.
    """
    stored = load_object(text)
    known = {name: stored[name] for name in CheckpointMetadata.model_fields if name in stored}
    if isinstance(listed := known.get("not_captured"), list):
        known["not_captured"] = [_known_of_uncaptured(entry) for entry in listed]
    try:
        return CheckpointMetadata.model_validate({**_PLACEHOLDERS, **known})
    except ValidationError as error:
        wrong = {problem["loc"][0] for problem in error.errors(include_input=False)}
        readable = {name: value for name, value in known.items() if name not in wrong}
        return CheckpointMetadata.model_validate({**_PLACEHOLDERS, **readable})


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
