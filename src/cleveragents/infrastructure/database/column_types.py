"""Column types that SQLite and PostgreSQL give back exactly as they were put in."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Protocol

from sqlalchemy import DateTime, Dialect, Text, TypeDecorator
from sqlalchemy.types import TypeEngine

_ESCAPE = "\N{SYMBOL FOR ESCAPE}"
_UNSTORABLE = re.compile(f"[\x00\ud800-\udfff{_ESCAPE}]")
_ESCAPED = re.compile(f"{_ESCAPE}([0-9a-f]{{4}})")


def escape(text: str) -> str:
    """Returns `text` without what a database refuses: NUL and lone surrogates.

    Those come from tool output and from file names that are not UTF-8. Each
    becomes `␛` and four hexadecimal digits, so that `unescape` is exact.
    """
    if text.isascii() and "\x00" not in text:
        return text
    return _UNSTORABLE.sub(lambda found: f"{_ESCAPE}{ord(found[0]):04x}", text)


def unescape(text: str) -> str:
    """Undoes `escape`."""
    if _ESCAPE not in text:
        return text
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


class _Processor(Protocol):
    def __call__(self, value: str | None) -> str | None: ...


def _escape_or_none(value: str | None) -> str | None:
    return None if value is None else escape(value)


def _unescape_or_none(value: str | None) -> str | None:
    return None if value is None else unescape(value)


class ExactText(TypeDecorator[str]):
    """Any Python string, also one that is not valid Unicode."""

    impl = Text
    cache_ok = True

    # Not `process_bind_param` and `process_result_value`: each value would cost two calls more.
    def bind_processor(self, dialect: Dialect) -> _Processor:
        return _escape_or_none

    def result_processor(self, dialect: Dialect, coltype: object) -> _Processor:
        del coltype
        return _unescape_or_none


class UtcDateTime(TypeDecorator[datetime]):
    """A moment in UTC with microseconds.

    In SQLite it is ISO text of a fixed width: it sorts, and people can read it.
    """

    impl = DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[datetime] | TypeEngine[str]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(Text())
        return dialect.type_descriptor(DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | str | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a stored time needs a time zone")
        moment = value.astimezone(UTC)
        return moment.isoformat(timespec="microseconds") if dialect.name == "sqlite" else moment

    def process_result_value(
        self, value: datetime | str | None, dialect: Dialect
    ) -> datetime | None:
        if value is None:
            return None
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
        return moment.astimezone(UTC)
