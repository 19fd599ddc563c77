"""Describes a kind of record once, for documents and for tables.

A `Field` has a name for documents, a heading for people, or both. Tables and panels pick
fields by their headings, so they cannot show anything that the description does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from enum import Enum
from typing import Generic, Literal, TypeVar, cast

import msgspec

from cleveragents.reports.report import Column, Fields, Table

RecordT = TypeVar("RecordT")


def shown(value: object) -> str:
    """Returns a value as people read it; None is empty."""
    if type(value) is str:  # Nearly all are; the enums of texts are not.
        return value
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case Enum():
            return str(value.value)
        case datetime():
            return value.isoformat(" ", "seconds")[:19]
        case list() | tuple():
            return ", ".join(map(shown, cast("Iterable[object]", value)))
        case _:
            return str(value)


def times(heading: str, values: Sequence[datetime], *, seconds: bool = True) -> Column:
    """Returns a column of times; on a narrow screen without what all of them share."""
    same_day = len({value.date() for value in values}) == 1
    form = "%H:%M:%S" if seconds or same_day else "%H:%M"
    if not same_day:
        form = f"%m-%d {form}"
    narrow = Column(
        f"{values[0]:%m-%d} UTC" if same_day else "UTC",
        tuple(value.strftime(form) for value in values),
    )
    return Column(f"{heading} (UTC)", tuple(map(shown, values)), narrow)


class Field(msgspec.Struct, Generic[RecordT], frozen=True):
    """One value of a record."""

    name: str | None
    """In documents, where it is a stable contract. None if only people see it."""
    heading: str | None
    """In tables and panels. None if only documents have it."""
    value: Callable[[RecordT], object]
    text: Callable[[RecordT], str] | None = None
    """What people see, if `shown(value)` is not what they need."""

    def shown(self, record: RecordT) -> str:
        return shown(self.value(record)) if self.text is None else self.text(record)


class Description(Generic[RecordT]):
    """The fields of one kind of record, in the order of documents."""

    def __init__(self, *fields: Field[RecordT]) -> None:
        self._fields = fields
        self._by_heading = {field.heading: field for field in fields if field.heading}

    def with_fields(self, *fields: Field[RecordT]) -> Description[RecordT]:
        """Returns a description with more fields at the end."""
        return Description(*self._fields, *fields)

    def data(self, record: RecordT) -> dict[str, object]:
        return {field.name: field.value(record) for field in self._fields if field.name}

    def list(self, records: Iterable[RecordT]) -> list[dict[str, object]]:
        return [self.data(record) for record in records]

    def table(
        self,
        title: str,
        records: Iterable[RecordT],
        columns: Iterable[str | Field[RecordT]],
        *,
        empty: str = "Nothing to show.",
        lines: Iterable[Column] = (),
        limited: bool = False,
    ) -> Table:
        """Returns one row per record; a column is a heading, or a field of this table only.

        `lines` is what people see instead, if they are to see one line per record. A `limited`
        table shows them only its first rows, unless they ask for all.
        """
        picked = [self._by_heading[item] if isinstance(item, str) else item for item in columns]
        return Table(
            title,
            tuple(field.heading or "" for field in picked),
            tuple(tuple(field.shown(record) for field in picked) for record in records),
            empty,
            tuple(lines),
            limited,
        )

    def column(
        self,
        heading: str,
        records: Sequence[RecordT],
        *,
        cut: Literal["never", "start", "end"] = "never",
        optional: bool = False,
    ) -> Column:
        """Returns one column of a list for people."""
        field = self._by_heading[heading]
        values = tuple(field.shown(record) for record in records)
        return Column(heading, values, cut=cut, optional=optional)

    def rows(self, record: RecordT, *headings: str) -> list[tuple[str, str]]:
        """Returns the fields of one record as rows of a panel."""
        return [
            (heading[0].lower() + heading[1:], self._by_heading[heading].shown(record))
            for heading in headings
        ]

    def fields(self, title: str, record: RecordT, *headings: str) -> Fields:
        return Fields(title, tuple(self.rows(record, *headings)))
