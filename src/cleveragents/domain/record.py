"""The base of every stored or printed record, and the values that JSON can express.

Records are structs of msgspec: defining one takes microseconds, so a command can import all of
them (docs/adr/0022-fast-start.md). A constructor checks no types, since Pyright has checked the
code that calls it; `model_validate` checks all of them, for data that comes from outside.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, TypeVar, dataclass_transform

import msgspec

if TYPE_CHECKING:
    JsonValue: TypeAlias = (
        "dict[str, JsonValue] | list[JsonValue] | str | bool | int | float | None"
    )
else:
    # What a field of this type holds has been read from JSON or YAML, and needs no check.
    JsonValue: TypeAlias = Any


_RecordType = TypeVar("_RecordType", bound="RecordType")


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(msgspec.field,))
class RecordType(msgspec.StructMeta):
    """Makes the constructor of every record take names only; msgspec does not inherit this."""

    def __new__(
        cls: type[_RecordType],
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        **options: Any,
    ) -> _RecordType:
        return super().__new__(cls, name, bases, namespace, kw_only=True, **options)


class Record(msgspec.Struct, metaclass=RecordType, frozen=True, forbid_unknown_fields=True):
    """Immutable, and strict about its fields: a misspelt one is a bug, not data."""

    @classmethod
    def model_validate(cls, data: object) -> Self:
        """Returns the record that plain data describes.

        Raises:
            msgspec.ValidationError: a field is unknown or missing, or a value has another type.
        """
        return msgspec.convert(data, cls)

    def model_dump(self, *, mode: Literal["python", "json"] = "python") -> dict[str, Any]:
        """Returns plain data, with the names that are stored; `json` makes times text as well."""
        return msgspec.to_builtins(self, builtin_types=() if mode == "json" else (datetime,))
