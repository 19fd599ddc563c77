"""Values as JSON and YAML hold them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from enum import Enum
from pathlib import PurePath
from typing import cast


def jsonable(value: object) -> object:
    """Turns records' values into what both formats can hold.

    Raises:
        TypeError: the value has no agreed form; showing its `repr` would be a false contract.
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
    """Returns a time as documents print it: `2026-01-31T09:30:00.000000Z`."""
    return time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
