"""The outcome of a command: data for programs, and sections for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self, TypeAlias

import msgspec

from cleveragents.domain.errors import CleverAgentsError

UNCHANGED = "Dry run: nothing was changed"

Status: TypeAlias = Literal["ok", "warn", "error"]


class Fields(msgspec.Struct, frozen=True):
    """Named values of one thing."""

    title: str
    rows: tuple[tuple[str, str], ...]


def paragraph(name: str, text: str) -> list[tuple[str, str]]:
    """Returns a text of several lines as rows of `Fields`, named once."""
    first, *rest = text.splitlines() or [""]
    return [(name, first), *(("", line) for line in rest)]


class Column(msgspec.Struct, frozen=True):
    """One column of a list, and how it gives way on a narrow screen."""

    heading: str
    values: tuple[str, ...]
    narrow: Column | None = None
    """Takes its place if the list is too wide."""
    cut: Literal["never", "start", "end"] = "never"
    """Which end of a long value is replaced by an ellipsis."""
    optional: bool = False
    """Left out, with a remark, if the cut columns would become too narrow otherwise."""


class Table(msgspec.Struct, frozen=True):
    """Several things of one kind, one row each."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    empty: str = "Nothing to show."
    """Shown instead of the table if there are no rows; `plain` prints nothing."""
    lines: tuple[Column, ...] = ()
    """What people see instead of the rows: a list with one line for each."""
    limited: bool = False
    """Whether people see only the first rows, unless they ask for all of them."""


class Commands(msgspec.Struct, frozen=True):
    """What the user can do next: each row ends with a reason and the command."""

    title: str
    rows: tuple[tuple[str, ...], ...]
    empty: str = "Nothing needs to be done."


class Text(msgspec.Struct, frozen=True):
    """Preformatted text, such as a diff."""

    title: str
    body: str


Section: TypeAlias = Fields | Table | Commands | Text


class Report(msgspec.Struct, frozen=True):
    """The outcome of one command."""

    data: Mapping[str, object]
    """The `data` of the JSON and YAML document: a stable contract."""
    sections: tuple[Section, ...]
    """The same facts for people, in reading order."""
    messages: tuple[str, ...] = ()
    """Closing sentences, such as "Rollback complete"."""
    did_something: bool = True
    """Whether the first message says what was done; it is marked `OK` then."""
    status: Status = "ok"
    exit_code: int = 0
    warnings: tuple[str, ...] = ()
    """Sentences that the user must not miss; any of them turns `ok` into `warn`."""
    headed: bool = False
    """Whether `plain` has the titles too: the sections make no sense without them."""
    error: CleverAgentsError | None = None
    """What the `error` of a document says if the status is `error`; the sections say it too."""


class Failure(msgspec.Struct, frozen=True):
    """What went wrong, for people and programs."""

    code: str
    message: str
    exit_code: int
    hint: str | None
    details: Mapping[str, object]
    data: object
    """What there is to report despite the failure, such as the plan that failed."""

    @classmethod
    def of(cls, error: CleverAgentsError, data: object = None, **details: object) -> Self:
        """Returns an error as a failure; `details` are added to those of the error."""
        return cls(
            error.code,
            error.message,
            error.exit_code,
            error.hint,
            {**error.details, **details},
            data,
        )

    @property
    def error(self) -> Mapping[str, object]:
        """The `error` of a JSON or YAML document: a stable contract."""
        return {
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "details": self.details,
        }
