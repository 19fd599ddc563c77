"""Converts values to what JSON and YAML can represent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from enum import Enum
from pathlib import PurePath
from typing import cast


def jsonable(value: object) -> object:
    """Converts a value to plain JSON types.

    Raises:
        TypeError: the value has no defined form; its `repr` must not become part of a contract.
    """
    match value:
        case Enum():
            return value.value
        case None | str() | int() | float():
            return value
        case datetime():
            return timestamp(value)
        case PurePath():
            return str(value)
        case Mapping():
            pairs = cast("Mapping[object, object]", value).items()
            return {str(jsonable(key)): jsonable(item) for key, item in pairs}
        case list() | tuple():
            return [jsonable(item) for item in cast("Iterable[object]", value)]
        case _:
            raise TypeError(f"{type(value).__name__} cannot be part of a document")


def timestamp(time: datetime) -> str:
    """Returns a time in the form of all documents: `2026-01-31T09:30:00.000000Z`."""
    # Stored times are in UTC already, and a list has thousands of them.
    moment = time if time.tzinfo is UTC else time.astimezone(UTC)
    return f"{moment.isoformat(timespec='microseconds').removesuffix('+00:00')}Z"
